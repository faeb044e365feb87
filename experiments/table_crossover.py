"""Table crossover: from which n, epsilon and width on RR-Ind-Joint is better than RR-Independent.

The print's thresholds come from its error bounds (Adult, d = 16). Next to them: the printed
formulas computed, and where the measured errors of two-way tables (for w: of wider ones) cross.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from castell.evaluation.bounds import epsilon_threshold, n_threshold, width_threshold
from castell.results.canvas import BLUE
from experiments import datasets
from experiments.harness import draw_sets, schemes_named
from experiments.questions import Question, evaluate
from experiments.settings import Settings, describe_people
from experiments.style import ORANGE, finish, log_axis, title
from experiments.text import Result, Table

PRINT = {"n*": 121_000.0, "epsilon*": 0.473, "w*": 1.374}
NUMBERS = (300, 1000, 3000, 10_000, 20_000, 32_561)
METHODS = ("castell", "independent")
EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


def run(settings: Settings) -> dict[str, Any]:
    people = datasets.load("adult")
    each = settings.one_each(len(people.schema), 1.0)
    repeats = settings.times(10, 2)
    largest = max(people.schema.sizes)
    order = np.random.default_rng(settings.seed).permutation(people.n)
    pairs = draw_sets(people, 2, settings.most(None, 6))
    points: list[tuple[str, float, Question]] = [
        ("n*", n, Question(people.take(order[:n]), each, pairs)) for n in NUMBERS if n <= people.n
    ]
    points += [("epsilon*", e, Question(people, e, pairs)) for e in EPSILONS]
    for w in range(2, min(6, len(people.schema)) + 1):
        sets = draw_sets(people, w, settings.most(None, 6), cells=1 << 21)
        points.append(("w*", w, Question(people, each, sets)))
    chosen = schemes_named("castell", "independent")
    asked = [question for *_, question in points]
    errors_at = evaluate(asked, settings, repeats, chosen=chosen)
    curves: dict[str, list[dict[str, Any]]] = {"n*": [], "epsilon*": [], "w*": []}
    for (name, x, _), errors in zip(points, errors_at, strict=True):
        curves[name].append({"x": x, **{s: float(v.mean()) for s, v in errors.items()}})
    about = describe_people(settings, people, each, repeats)
    width = width_threshold(largest, people.n)
    formulas = {
        "n*": n_threshold(largest, each, 2),
        "epsilon*": _known(epsilon_threshold(largest, people.n, 2)),
        "w*": width,
    }
    # The print has its own w*, which is no number of attributes, for w; at any epsilon n* is less
    # than at the smallest.
    at_width = {
        "n*": n_threshold(largest, 1e-9, width),
        "epsilon*": _known(epsilon_threshold(largest, people.n, width)),
        "w*": width,
    }
    measured = {name: crossing(points, name == "w*") for name, points in curves.items()}
    found_by = {"formulas": formulas, "at_width": at_width, "measured": measured}
    return {"about": about, "curves": curves, **found_by}


def probe() -> list[float]:
    """The formulas, which are castell's."""
    return [n_threshold(16, 1.0, 2), epsilon_threshold(16, 10**7, 2), width_threshold(16, 32_561)]


def _known(value: float) -> float | None:
    """None where no epsilon is enough."""
    return value if np.isfinite(value) else None


def crossing(points: Sequence[Mapping[str, float]], falling: bool) -> float | None:
    """Where the ratio of the two errors passes one, between the points; None if it does not."""
    ratio = [np.log(p["castell"] / p["independent"]) for p in points]
    for k in range(1, len(points)):
        before, after = (ratio[k - 1], ratio[k]) if falling else (ratio[k], ratio[k - 1])
        if before <= 0 < after:
            share = ratio[k - 1] / (ratio[k - 1] - ratio[k])
            a, b = np.log(points[k - 1]["x"]), np.log(points[k]["x"])
            return float(np.exp(a + share * (b - a)))
    return None


def _format_measured(result: Result, name: str) -> str:
    value = result["measured"][name]
    if value is not None:
        return f"{value:,.0f}" if name == "n*" else f"{value:.2f}"
    points = result["curves"][name]
    always = all(p["castell"] < p["independent"] for p in points)
    ends = f"{points[0]['x']:,g} to {points[-1]['x']:,g}"
    return f"better at all of {ends}" if always else f"worse at all of {ends}"


def table(results: Sequence[Result]) -> Table:
    rows = []
    for name, printed in PRINT.items():
        digits = ",.0f" if name == "n*" else ".3f"
        formula, other = (_format(results[0][by][name], digits) for by in ("formulas", "at_width"))
        if name == "n*":
            other = f"at most {other}"
        measured = [_format_measured(result, name) for result in results]
        rows.append([name, format(printed, digits), formula, other, *measured])
    noises = [f"measured, {result['about']['noise']}" for result in results]
    return Table(["threshold", "print", "formula at w = 2", "formula at w = w*", *noises], rows)


def _format(value: float | None, digits: str) -> str:
    return "none" if value is None else format(value, digits)


def draw(result: Result) -> Any:
    import altair as alt

    titles = {"n*": "respondents n", "epsilon*": "epsilon of one attribute", "w*": "attributes w"}
    charts = []
    ratios = [p["castell"] / p["independent"] for ps in result["curves"].values() for p in ps]
    ends = [min([*ratios, 0.5]) / 1.1, max([*ratios, 2.0]) * 1.1]
    for name, points in result["curves"].items():
        data = [{"x": p["x"], "ratio": p["castell"] / p["independent"]} for p in points]
        scale = alt.Scale(type="log") if name != "w*" else alt.Scale(zero=False, padding=12)
        axis = alt.Axis(grid=False, format="d", tickCount=4)
        if name != "w*":
            axis = log_axis(alt, [p["x"] for p in points], grid=False)
        up = alt.Scale(type="log", domain=ends, nice=False)
        base = alt.Chart(alt.Data(values=data)).encode(
            x=alt.X("x:Q", title=titles[name], scale=scale, axis=axis),
            y=alt.Y(
                "ratio:Q",
                title="AVD of castell / independent" if name == "n*" else None,
                scale=up,
                axis=log_axis(alt, ends),
            ),
        )
        one = alt.Chart(alt.Data(values=[{"one": 1}])).mark_rule(color=ORANGE, strokeDash=[4, 4])
        line = base.mark_line(color=BLUE, point={"color": BLUE, "size": 40})
        turn = alt.Chart(alt.Data(values=[{"x": PRINT[name]}]))
        printed = turn.mark_rule(strokeDash=[2, 4], strokeWidth=1.5, color="#6b7785")
        layers = one.encode(y=alt.Y("one:Q", scale=up)) + printed.encode(x="x:Q") + line
        charts.append(layers.properties(width=190, height=190))
    heading = title(
        alt,
        result,
        "Adult: where castell becomes better than independent (below 1)",
        "dotted: the paper's thresholds",
    )
    return finish(alt.concat(*charts, columns=3), heading)


def findings(results: Mapping[str, Result]) -> list[str]:
    result = next(iter(results.values()))
    said = []
    for name, printed in PRINT.items():
        two, own = (result[by][name] for by in ("formulas", "at_width"))
        near = [
            how
            for how, value in (("w = 2", two), ("w = w*", own))
            if value is not None and abs(value / printed - 1) < 0.01
        ]
        digits = ",.0f" if name == "n*" else ".3f"
        least = "at most " if name == "n*" else ""
        both = f"{_format(two, digits)} at w = 2, {least}{_format(own, digits)} at w = w*"
        follows = f"follows with {' and '.join(near)}" if near else "follows from neither"
        said.append(f"{name} = {printed:,g} {follows} ({both})")
    found = ["From the printed formulas: " + "; ".join(said) + "."]
    for noise, result in results.items():
        how = "In the rounding model" if noise == "rounding" else "With real noise"
        measured = "; ".join(f"{name}: {_format_measured(result, name)}" for name in PRINT)
        found.append(f"{how} the errors themselves cross at {measured}.")
    return found
