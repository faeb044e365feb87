"""The picture of a plan: how long intervals are, by the number of people and by epsilon."""

from __future__ import annotations

from math import exp, log
from typing import Any

from castell.planning.plan_facts import PlanFacts
from castell.planning.plan_text import points, usual_question
from castell.results.canvas import BLUE, GRID, INK, MUTED, TRUTH, load_altair

WIDTH, HEIGHT = 520, 320
# Pixels that a label at the end of a line takes.
LABEL = 13
# What the axis and the labels take beside the picture, which its title may stand above.
BESIDE = 110
# What a phone has room for beside the axis and the labels.
NARROW = 190

# What is known for certain is drawn as this: logarithms know no 0.
LEAST = 1e-6

Row = dict[str, Any]


def picture(
    plan: PlanFacts, title: str | None = None, *, width: int = WIDTH, height: int = HEIGHT
) -> Any:
    """A line for each epsilon, labelled at its end; the plan's own in blue, its point marked."""
    alt = load_altair()
    rows = [{**row, "own": row["epsilon"] == plan.epsilon} for row in plan.points]
    for row in rows:
        row["points"] = 100 * max(row["half_width"], LEAST)
    last = max(row["n"] for row in rows)
    ends = _labels([row for row in rows if row["n"] == last], rows, height)
    own = 100 * max(plan.error, LEAST)
    chosen = [{"n": plan.n, "points": own, "label": _label(plan, width)}]
    x = alt.X(
        "n:Q",
        title="people" if plan.response == 1.0 else "people invited",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(format="~s", grid=False, tickCount=max(3, width // 60), labelOverlap=True),
    )
    y = alt.Y(
        "points:Q",
        title="half of a 95 % interval, points",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(gridColor=GRID),
    )
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(interpolate="monotone")
        .encode(
            x=x,
            y=y,
            detail="epsilon:N",
            color=alt.condition("datum.own", alt.value(BLUE), alt.value("#b3bcc5")),
            size=alt.condition("datum.own", alt.value(3), alt.value(1.5)),
        )
    )
    labels = (
        alt.Chart(alt.Data(values=ends))
        .mark_text(align="left", dx=6, color=MUTED, fontSize=11)
        .encode(x="n:Q", y="at:Q", text="label:N")
    )
    dot = (
        alt.Chart(alt.Data(values=chosen))
        .mark_point(filled=True, size=110, color=TRUTH, opacity=1)
        .encode(x="n:Q", y="points:Q")
    )
    told = [
        alt.Chart(alt.Data(values=chosen))
        .mark_text(align="left", dx=9, dy=-9, fontSize=12, fontWeight="bold", **ink)
        .encode(x="n:Q", y="points:Q", text="label:N")
        # White around the words: lines run behind them.
        for ink in ({"stroke": "white", "strokeWidth": 4}, {"color": INK})
    ]
    layers = [lines, labels, dot, *told]
    if plan.wanted is not None:
        line = alt.Data(values=[{"points": 100 * plan.wanted}])
        rule = alt.Chart(line).mark_rule(strokeDash=[4, 4], color=TRUTH).encode(y="points:Q")
        layers.insert(0, rule)
    what = ", ".join(plan.asked) if plan.asked else usual_question(len(plan.study.schema))
    wide = width >= WIDTH
    usual = f"How accurate the design '{plan.design_name}' will be"
    head = alt.TitleParams(
        title or (usual if wide else f"The design '{plan.design_name}'"),
        subtitle=[f"{what}; {plan.likely}"] if wide else [what, plan.likely],
        limit=width + BESIDE,
        anchor="start",
        subtitleColor=MUTED,
    )
    made = alt.layer(*layers).properties(width=width, height=height, title=head)
    return made.configure_view(strokeWidth=0)


def _labels(ends: list[Row], rows: list[Row], height: int) -> list[Row]:
    """What stands at the end of each line, far enough from the one below to be read."""
    lines = sorted(ends, key=lambda row: row["points"])
    scale = log(max(r["points"] for r in rows) / min(r["points"] for r in rows)) or 1.0
    found: list[Row] = []
    for row in lines:
        at = row["points"]
        if found:
            at = max(at, found[-1]["at"] * exp(LABEL * scale / height))
        found.append({**row, "at": at, "label": f"{row['epsilon']:g}"})
    # What the numbers are is said once, at the top.
    found[-1]["label"] = f"epsilon {found[-1]['label']}"
    return found


def _label(plan: PlanFacts, width: int) -> str:
    short = points(plan.error)
    return short if width < WIDTH else f"{plan.n:,} people: {short}"
