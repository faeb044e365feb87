"""Figure omega: AVD of castell by the size of the table, with the paper's linear fit.

All attribute sets of two to five attributes of Adult with at most 16,800 cells, the largest table
of the paper's figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from experiments import datasets
from experiments.harness import FLOOR, draw_sets, schemes_named
from experiments.questions import Question, evaluate
from experiments.settings import Settings, describe_people
from experiments.style import finish, log_axis, title
from experiments.text import Result, Table, number

PRINT = {"intercept": 2.944e-3, "slope": 4.953e-6, "largest at AVD .5": 100_365}
LARGEST = 16_800
METHODS = ("castell",)


def run(settings: Settings) -> dict[str, Any]:
    people = datasets.load("adult")
    each = settings.one_each(len(people.schema), 1.0)
    repeats = settings.times(10, 2)
    most = settings.most(None, 12)
    questions = [
        Question(people, each, draw_sets(people, w, most, cells=LARGEST)) for w in (2, 3, 4, 5)
    ]
    points = []
    found = evaluate(questions, settings, repeats, chosen=schemes_named("castell"))
    for question, errors in zip(questions, found, strict=True):
        for k, names in enumerate(question.sets):
            cells = prod(people.schema[name].size for name in names)
            avd = {scheme: float(values[:, k].mean()) for scheme, values in errors.items()}
            points.append({"w": len(names), "cells": cells, "names": " x ".join(names), **avd})
    said = f"{len(points)} attribute sets of up to {LARGEST:,} cells"
    about = describe_people(settings, people, each, repeats, sets=said)
    return {"about": about, "points": points, "fit": fit(points)}


def fit(points: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """A straight line as the paper's, how much it explains, and the power of the domain size."""
    cells = np.array([p["cells"] for p in points], dtype=np.float64)
    avd = np.array([p["castell"] for p in points])
    slope, intercept = np.polyfit(cells, avd, 1)
    left = avd - intercept - slope * cells
    power = np.polyfit(np.log(cells), np.log(np.maximum(avd, 1e-12)), 1)[0]
    return {
        "intercept": float(intercept),
        "slope": float(slope),
        "explained": float(1 - left.var() / avd.var()),
        "power": float(power),
        "largest at AVD .5": float((0.5 - intercept) / slope),
    }


def table(results: Sequence[Result]) -> Table:
    rows = [["print", "2.944e-03", "4.953e-06", "", "", "100,365"]]
    for result in results:
        found = result["fit"]
        rows.append(
            [
                result["about"]["noise"],
                f"{found['intercept']:.3e}",
                f"{found['slope']:.3e}",
                f"{found['explained']:.2f}",
                number(found["power"]),
                f"{found['largest at AVD .5']:,.0f}",
            ]
        )
    titles = ["noise", "intercept", "slope a cell", "R²", "power of the size", "cells at AVD .5"]
    return Table(titles, rows)


def draw(result: Result) -> Any:
    import altair as alt

    points, found = result["points"], result["fit"]
    ends = [min(p["cells"] for p in points), LARGEST]
    grid = np.geomspace(ends[0], ends[1], 60)
    line = [
        {"kind": kind, "cells": x, "avd": a + b * x}
        for kind, a, b in (
            ("linear fit", found["intercept"], found["slope"]),
            ("the paper's fit", PRINT["intercept"], PRINT["slope"]),
        )
        for x in grid
        if a + b * x > 0
    ]
    seen = [p[s] for p in points for s in ("castell", FLOOR)]
    low, high = min(seen) / 1.2, max([*seen, *(p["avd"] for p in line)]) * 1.2
    across = alt.X(
        "cells:Q",
        title="cells of the table",
        scale=alt.Scale(type="log", domain=[ends[0] / 1.1, LARGEST * 1.1], nice=False),
        axis=log_axis(alt, [ends[0], LARGEST], form=",d", grid=False),
    )
    up = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = log_axis(alt, [low, high])
    dots = (
        alt.Chart(alt.Data(values=list(points)))
        .mark_circle(size=42, opacity=0.75)
        .encode(
            x=across,
            y=alt.Y("castell:Q", title="AVD of castell", scale=up, axis=axis),
            color=alt.Color("w:O", scale=alt.Scale(scheme="viridis"), legend=alt.Legend(title="w")),
        )
    )
    floor = (
        alt.Chart(alt.Data(values=list(points)))
        .mark_tick(color="#9aa5b1", thickness=1.5, size=8)
        .encode(x=across, y=alt.Y(f"{FLOOR}:Q", scale=up))
    )
    curves = (
        alt.Chart(alt.Data(values=line))
        .mark_line(color="#22303c", strokeWidth=1.6)
        .encode(
            x=across,
            y=alt.Y("avd:Q", scale=up),
            strokeDash=alt.StrokeDash(
                "kind:N",
                scale=alt.Scale(domain=["linear fit", "the paper's fit"], range=[[1, 0], [4, 4]]),
                legend=alt.Legend(title=None),
            ),
        )
    )
    heading = title(
        alt, result, "Adult: AVD by the size of the table",
        "grey ticks: the sampling floor of the same tables",
    )  # fmt: skip
    chart = (floor + dots + curves).resolve_scale(color="independent")
    return finish(chart.properties(width=460, height=320), heading)


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        found = result["fit"]
        name = "In the rounding model" if noise == "rounding" else "With real noise"
        power = found["power"]
        shape = "about linearly with" if 0.85 < power < 1.15 else f"as the power {power:.2f} of"
        said.append(
            f"{name} the AVD grows {shape} the size of the table (a straight line explains "
            f"{found['explained']:.0%} of it) and reaches .5 at "
            f"{found['largest at AVD .5']:,.0f} cells; the paper says 100,365."
        )
    return said
