"""Pictures of estimates, as Vega-Lite: one description for notebooks, files and pages."""

from __future__ import annotations

import textwrap
from math import ceil, sqrt
from typing import Any

import numpy as np

from castell.errors import MissingExtraError, QueryError
from castell.linear.operators import Floats
from castell.results.chart_data import ChartData
from castell.results.joint_protocol import LabelledTable

BLUE, INK, MUTED = "#3b6ea8", "#22303c", "#5d6b78"
# Labels longer than so many pixels end in dots; the whole text is in the tooltip.
LONGEST = 220
# More columns than these are wider than a page.
MOST_ACROSS = 10


def load_altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401  (what writes PNG and SVG)
    except ImportError:
        raise MissingExtraError(
            "pictures need altair and vl-convert", "pip install 'castell[plot]'"
        ) from None
    return altair


def plot(joint: LabelledTable, level: float, title: str | None, truth: Floats | None = None) -> Any:
    """Bars for one attribute, a heat map for two, a heat map for each value of the first of three.

    `truth`, where somebody has it, is marked on bars.
    """
    if len(joint.names) > 3:
        raise QueryError(
            f"a picture of {len(joint.names)} attributes is no longer one",
            "project() the table on three or fewer first",
        )
    heading = title or f"Estimated distribution of {' x '.join(joint.names)}"
    return draw_table(ChartData.of(joint, level), heading, truth)


def draw_table(data: ChartData, title: str, truth: Floats | None = None) -> Any:
    """The same of numbers that need not be a joint table."""
    drawers = {1: _bars, 2: _heat_map, 3: _panels}
    alt = load_altair()
    return style_chart(alt, drawers[len(data.labels)](alt, data, truth), title, data)


def plot_against(joint: LabelledTable, truth: Floats, *, level: float = 0.95, title: str) -> Any:
    """Every cell's estimate and interval next to the true share: how well it went."""
    alt = load_altair()
    data = ChartData.of(joint, level)
    records = _with_truth(data, truth)
    order = [record["cell"] for record in records]
    base = alt.Chart(alt.Data(values=records)).encode(
        y=alt.Y("cell:N", sort=order, title=" / ".join(data.labels))
    )
    colors = alt.Scale(domain=["estimate and interval", "truth"], range=[BLUE, INK])
    legend = alt.Legend(title=None, orient="top", labelLimit=300)
    share = alt.Axis(format="%", tickCount=6)
    interval = base.mark_rule(strokeWidth=3, opacity=0.55).encode(
        x=alt.X("lower:Q", title="share of respondents", axis=share),
        x2="upper:Q",
        color=alt.ColorValue(BLUE),
    )
    points = base.transform_calculate(kind="'estimate and interval'").mark_circle(
        size=70, opacity=1
    )
    dots = points.encode(x="probability:Q", color=alt.Color("kind:N", scale=colors, legend=legend))
    ticks = (
        base.transform_calculate(kind="'truth'")
        .mark_tick(thickness=2.5, size=16)
        .encode(x="truth:Q", color=alt.Color("kind:N", scale=colors, legend=legend))
    )
    chart = (interval + dots + ticks).properties(width=460, height=alt.Step(24))
    return style_chart(alt, chart, title, data)


def _with_truth(data: ChartData, truth: Floats | None) -> list[dict[str, Any]]:
    records = data.records()
    if truth is None:
        return records
    known = np.asarray(truth).ravel().tolist()
    return [record | {"truth": float(t)} for record, t in zip(records, known, strict=True)]


def _bars(alt: Any, data: ChartData, truth: Floats | None) -> Any:
    base = alt.Chart(alt.Data(values=_with_truth(data, truth))).encode(
        y=alt.Y(
            "v0:N",
            sort=list(data.values[0]),
            title=data.labels[0],
            axis=alt.Axis(labelLimit=LONGEST, titleLimit=24 * max(4, len(data.values[0]))),
        )
    )
    bars = base.mark_bar(color=BLUE, opacity=0.75).encode(
        x=alt.X("probability:Q", title="share of respondents", axis=alt.Axis(format="%")),
        tooltip=data.tooltip(alt),
    )
    rules = base.mark_rule(color=INK, strokeWidth=1.5).encode(x="lower:Q", x2="upper:Q")
    ends = [base.mark_tick(color=INK, size=8).encode(x=f"{end}:Q") for end in ("lower", "upper")]
    chart = bars + rules + ends[0] + ends[1]
    if truth is not None:
        chart += base.mark_tick(color="#c2410c", thickness=3, size=18).encode(x="truth:Q")
    return chart.properties(width=440, height=alt.Step(26))


def _heat_map(alt: Any, data: ChartData, truth: Floats | None) -> Any:
    del truth  # a heat map has no place for a second number
    records = alt.Data(values=_cell_records(data))
    return _cells(alt, data, alt.Chart(records), *_down_and_across(data, 0, 1)).properties(
        width=alt.Step(66), height=alt.Step(34)
    )


def _panels(alt: Any, data: ChartData, truth: Floats | None) -> Any:
    del truth
    cells = _cells(alt, data, alt.Chart(), *_down_and_across(data, 1, 2)).properties(
        width=alt.Step(58), height=alt.Step(30)
    )
    panels = data.values[0]
    facet = alt.Facet(
        "v0:N",
        sort=list(panels),
        title=wrap(data.labels[0]),
        header=alt.Header(labelLimit=LONGEST),
    )
    # As square as it gets: four panels are two by two.
    columns = len(panels) if len(panels) <= 3 else ceil(sqrt(len(panels)))
    return cells.facet(facet, data=alt.Data(values=_cell_records(data)), columns=columns)


def _down_and_across(data: ChartData, down: int, across: int) -> tuple[int, int]:
    """A page is longer than it is wide: an attribute of many values goes down."""
    many = len(data.values[across])
    return (
        (across, down) if many > MOST_ACROSS and many > len(data.values[down]) else (down, across)
    )


def _cell_records(data: ChartData) -> list[dict[str, Any]]:
    """Records of a heat map: with the half width of intervals, and whether a cell is dark."""
    top = _top(data)
    records = data.records()
    for record in records:
        # A cell as light as the background cannot be read in white, nor a dark one in black.
        record["dark"] = bool((record["probability"] or 0.0) > 0.55 * top)
        record["half"] = (record["upper"] - record["lower"]) / 2
    return records


def _top(data: ChartData) -> float:
    return max(float(np.nan_to_num(data.probabilities).max()), 1e-9)


def _cells(alt: Any, data: ChartData, chart: Any, down: int, across: int) -> Any:
    base = chart.encode(
        y=alt.Y(
            f"v{down}:N",
            sort=list(data.values[down]),
            title=data.labels[down],
            axis=alt.Axis(labelLimit=LONGEST, titleLimit=28 * max(4, len(data.values[down]))),
        ),
        x=alt.X(
            f"v{across}:N",
            sort=list(data.values[across]),
            title=wrap(data.labels[across]),
            axis=alt.Axis(labelAngle=-35, labelLimit=140),
        ),
        tooltip=data.tooltip(alt),
    )
    color = alt.Color(
        "probability:Q",
        # A cell estimated below zero is noise: it gets the colour of nothing.
        scale=alt.Scale(scheme="blues", domain=[0, _top(data)], clamp=True),
        legend=alt.Legend(title="share", format="%"),
    )
    boxes = base.mark_rect(stroke="white").encode(color=color)
    ink = alt.condition("datum.dark", alt.value("white"), alt.value(INK))
    share = base.mark_text(fontSize=11, dy=-5).encode(
        text=alt.Text("probability:Q", format=".1%"), color=ink
    )
    half = (
        base.transform_calculate(note="'\\u00b1 ' + format(datum.half, '.1%')")
        .mark_text(fontSize=8.5, dy=8)
        .encode(text="note:N", color=ink)
    )
    return boxes + share + half


def wrap(text: str, width: int = 44) -> str | list[str]:
    """A long text as lines of an axis title; Vega does not break lines itself.

    >>> wrap("How old are you?")
    'How old are you?'
    >>> wrap("one two three", 8)
    ['one two', 'three']
    """
    lines = textwrap.wrap(text, width, max_lines=3, placeholder=" …")
    return lines if len(lines) > 1 else text


def style_chart(alt: Any, chart: Any, title: str, data: ChartData) -> Any:
    heading = alt.TitleParams(
        wrap(title, 80),
        subtitle=list(data.below),
        anchor="start",
        offset=14,
        subtitleColor=MUTED,
        color=INK,
    )
    return (
        chart.properties(title=heading, padding=16)
        .configure(background="white", font="Helvetica, Arial, sans-serif")
        .configure_view(strokeWidth=0)
        .configure_axis(labelColor=INK, titleColor=MUTED, titleFontWeight="normal")
        .configure_axisX(gridColor="#e4e8ec", domain=False)
        .configure_axisY(grid=False)
    )
