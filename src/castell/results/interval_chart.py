"""A picture of some numbers with their intervals, one row each, beside what no effect would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from castell.results.canvas import BLUE, FONT, GRID, INK, MUTED, load_altair
from castell.results.provenance import Source
from castell.results.summary import INSECURE

_STEP, _WIDE = 34, 420


@dataclass(frozen=True)
class IntervalRow:
    """A name, a number and the ends of its interval, which may be infinite or not known."""

    name: str
    value: float
    low: float
    high: float


def interval_chart(
    rows: Sequence[IntervalRow],
    title: str,
    source: Source,
    *,
    null: float | None = None,
    log: bool = False,
    shares: bool = False,
) -> Any:
    """Dots and lines on one scale, logarithmic for ratios; `null` is where nothing differs."""
    alt = load_altair()
    known = [x for row in rows for x in (row.low, row.value, row.high) if isfinite(x)]
    known += [null] if null is not None else []
    known = [x for x in known if x > 0.0 or not log] or [1.0]
    least, most = min(known), max(known)
    if log:
        # An end that is 0 or infinite is beyond any scale: the line runs out of the picture.
        open_ended = any(not isfinite(r.high) or r.low <= 0.0 for r in rows)
        wide = 8.0 if open_ended else 1.6
        least, most = min(least, 1.0 / wide), max(most, wide)
    if shares:
        least, most = 0.0, max(most, 1e-3)
    room = 1.25 if log else 0.04 * ((most - least) or 1.0)
    domain = [least / room, most * room] if log else [least - room * (not shares), most + room]

    def inside(end: float) -> float | None:
        return None if end != end else min(max(end, domain[0]), domain[1])

    records = [
        {"name": r.name, "value": inside(r.value), "low": inside(r.low), "high": inside(r.high)}
        for r in rows
    ]
    data = alt.Data(values=records)
    axis = alt.Axis(
        title=None, format="%" if shares else "", gridColor=GRID, domain=False, tickCount=6
    )
    across = alt.Scale(type="log" if log else "linear", domain=domain, nice=False, zero=False)
    y = alt.Y(
        "name:N",
        sort=[r.name for r in rows],
        axis=alt.Axis(title=None, labelLimit=320, ticks=False, domain=False, labelFontSize=12),
    )
    x = alt.X("value:Q", scale=across, axis=axis)
    layers = []
    if null is not None:
        line = alt.Chart(alt.Data(values=[{"null": null}]))
        layers.append(
            line.mark_rule(color=MUTED, strokeDash=[4, 3]).encode(
                x=alt.X("null:Q", scale=across, axis=axis)
            )
        )
    whole = alt.Chart(data).transform_filter("isValid(datum.low) && isValid(datum.high)")
    layers.append(
        whole.mark_rule(color=INK, strokeWidth=1.5).encode(
            x=alt.X("low:Q", scale=across, axis=axis), x2="high:Q", y=y
        )
    )
    layers.append(
        alt.Chart(data)
        .transform_filter("isValid(datum.value)")
        .mark_circle(color=BLUE, size=80, opacity=1)
        .encode(x=x, y=y)
    )
    below = ", ".join(source.facts())
    subtitle = [below] if source.secure else [below, INSECURE]
    heading = alt.TitleParams(
        title, subtitle=subtitle, anchor="start", offset=14, subtitleColor=MUTED, color=INK
    )
    return (
        alt.layer(*layers)
        .properties(width=_WIDE, height=_STEP * len(rows), title=heading, padding=16)
        .configure(background="white", font=FONT)
        .configure_view(strokeWidth=0)
    )
