"""The page's charts, as Vega-Lite: the library's own where it has one, and some more.

`bars` shows the cells of a table of any width with their intervals; `timeline` how reports came in.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np

from castell.collector.results.mosaic import mosaic
from castell.errors import OptionError
from castell.results.chart_data import ChartData
from castell.results.joint import JointEstimate
from castell.results.plots import BLUE, INK, MUTED, draw_table, load_altair, style_chart

# More rows than this are no longer read, and more tiles no longer seen.
MOST_BARS = 40
MOST_TILES = 600
# An hour's bar is too thin to be seen in a collection longer than this.
MOST_HOURS = 96


def kinds(many: int, *, whole: bool = True) -> tuple[str, ...]:
    """The charts that so many attributes can be shown as; the first is the usual one.

    Areas of a mosaic are shares of everybody: only a `whole` table has one.
    """
    if many not in (2, 3):
        return ("bars",)
    return ("heat", "bars", "mosaic") if whole else ("heat", "bars")


def draw(data: ChartData, kind: str, joint: JointEstimate | None) -> tuple[str, dict[str, Any]]:
    """The kind of chart that was drawn, and its description; a mosaic needs the `joint` table."""
    many, size = len(data.labels), data.probabilities.size
    possible = kinds(many, whole=joint is not None)
    usual = possible[0] if size <= MOST_TILES else "bars"
    chosen = usual if kind == "auto" else kind
    if chosen not in possible:
        what = "attributes" if joint is not None else "attributes as parts of a table"
        raise OptionError(
            f"there is no {chosen} chart of {many} {what}", f"take {' or '.join(possible)}"
        )
    title = " x ".join(data.labels)
    if chosen == "mosaic" and joint is not None:
        chart = mosaic(joint, data, title)
    elif chosen == "bars" and (many > 1 or size > MOST_BARS):
        chart = _bars(data, title)
    else:
        chart = draw_table(data, title)
    spec: dict[str, Any] = chart.to_dict()
    return chosen, spec


def _bars(data: ChartData, title: str) -> Any:
    alt = load_altair()
    size = data.probabilities.size
    rows = np.arange(size)
    if size > MOST_BARS:
        shares = np.nan_to_num(data.probabilities.ravel(), nan=-np.inf)
        rows = np.argsort(-shares, kind="stable")[:MOST_BARS]
        title += f" (the {MOST_BARS} largest of {size:,} cells)"
    records = data.records(rows)
    base = alt.Chart(alt.Data(values=records)).encode(
        y=alt.Y(
            "cell:N",
            sort=[record["cell"] for record in records],
            title=None,  # the title says it, in the same order
            axis=alt.Axis(labelLimit=280),
        ),
        tooltip=data.tooltip(alt),
    )
    share = alt.X("lower:Q", title="share of respondents", axis=alt.Axis(format="%", tickCount=6))
    interval = base.mark_rule(strokeWidth=3, opacity=0.45, color=BLUE).encode(x=share, x2="upper:Q")
    dots = base.mark_circle(size=64, opacity=1, color=BLUE).encode(x="probability:Q")
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color=MUTED, strokeDash=[3, 3])
    chart = zero.encode(x="zero:Q") + interval + dots
    return style_chart(alt, chart.properties(width=440, height=alt.Step(22)), title, data)


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
        .configure(background="white", font="Helvetica, Arial, sans-serif")
        .configure_view(strokeWidth=0)
        .configure_axis(labelColor=INK, titleColor=MUTED, titleFontWeight="normal")
        .configure_axisY(gridColor="#e4e8ec", domain=False)
    )
    spec: dict[str, Any] = chart.to_dict()
    return spec


def _time(hour: str) -> datetime:
    return datetime.fromisoformat(hour)


def _text(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
