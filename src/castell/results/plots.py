"""Pictures of estimates, as Vega-Lite: one description for notebooks, files and pages."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np

from castell.errors import MissingExtraError, QueryError
from castell.linear.operators import Floats
from castell.results.labelled_table import LabelledTable
from castell.results.summary import INSECURE

BLUE, INK, MUTED = "#3b6ea8", "#22303c", "#5d6b78"


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
    drawers = {1: _bars, 2: _heat_map, 3: _panels}
    if len(joint.names) not in drawers:
        raise QueryError(
            f"a picture of {len(joint.names)} attributes is no longer one",
            "project() the table on three or fewer first",
        )
    alt = load_altair()
    chart = drawers[len(joint.names)](alt, joint, level, truth)
    return style_chart(
        alt, chart, title or f"Estimated distribution of {' x '.join(joint.names)}", joint
    )


def plot_against(joint: LabelledTable, truth: Floats, *, level: float = 0.95, title: str) -> Any:
    """Every cell's estimate and interval next to the true share: how well it went."""
    alt = load_altair()
    records = _records(joint, level, truth)
    order = [record["cell"] for record in records]
    base = alt.Chart(alt.Data(values=records)).encode(
        y=alt.Y("cell:N", sort=order, title=" / ".join(joint.names))
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
    return style_chart(alt, chart, title, joint)


def _records(joint: LabelledTable, level: float, truth: Floats | None) -> list[dict[str, Any]]:
    """A record for each cell: its values v0, v1, ..., the numbers, and a label."""
    columns = joint.columns(level)
    labels = list(columns)[: len(joint.names)]
    records = []
    for i in range(joint.probabilities.size):
        values = [str(columns[name][i]) for name in labels]
        record: dict[str, Any] = {f"v{k}": value for k, value in enumerate(values)}
        for name in ("probability", "standard_error", "lower", "upper"):
            record[name] = float(columns[name][i])
        record["cell"] = " / ".join(values)
        # A cell as light as the background cannot be read in white, nor a dark one in black.
        record["dark"] = bool(record["probability"] > 0.55 * joint.probabilities.max())
        record["half"] = (record["upper"] - record["lower"]) / 2
        if truth is not None:
            record["truth"] = float(np.asarray(truth).ravel()[i])
        records.append(record)
    return records


def _bars(alt: Any, joint: LabelledTable, level: float, truth: Floats | None) -> Any:
    (attribute,) = joint.attributes
    base = alt.Chart(alt.Data(values=_records(joint, level, truth))).encode(
        y=alt.Y("v0:N", sort=list(attribute.values), title=attribute.name)
    )
    bars = base.mark_bar(color=BLUE, opacity=0.75).encode(
        x=alt.X("probability:Q", title="share of respondents", axis=alt.Axis(format="%")),
        tooltip=_tooltip(alt, joint),
    )
    rules = base.mark_rule(color=INK, strokeWidth=1.5).encode(x="lower:Q", x2="upper:Q")
    ends = [base.mark_tick(color=INK, size=8).encode(x=f"{end}:Q") for end in ("lower", "upper")]
    chart = bars + rules + ends[0] + ends[1]
    if truth is not None:
        chart += base.mark_tick(color="#c2410c", thickness=3, size=18).encode(x="truth:Q")
    return chart.properties(width=440, height=alt.Step(26))


def _heat_map(alt: Any, joint: LabelledTable, level: float, truth: Floats | None) -> Any:
    del truth  # a heat map has no place for a second number
    data = alt.Data(values=_records(joint, level, None))
    return _cells(alt, joint, alt.Chart(data), 0, 1).properties(
        width=alt.Step(66), height=alt.Step(34)
    )


def _panels(alt: Any, joint: LabelledTable, level: float, truth: Floats | None) -> Any:
    del truth
    first = joint.attributes[0]
    data = alt.Data(values=_records(joint, level, None))
    cells = _cells(alt, joint, alt.Chart(), 1, 2).properties(
        width=alt.Step(58), height=alt.Step(30)
    )
    facet = alt.Facet("v0:N", sort=list(first.values), title=first.name)
    # As square as it gets: four panels are two by two.
    columns = first.size if first.size <= 3 else ceil(sqrt(first.size))
    return cells.facet(facet, data=data, columns=columns)


def _cells(alt: Any, joint: LabelledTable, chart: Any, down: int, across: int) -> Any:
    rows, columns = joint.attributes[down], joint.attributes[across]
    base = chart.encode(
        y=alt.Y(f"v{down}:N", sort=list(rows.values), title=rows.name),
        x=alt.X(
            f"v{across}:N",
            sort=list(columns.values),
            title=columns.name,
            axis=alt.Axis(labelAngle=-35, labelLimit=140),
        ),
        tooltip=_tooltip(alt, joint),
    )
    top = max(float(joint.probabilities.max()), 1e-9)
    color = alt.Color(
        "probability:Q",
        # A cell estimated below zero is noise: it gets the colour of nothing.
        scale=alt.Scale(scheme="blues", domain=[0, top], clamp=True),
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


def _tooltip(alt: Any, joint: LabelledTable) -> list[Any]:
    names = [alt.Tooltip(f"v{k}:N", title=a.name) for k, a in enumerate(joint.attributes)]
    numbers = ("probability", "standard_error", "lower", "upper")
    return [*names, *(alt.Tooltip(f"{n}:Q", format=".4f") for n in numbers)]


def style_chart(alt: Any, chart: Any, title: str, joint: LabelledTable) -> Any:
    below = f"{joint.method}, {joint.post}; n = {joint.n:,}; epsilon = {joint.epsilon:.3g} in all"
    subtitle = [below] if joint.secure else [below, INSECURE]
    heading = alt.TitleParams(
        title, subtitle=subtitle, anchor="start", offset=14, subtitleColor=MUTED, color=INK
    )
    return (
        chart.properties(title=heading, padding=16)
        .configure(background="white", font="Helvetica, Arial, sans-serif")
        .configure_view(strokeWidth=0)
        .configure_axis(labelColor=INK, titleColor=MUTED, titleFontWeight="normal")
        .configure_axisX(gridColor="#e4e8ec", domain=False)
        .configure_axisY(grid=False)
    )
