"""Lines with error bars, bands, floors and ceilings: error by x, a panel for each data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from castell.results.canvas import INK
from experiments.harness import REFERENCES
from experiments.style import DASH, colours, finish, log_axis, title
from experiments.text import PAPER_NAMES, Result

# Wide enough that no number of a record is ever cut off a picture.
_ROOM = 1.25
# The print of a scheme that has several lines here, readings of it.
ANY_LINE = "print"
# So few values of x are all named on a logarithmic axis.
FEW = 6
# A band that reaches below so much of its line is next to zero.
_NEAR_ZERO = 0.2
# Smaller errors are next to none, and would press the others together.
_LOWEST = 3e-6


def lines(
    result: Result,
    heading: str,
    *,
    x: str,
    y: str = "AVD",
    log_x: bool = False,
    whole: bool = False,
    band: bool = False,
    printed: Mapping[str, Mapping[Any, float]] | None = None,
    printed_of: str = "",
    turns: Mapping[str, tuple[float, str]] | None = None,
) -> Any:
    """Error by x, a line for each scheme, a panel for each data set.

    Bars are standard errors over repeats, bands the spread over attribute sets. `printed` are
    errors of the paper by scheme, or `ANY_LINE` if of none of these, in panels whose names begin
    with `printed_of`; `turns` where it sees one scheme overtake another, by data set and in words.
    """
    import altair as alt

    if "shown" in result:
        heading = f"{heading}: {result['shown']}"

    answered = [r for r in result["records"] if r["mean"] is not None]
    records = [r for r in answered if r["mean"] >= _LOWEST]
    found = list(dict.fromkeys(r["scheme"] for r in records))
    labels = [s for s in found if s not in REFERENCES] + [s for s in REFERENCES if s in found]
    seen = [r["mean"] for r in records]
    # What is printed of a scheme that is not in this picture belongs into another one.
    marked = {s: v for s, v in (printed or {}).items() if s in labels or s == ANY_LINE}
    seen += [v for values in marked.values() for v in values.values()]
    low = max(min(seen) / _ROOM, _LOWEST)
    high = max([*seen, *(r["mean"] + (r["error"] or 0.0) for r in records)]) * _ROOM
    data = [_record(r, low, band) for r in records]
    panels_of = dict.fromkeys(r["data"] for r in records)
    for label, values in marked.items():
        data += [
            {"data": name, "scheme": label, "x": k, "print": max(v, low)}
            for name in panels_of
            if name.startswith(printed_of)
            for k, v in values.items()
        ]
    palette = colours(labels)
    shown = {s: f"{s} ({PAPER_NAMES[s]})" if s in PAPER_NAMES else s for s in labels}
    names = "{" + ", ".join(f"{k!r}: {v!r}" for k, v in shown.items()) + "}[datum.label]"
    color = alt.Color(
        "scheme:N",
        scale=alt.Scale(domain=labels, range=[palette[s] for s in labels]),
        legend=alt.Legend(
            title=None, labelExpr=names, labelLimit=260, symbolStrokeWidth=2, symbolType="stroke"
        ),
    )
    dash = alt.StrokeDash(
        "scheme:N",
        scale=alt.Scale(domain=labels, range=[DASH.get(s, [1, 0]) for s in labels]),
        legend=None,
    )

    def across(name: str, field: str = "x:Q") -> Any:
        xs = sorted({r["x"] for r in records if r["data"] == name})
        scale = alt.Scale(zero=False, nice=False, padding=12)
        axis = alt.Axis(values=xs, format="d", grid=False) if whole else alt.Axis(grid=False)
        if log_x:
            scale = alt.Scale(type="log", domain=[xs[0] / 1.15, xs[-1] * 1.15], nice=False)
            axis = log_axis(alt, xs, grid=False)
            if len(xs) <= FEW:
                axis = alt.Axis(values=xs, format=".2~s" if xs[-1] >= 1000 else "~g", grid=False)
        return alt.X(field, title=x, scale=scale, axis=axis)

    up = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    upward = log_axis(alt, [low, high])

    def panel(name: str, first: bool, size: tuple[int, int]) -> Any:
        base = alt.Chart(alt.Data(values=[r for r in data if r["data"] == name]))
        base = base.encode(x=across(name))
        upright = alt.Y("mean:Q", title=y if first else None, scale=up, axis=upward)
        parts = []
        if band:
            inside = base.transform_filter("isValid(datum.bottom)")
            parts.append(
                inside.mark_area(opacity=0.13, clip=True).encode(
                    y=alt.Y("bottom:Q", scale=up), y2="top:Q", color=color
                )
            )
        drawn = base.transform_filter("isValid(datum.mean)")
        parts.append(drawn.mark_line(strokeWidth=2).encode(y=upright, color=color, strokeDash=dash))
        bars = base.transform_filter("isValid(datum.upper)")
        parts.append(
            bars.mark_rule(strokeWidth=1.5, clip=True).encode(
                y=alt.Y("lower:Q", scale=up), y2="upper:Q", color=color
            )
        )
        # Where there is one x only, a floor or ceiling is a dot too, not a line.
        single = len({r["x"] for r in records if r["data"] == name}) == 1
        points = drawn if single else drawn.transform_filter("!datum.reference")
        dots = points.mark_circle(size=34, opacity=1)
        parts.append(dots.encode(y=upright, color=color))
        if any("print" in r for r in data if r["data"] == name):
            marks = base.transform_filter("isValid(datum.print)").mark_point(
                shape="diamond", size=70, strokeWidth=1.6, fill="white"
            )
            # Print that is no one line's is in ink.
            of_none = alt.condition(f"datum.scheme == '{ANY_LINE}'", alt.value(INK), color)
            parts.append(marks.encode(y=alt.Y("print:Q", scale=up), color=of_none))
        if turns and name in turns:
            where = alt.Chart(alt.Data(values=[{"turn": turns[name][0]}]))
            rule = where.mark_rule(strokeDash=[2, 4], strokeWidth=1.5, color="#6b7785")
            parts.insert(0, rule.encode(x=across(name, "turn:Q")))
        chart = alt.layer(*parts).properties(width=size[0], height=size[1])
        return chart.properties(title=alt.TitleParams(name, fontSize=12)) if many else chart

    sets = list(dict.fromkeys(r["data"] for r in records))
    many = len(sets) > 1
    size = (270, 210) if many else (460, 320)
    panels = [panel(name, k % 2 == 0, size) for k, name in enumerate(sets)]
    chart = alt.concat(*panels, columns=2) if many else panels[0]
    more = (
        ["bands: ± the standard deviation over attribute sets, only + where - comes near zero"]
        if band
        else []
    )
    if len(records) < len(answered):
        more.append(f"errors below {_LOWEST:g} are not drawn")
    if marked:
        more.append("diamonds: the paper's print")
    if turns:
        more.append(f"dotted: {next(iter(turns.values()))[1]}")
    return finish(chart, title(alt, result, heading, "; ".join(more)))


def _record(record: Mapping[str, Any], low: float, band: bool) -> dict[str, Any]:
    drawn = {k: record[k] for k in ("data", "scheme", "x", "mean")}
    drawn["reference"] = record["scheme"] in REFERENCES
    if record["error"] is not None and not drawn["reference"]:
        drawn["lower"] = max(record["mean"] - record["error"], low)
        drawn["upper"] = record["mean"] + record["error"]
    if band and record["sigma"] and record["scheme"] in ("castell", "independent"):
        # As in the paper, what would reach below zero is not shown; nor what nearly does, which on
        # a logarithmic axis would reach as far down.
        below = record["mean"] - record["sigma"]
        shown = below >= _NEAR_ZERO * record["mean"]
        drawn["bottom"] = max(below, low) if shown else record["mean"]
        drawn["top"] = record["mean"] + record["sigma"]
    return drawn
