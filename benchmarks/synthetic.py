"""Synthetic people: how near their tables are, and what a classifier learns from them.

A tree ensemble learns one attribute from the others, once on real people and once on synthetic ones
made of the reports of those same people, and both are tested on other real people, who reported
nothing. Always the commonest answer is the floor. Reports have real noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import castell
from benchmarks._population import Population, load
from benchmarks._text import grid
from castell import Study
from castell.device.encode import encode

# What is learned from all others.
LEARNED = {"adult": "income", "nursery": "class"}
EPSILON = (1.0, 4.0, 8.0)


def run(quick: bool) -> dict[str, Any]:
    rows = []
    for name, epsilons in (("adult", EPSILON), ("nursery", EPSILON)):
        people = load(name)
        chosen, repeats = (epsilons[1:2], 1) if quick else (epsilons, 3)
        rows += [_measured(people, epsilon, repeats) for epsilon in chosen]
    return {"rows": rows}


def _measured(people: Population, epsilon: float, repeats: int) -> dict[str, Any]:
    scores: dict[str, list[float]] = {"real": [], "synthetic": [], "commonest": []}
    near: list[list[float]] = []
    for repeat in range(repeats):
        order = np.random.default_rng(repeat).permutation(people.n)
        tested, known = order[: people.n // 4], order[people.n // 4 :]
        study = Study(people.schema, epsilon, "cover", name=people.name)
        answers = {
            a.name: np.array(a.values, dtype=object)[people.codes[a.name][known]]
            for a in people.schema
        }
        model = castell.fit(study.randomize(answers, seed=repeat))
        made = castell.synthesize(model, len(known), seed=repeat)
        near.append([each.distance for each in made.near])
        synthetic = encode(people.schema, made.files[0])
        learned = LEARNED[people.name]
        test = {name: column[tested] for name, column in people.codes.items()}
        real = {name: column[known] for name, column in people.codes.items()}
        for label, rows in (("real", real), ("synthetic", synthetic)):
            scores[label].append(_score(rows, test, learned))
        commonest = np.bincount(real[learned]).argmax()
        scores["commonest"].append(float((test[learned] == commonest).mean()))
    return {
        "data": people.name,
        "learned": LEARNED[people.name],
        "epsilon": epsilon,
        "n": int(people.n - people.n // 4),
        "repeats": repeats,
        **{label: [float(np.mean(s)), float(np.std(s))] for label, s in scores.items()},
        "near": np.mean(near, axis=0).tolist(),
    }


def _score(
    rows: dict[str, NDArray[np.intp]], test: dict[str, NDArray[np.intp]], learned: str
) -> float:
    """The share of the tested people whose answer is predicted."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.preprocessing import OneHotEncoder

    names = [name for name in rows if name != learned]
    # One column for each value: codes are names, not sizes.
    values = OneHotEncoder(handle_unknown="ignore")
    forest = RandomForestClassifier(n_estimators=60, min_samples_leaf=5, random_state=0)
    forest.fit(values.fit_transform(_columns(rows, names)), rows[learned])
    predicted = forest.predict(values.transform(_columns(test, names)))
    return float((predicted == test[learned]).mean())


def _columns(rows: dict[str, NDArray[np.intp]], names: Sequence[str]) -> NDArray[np.intp]:
    return np.stack([rows[name] for name in names], axis=1)


def show(result: dict[str, Any]) -> str:
    rows = []
    for row in result["rows"]:
        scores = [f"{row[k][0]:.3f} ({row[k][1]:.3f})" for k in ("commonest", "synthetic", "real")]
        near = [f"{each:.4f}" for each in row["near"]]
        rows.append([row["data"], row["learned"], f"{row['epsilon']:g}", *scores, *near])
    head = ["data", "learned", "epsilon", "commonest", "synthetic", "real"]
    return grid([*head, "1 wide", "2 wide", "3 wide"], rows)
