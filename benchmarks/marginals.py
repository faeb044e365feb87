"""Ways to release tables of several attributes at equal epsilon: CALM, InpHT, RS+FD, drawn sets.

On the Adult data with its own values, and with each attribute made a yes-or-no question (its
commonest values, up to a half of the people, or not), which InpHT is for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

import castell
from benchmarks._population import Population, load
from benchmarks._text import grid
from castell import Attribute, Schema, Study
from castell.channels import mechanism
from castell.evaluation.metrics import tvd
from castell.planning.calm import calm_study
from castell.results.calm import calm

EPSILON = (1.0, 4.0)
WIDTHS = (2, 3)
SETS = 12

Made = Callable[[Schema, float, int], Study]


def _drawn(design: str, **more: Any) -> Made:
    return lambda schema, epsilon, n: Study(schema, epsilon, design, **more)  # noqa: ARG005


def _rs_fd(schema: Schema, epsilon: float, n: int) -> Study:  # noqa: ARG001
    channel = mechanism("rs+fd", schema.sizes, epsilon)
    return Study(schema, None, "joint", channels={schema.names: channel})


WAYS: dict[str, tuple[Made, Any]] = {
    "cover, auto": (_drawn("cover"), "auto"),
    "cover, castell": (_drawn("cover"), "castell"),
    "pairs, castell": (_drawn("pairs"), "castell"),
    "CALM": (calm_study, calm),
    "CALM's sets, auto": (calm_study, "auto"),
    "RS+FD, independent": (_rs_fd, "independent"),
}
OF_TWO_VALUES: dict[str, tuple[Made, Any]] = {
    **WAYS,
    "InpHT of pairs": (_drawn("inpht", sample=2), "castell"),
    "InpHT of three": (_drawn("inpht", sample=3), "castell"),
}


def run(quick: bool) -> dict[str, Any]:
    people = load("adult")
    epsilons, repeats = (EPSILON[:1], 1) if quick else (EPSILON, 3)
    rows = []
    for data, some, ways in (
        ("adult", people, WAYS),
        ("adult, yes or no", in_two(people), OF_TWO_VALUES),
    ):
        chosen = {"CALM": ways["CALM"]} if quick else ways
        for epsilon in epsilons:
            for name, (made, method) in chosen.items():
                rows += _measured(some, data, name, made, method, epsilon, repeats)
    return {"n": people.n, "repeats": repeats, "rows": rows}


def in_two(people: Population) -> Population:
    """Every attribute as whether its answer is among the commonest, which half of them give."""
    codes, asked = {}, []
    for attribute in people.schema:
        often = np.bincount(people.codes[attribute.name], minlength=attribute.size)
        order = np.argsort(-often, kind="stable")
        many = 1 + int((np.cumsum(often[order]) < people.n / 2).sum())
        common = np.isin(np.arange(attribute.size), order[: min(many, attribute.size - 1)])
        codes[attribute.name] = common[people.codes[attribute.name]].astype(np.intp)
        asked.append(Attribute(attribute.name, ["no", "yes"]))
    return Population(people.name, Schema(asked), codes)


def _measured(
    people: Population,
    data: str,
    name: str,
    made: Made,
    method: Any,
    epsilon: float,
    repeats: int,
) -> list[dict[str, Any]]:
    study = made(people.schema, epsilon, people.n)
    answers = {
        a.name: np.array(a.values, dtype=object)[people.codes[a.name]] for a in people.schema
    }
    rows = []
    off: dict[int, list[float]] = {width: [] for width in WIDTHS}
    for seed in range(repeats):
        model = castell.fit(study.randomize(answers, seed=seed), method)
        for width in WIDTHS:
            found = [_error(people, model, names) for names in _sets(people.schema, width)]
            off[width].append(float(np.mean(found)))
    for width, errors in off.items():
        if all(map(math.isfinite, errors)):
            spread = float(np.std(errors, ddof=1) / math.sqrt(repeats)) if repeats > 1 else None
            rows.append(
                {
                    "data": data,
                    "way": name,
                    "epsilon": epsilon,
                    "width": width,
                    "error": float(np.mean(errors)),
                    "spread": spread,
                }
            )
    return rows


def _sets(schema: Schema, width: int) -> list[tuple[str, ...]]:
    every = list(combinations(schema.names, width))
    chosen = np.random.default_rng(0).choice(len(every), min(SETS, len(every)), replace=False)
    return [every[i] for i in sorted(chosen)]


def _error(people: Population, model: castell.Model, names: tuple[str, ...]) -> float:
    try:
        found = model.estimate(names, post="simplex").probabilities
    except castell.errors.QueryError:
        return math.nan  # no block holds them, or no coefficient
    return tvd(people.table(list(names)), found)


def show(result: dict[str, Any]) -> str:
    columns = sorted({(row["epsilon"], row["width"]) for row in result["rows"]})
    found = {
        (r["data"], r["way"], r["epsilon"], r["width"]): (r["error"], r["spread"])
        for r in result["rows"]
    }
    ways = dict.fromkeys((row["data"], row["way"]) for row in result["rows"])
    rows = []
    for data, way in ways:
        cells = []
        for column in columns:
            error, spread = found.get((data, way, *column), (None, None))
            more = "" if not spread else f" ± {spread:.4f}"
            cells.append("none" if error is None else f"{error:.4f}{more}")
        rows.append([data, way, *cells])
    head = ["data", "way", *(f"epsilon {e:g}, {w} attributes" for e, w in columns)]
    return f"{grid(head, rows)}\n\nn = {result['n']:,}, {result['repeats']} collections"
