"""The page's charts, as Vega-Lite: laid out for a wide page and for a phone.

`pictures` are the library's own charts where it has one, and mosaics; `timeline` is how reports
came in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from castell.collector.results.mosaic import mosaic
from castell.errors import OptionError
from castell.results.bars import bars
from castell.results.canvas import (
    BLUE,
    FONT,
    GRID,
    INK,
    MUTED,
    USUAL_ROOM,
    Canvas,
    load_altair,
    paint,
)
from castell.results.chart_data import ChartData
from castell.results.heat_map import heat_map
from castell.results.joint import JointEstimate
from castell.results.plots import usual_canvas

# Pixels across: the page takes the widest that fits, and stretches it. The first is also the
# picture to download.
ROOMS = (USUAL_ROOM, 320)
# An hour's bar is too thin to be seen in a collection longer than this.
MOST_HOURS = 96
NAMES = {"heat": "heat map", "mosaic": "mosaic"}


@dataclass(frozen=True)
class Picture:
    """A chart for so much room: of which kind it is, what must be said about it, and itself."""

    room: int
    kind: str
    said: str
    spec: dict[str, Any]


def kinds(many: int, *, whole: bool = True) -> tuple[str, ...]:
    """The charts that so many attributes can be shown as; the first is the usual one.

    Areas of a mosaic are shares of everybody: only a `whole` table has one.
    """
    if many not in (2, 3):
        return ("bars",)
    return ("heat", "bars", "mosaic") if whole else ("heat", "bars")


def pictures(data: ChartData, kind: str, joint: JointEstimate | None) -> tuple[Picture, ...]:
    """The chart for each room; a mosaic needs the `joint` table."""
    possible = kinds(len(data.labels), whole=joint is not None)
    if kind not in ("auto", *possible):
        what = "attributes" if joint is not None else "attributes as parts of a table"
        raise OptionError(
            f"there is no {kind} chart of {len(data.labels)} {what}",
            f"take {' or '.join(possible)}",
        )
    load_altair()
    title = " x ".join(data.labels)
    canvases = [(room, _canvas(data, kind, joint, room)) for room in ROOMS]
    return tuple(
        Picture(room, canvas.kind, canvas.said, paint(canvas, data, title).to_dict())
        for room, canvas in canvases
    )


def _canvas(data: ChartData, kind: str, joint: JointEstimate | None, room: int) -> Canvas:
    if kind == "auto":
        return usual_canvas(data, room)
    if kind == "bars":
        return bars(data, room)
    found = heat_map(data, room) if kind == "heat" or joint is None else mosaic(joint, data, room)
    if found is not None:
        return found
    # What was asked for by name is not left out without a word.
    instead = bars(data, room)
    why = f"A {NAMES[kind]} of these values could not be read in this width: bars instead."
    return replace(instead, said=f"{why} {instead.said}".strip())


def by_day(points: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Hours put together to days.

    >>> by_day([("2026-01-01T08:00:00Z", 2), ("2026-01-01T09:00:00Z", 3)])
    [('2026-01-01T00:00:00Z', 5)]
    """
    days: dict[str, int] = {}
    for hour, count in points:
        day = f"{hour[:10]}T00:00:00Z"
        days[day] = days.get(day, 0) + count
    return list(days.items())


def timeline(points: list[tuple[str, int]]) -> dict[str, Any]:
    """Bars of the reports of each hour, or of each day where there are many hours."""
    alt = load_altair()
    times = [_time(hour) for hour, _ in points]
    long = times[-1] - times[0] > timedelta(hours=MOST_HOURS)
    unit, width = ("day", timedelta(days=1)) if long else ("hour", timedelta(hours=1))
    shown = by_day(points) if long else points
    records = [
        {"start": hour, "end": _text(_time(hour) + width), "reports": count}
        for hour, count in shown
    ]
    scale = alt.Scale(type="utc")
    form = "%b %d" if long else "%b %d %H:%M"
    chart = (
        alt.Chart(alt.Data(values=records))
        .mark_bar(color=BLUE, opacity=0.8, stroke="white", strokeWidth=1)
        .encode(
            x=alt.X(
                "start:T",
                title=f"{unit} (UTC)",
                scale=scale,
                axis=alt.Axis(grid=False, format=form),
            ),
            x2="end:T",
            y=alt.Y("reports:Q", title="reports", axis=alt.Axis(tickCount=4, format="~s")),
            y2=alt.datum(0),
            tooltip=[
                alt.Tooltip("start:T", title=unit, format="%Y-%m-%d %H:%M", formatType="utc"),
                alt.Tooltip("reports:Q", format=","),
            ],
        )
        .properties(width=440, height=130)
        .configure(background="white", font=FONT)
        .configure_view(strokeWidth=0)
        .configure_axis(labelColor=INK, titleColor=MUTED, titleFontWeight="normal")
        .configure_axisY(gridColor=GRID, domain=False)
    )
    spec: dict[str, Any] = chart.to_dict()
    return spec


def _time(hour: str) -> datetime:
    return datetime.fromisoformat(hour)


def _text(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
