"""Mechanisms of the literature at equal epsilon: the error of single attributes, and a picture.

Each respondent draws one attribute and reports it with all of epsilon, whatever the mechanism: so
all are compared on the same people and the same budget. RS+FD and RS+RFD draw one too, and make the
others up. Shares are the mechanism's own unbiased estimates, made a distribution, and those of
`auto` on castell's choice of channels. The picture is of Adult.

The paper's four data sets (of the census twelve attributes), or `CASTELL_POPULATIONS=fair,births`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import castell
from benchmarks._text import grid
from benchmarks._truths import at_hand, truth_of
from castell import Study
from castell.channels import FakeDataResponse, mechanism
from castell.evaluation.metrics import tvd
from castell.results.canvas import BLUE, INK
from experiments.datasets.population import Population
from experiments.datasets.truth import Rows

EPSILON = (0.5, 1.0, 2.0, 4.0)
NAMES = ("grr", "sue", "oue", "olh", "subset", "hadamard", "thermometer", "square-wave", "best")
# Which attribute was drawn stays hidden: made up evenly, or by the true shares, the best there is.
HIDDEN = {"rs+fd": None, "rs+rfd, true shares": "true"}
AUTO = "auto on best"
DATA = ("adult", "nursery", "german", "census")
# People drawn from a population that is a network.
DRAWN = 10_000
PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "mechanisms-adult.png"


def run(quick: bool) -> dict[str, Any]:
    have, missing = at_hand(quick, DATA)
    return {"data": {name: _board(name, quick) for name in have}, "missing": missing}


def _board(data: str, quick: bool) -> dict[str, Any]:
    truth = truth_of(data)
    whole = truth.people if isinstance(truth, Rows) else None
    people = whole or truth.respondents(DRAWN, np.random.default_rng(0))
    epsilons, repeats = (EPSILON[1:2], 1) if quick else (EPSILON, 5)
    rows = []
    for epsilon in epsilons:
        for name in NAMES[:1] if quick else (*NAMES, *HIDDEN):
            rows += _measured(people, name, epsilon, repeats)
    return {"n": people.n, "attributes": len(people.schema), "repeats": repeats, "rows": rows}


def _measured(people: Population, name: str, epsilon: float, repeats: int) -> list[dict[str, Any]]:
    study = _study(people, name, epsilon)
    answers = people.frame()
    far: dict[str, list[float]] = {}
    for repeat in range(repeats):
        reports = study.randomize(answers, seed=repeat)
        plain = "independent" if name in HIDDEN else "castell"
        for label, method in ((name, plain), *([(AUTO, "auto")] if name == "best" else [])):
            model = castell.fit(reports, method)
            errors = [
                tvd(people.table([a]), model.estimate(a, post="simplex").probabilities)
                for a in people.schema.names
            ]
            far.setdefault(label, []).append(float(np.mean(errors)))
    return [
        {
            "mechanism": label,
            "epsilon": epsilon,
            "error": float(np.mean(found)),
            "spread": float(np.std(found, ddof=1) / math.sqrt(repeats)) if repeats > 1 else None,
        }
        for label, found in far.items()
    ]


def _study(people: Population, name: str, epsilon: float) -> Study:
    schema = people.schema
    if name not in HIDDEN:
        channels = {a.name: mechanism(name, a.size, epsilon) for a in schema}
        return Study(schema, epsilon, "singles", channels=channels)
    fakes = None
    if HIDDEN[name]:
        # A value that nobody has is made up as well, or it would give its one report away.
        fakes = [(people.table([a.name]) + 1.0 / people.n).tolist() for a in schema]
    channel = FakeDataResponse.with_epsilon(schema.sizes, epsilon, fakes=fakes)
    return Study(schema, None, "joint", channels={schema.names: channel})


def show(result: dict[str, Any]) -> str:
    return "\n\n".join(
        [*(_show(name, board) for name, board in result["data"].items()), *result["missing"]]
    )


def _show(data: str, board: dict[str, Any]) -> str:
    epsilons = sorted({row["epsilon"] for row in board["rows"]})
    found = {(row["mechanism"], row["epsilon"]): row for row in board["rows"]}
    names = dict.fromkeys(row["mechanism"] for row in board["rows"])
    rows = [[name, *(_error(found[name, e]) for e in epsilons)] for name in names]
    table = grid(["mechanism", *(f"epsilon {e:g}" for e in epsilons)], rows)
    about = f"n = {board['n']:,}, {board['attributes']} attributes, {board['repeats']} collections"
    return f"{data}, {about}\n{table}"


def _error(row: dict[str, Any]) -> str:
    spread = "" if row["spread"] is None else f" ± {row['spread']:.4f}"
    return f"{row['error']:.4f}{spread}"


def draw(result: dict[str, Any], path: Path = PICTURE) -> None:
    """Error against epsilon on Adult, a line for each mechanism."""
    import altair as alt

    board = result["data"]["adult"]
    names = list(dict.fromkeys(row["mechanism"] for row in board["rows"]))
    own = {AUTO: BLUE, "best": INK}
    others = [
        "#be185d",
        "#0f766e",
        "#b45309",
        "#6d28d9",
        "#4d7c0f",
        "#0369a1",
        "#9aa5b1",
        "#a16207",
        "#dc2626",
        "#7c2d12",
    ]
    rest = iter(others)
    colors = [own.get(name) or next(rest) for name in names]
    ticks = alt.Axis(values=list(EPSILON), grid=False)
    encoded = {
        "x": alt.X("epsilon:Q", title="epsilon, all of it on one attribute", axis=ticks).scale(
            type="log", nice=False, padding=12
        ),
        "y": alt.Y("error:Q", title="mean total variation distance").scale(
            type="log", nice=False, padding=12
        ),
        "color": alt.Color("mechanism:N", sort=names, title=None).scale(domain=names, range=colors),
    }
    rows = alt.Data(values=board["rows"])
    lines = alt.Chart(rows).mark_line(strokeWidth=2).encode(**encoded)
    dots = alt.Chart(rows).mark_point(filled=True, size=45).encode(**encoded)
    title = alt.TitleParams(
        "Error of single attributes against epsilon",
        subtitle=[f"Adult, n = {board['n']:,}, one attribute drawn for each respondent"],
        anchor="start",
    )
    chart = (lines + dots).properties(width=520, height=340, title=title)
    chart.save(str(path), scale_factor=2)
