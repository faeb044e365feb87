"""Figure omega: AVD of castell by the size of the table, with the paper's linear fit.

All attribute sets of two to five attributes of Adult with at most 16,800 cells, the largest table
of the paper's figure; beside them sets of the census, of its first rows and at full size, where a
made-up stand-in has the whole file's number of people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from experiments.datasets.population import Population
from experiments.harness import FLOOR, draw_sets, schemes_named
from experiments.questions import Question, evaluate
from experiments.settings import Settings, budgets
from experiments.style import finish, log_axis, title
from experiments.sweep import FULL_CENSUS, FULL_SETS, about, populations
from experiments.text import Result, Table, number

PRINT = {"intercept": 2.944e-3, "slope": 4.953e-6, "largest at AVD .5": 100_365}
LARGEST = 16_800
WIDTHS = (2, 3, 4, 5)
CENSUS_SETS = 12  # a width
WHOLE_CENSUS = 2_000_000
METHODS = ("castell",)


def run(settings: Settings) -> dict[str, Any]:
    found, missing = populations(("adult", "census1990"))
    repeats = settings.times(10, 2)
    points = _points(settings, [q for p in found for q in _questions(settings, p)], repeats)
    said = f"{len(points)} attribute sets of up to {LARGEST:,} cells"
    if not settings.quick and all(p.n < WHOLE_CENSUS for p in found):
        full, none = populations([FULL_CENSUS])
        asked = [q for p in full for q in _questions(settings, p)]
        few = [replace(q, sets=q.sets[:: -(-len(q.sets) // FULL_SETS)]) for q in asked]
        points += _points(settings, few, 1)
        said += f", of the stand-in {FULL_SETS} a width, once"
        found, missing = [*found, *full], [*missing, *none]
    each = budgets(settings, [len(p.schema) for p in found], 1.0)
    fits = {p.name: fit([x for x in points if x["data"] == p.name]) for p in found}
    told = about(settings, found, sets=said, repeats=repeats, **each)
    return {"about": told, "points": points, "fits": fits, "missing": missing}


def _questions(settings: Settings, people: Population) -> list[Question]:
    each = settings.one_each(len(people.schema), 1.0)
    most = settings.most(None if people.name == "adult" else CENSUS_SETS, 12)
    sets = (draw_sets(people, w, most, cells=LARGEST) for w in WIDTHS)
    return [Question(people, each, some) for some in sets if some]


def _points(
    settings: Settings, questions: Sequence[Question], repeats: int
) -> list[dict[str, Any]]:
    """Size and mean error of every table asked for."""
    found = evaluate(questions, settings, repeats, chosen=schemes_named("castell"))
    points = []
    for question, errors in zip(questions, found, strict=True):
        people = question.people
        for k, names in enumerate(question.sets):
            cells = prod(people.schema[name].size for name in names)
            avd = {scheme: float(values[:, k].mean()) for scheme, values in errors.items()}
            what = {"data": people.name, "w": len(names), "cells": cells}
            points.append({**what, "names": " x ".join(names), **avd})
    return points


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
    rows = [["print", "adult", "2.944e-03", "4.953e-06", "", "", "100,365"]]
    for result in results:
        for data, found in result["fits"].items():
            rows.append(
                [
                    result["about"]["noise"],
                    data,
                    f"{found['intercept']:.3e}",
                    f"{found['slope']:.3e}",
                    f"{found['explained']:.2f}",
                    number(found["power"]),
                    f"{found['largest at AVD .5']:,.0f}",
                ]
            )
    titles = [
        "noise", "data", "intercept", "slope a cell", "R²", "power of the size", "cells at AVD .5",
    ]  # fmt: skip
    return Table(titles, rows, words=2)


def draw(result: Result) -> Any:
    import altair as alt

    points, fits = result["points"], result["fits"]
    ends = (min(p["cells"] for p in points), LARGEST)
    lines = {data: _lines(ends, found) for data, found in fits.items()}
    seen = [p[s] for p in points for s in ("castell", FLOOR)]
    seen += [p["avd"] for line in lines.values() for p in line]
    high = max(seen) * 1.2
    low = max(min(seen) / 1.2, high * 1e-6)
    up = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    across = alt.X(
        "cells:Q",
        title="cells of the table",
        scale=alt.Scale(type="log", domain=[ends[0] / 1.1, LARGEST * 1.1], nice=False),
        axis=log_axis(alt, ends, form=",d", grid=False),
    )

    def panel(data: str, place: int) -> Any:
        own = alt.Chart(alt.Data(values=[p for p in points if p["data"] == data]))
        name = "AVD of castell" if place % 2 == 0 else None
        height = alt.Y("castell:Q", title=name, scale=up, axis=log_axis(alt, [low, high]))
        legend = None if place else alt.Legend(title="w")
        color = alt.Color("w:O", scale=alt.Scale(scheme="viridis"), legend=legend)
        dots = own.mark_circle(size=42, opacity=0.75).encode(x=across, y=height, color=color)
        floor = own.mark_tick(color="#9aa5b1", thickness=1.5, size=8, clip=True).encode(
            x=across, y=alt.Y(f"{FLOOR}:Q", scale=up)
        )
        dash = alt.StrokeDash(
            "kind:N",
            scale=alt.Scale(domain=["linear fit", "the paper's fit"], range=[[1, 0], [4, 4]]),
            legend=alt.Legend(title=None),
        )
        curves = alt.Chart(alt.Data(values=lines[data])).mark_line(color="#22303c", clip=True)
        curves = curves.encode(x=across, y=alt.Y("avd:Q", scale=up), strokeDash=dash)
        chart = (floor + dots + curves).resolve_scale(color="independent")
        size = {"width": 300, "height": 260}
        return chart.properties(title=alt.TitleParams(data, fontSize=12), **size)

    heading = title(
        alt, result, "AVD by the size of the table",
        "grey ticks: the sampling floor of the same tables; the paper's fit is of Adult",
    )  # fmt: skip
    panels = [panel(data, place) for place, data in enumerate(fits)]
    return finish(alt.concat(*panels, columns=2), heading)


def _lines(ends: tuple[int, int], found: Mapping[str, float]) -> list[dict[str, Any]]:
    """Two straight lines, which a logarithmic axis bends."""
    kinds = {"linear fit": found, "the paper's fit": PRINT}
    return [
        {"kind": kind, "cells": x, "avd": line["intercept"] + line["slope"] * x}
        for kind, line in kinds.items()
        for x in np.geomspace(*ends, 60).tolist()
        if line["intercept"] + line["slope"] * x > 0
    ]


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        told = []
        for data, found in result["fits"].items():
            power = found["power"]
            shape = "about linearly with" if 0.85 < power < 1.15 else f"as the power {power:.2f} of"
            told.append(
                f"{data} it grows {shape} the size (a straight line explains "
                f"{found['explained']:.0%} of it) and reaches .5 at "
                f"{found['largest at AVD .5']:,.0f} cells"
            )
        name = "In the rounding model" if noise == "rounding" else "With real noise"
        said.append(
            f"{name} the AVD depends on the size of the table so: on {'; on '.join(told)}. The "
            "paper says 100,365 for Adult."
        )
        said += _full_size(name, result)
    return said


def _full_size(name: str, result: Result) -> list[str]:
    """How much less castell errs with the whole census' people than with its first rows'."""
    few, all_of_it = (
        {p["names"]: p["castell"] for p in result["points"] if p["data"] == data}
        for data in ("census1990", "census1990 (stand-in)")
    )
    ratios = [few[names] / all_of_it[names] for names in few if names in all_of_it]
    if not ratios:
        return []
    return [
        f"{name} the same tables of the census err {np.median(ratios):.0f} times less at full size."
    ]
