"""Figure time: seconds to invert a table of 3^w cells, naive, reduced and castell.

p = 1/2, w = 2 to 6 as in the paper, which measured R on a 2.3 GHz Core i9: 0.007 s at w = 6, and
says castell's time grows by 2e-5 s an attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments._clock import WAYS, problem, seconds
from experiments.settings import Settings, describe
from experiments.style import WAY_COLOURS, finish, log_axis, title
from experiments.text import Result, Table

PRINT = {6: 0.007}
WIDTHS = (2, 3, 4, 5, 6)
NOISY = False
TIMES = ("castell.inference.kronecker",)
KEEP = False


def run(settings: Settings) -> dict[str, Any]:
    repeats = settings.repeats or (5 if settings.quick else 100)
    records = []
    for width in WIDTHS:
        for way, call in problem(width).items():
            often = min(repeats, 2 if settings.quick else 10) if _slow(way, width) else repeats
            records.append({"way": way, "w": width, **seconds(call, often)})
    about = describe(settings) | {
        "noise": "",
        "data": f"tables of 3^w cells, p = 1/2; medians of up to {repeats} runs",
    }
    return {"about": about, "records": records}


def _slow(way: str, width: int) -> bool:
    """Whether so many runs would take long."""
    return way == "naive" and width > 5


def table(results: Sequence[Result]) -> Table:
    widths = sorted({r["w"] for r in results[0]["records"]})
    rows = [["print, R", *(f"{PRINT[w]:.1e}" if w in PRINT else "" for w in widths)]]
    for way in WAYS:
        found = {r["w"]: r for r in results[0]["records"] if r["way"] == way}
        rows.append([f"{way}, s", *(f"{found[w]['median']:.1e}" for w in widths)])
    return Table(["", *(f"w = {w}" for w in widths)], rows)


def draw(result: Result) -> Any:
    import altair as alt

    colours = alt.Scale(domain=list(WAYS), range=WAY_COLOURS)
    widths = sorted({r["w"] for r in result["records"]})
    chart = (
        alt.Chart(alt.Data(values=list(result["records"])))
        .mark_line(strokeWidth=2, point={"size": 44})
        .encode(
            x=alt.X(
                "w:Q",
                title="attributes w",
                scale=alt.Scale(padding=12, zero=False),
                axis=alt.Axis(grid=False, format="d", values=widths),
            ),
            y=alt.Y(
                "median:Q",
                title="seconds",
                scale=alt.Scale(type="log"),
                axis=log_axis(alt, [r["median"] for r in result["records"]], form="~e"),
            ),
            color=alt.Color("way:N", scale=colours, legend=alt.Legend(title=None)),
        )
        .properties(width=460, height=280)
    )
    printed = [{"w": w, "median": seconds, "way": "castell"} for w, seconds in PRINT.items()]
    marks = alt.Chart(alt.Data(values=printed)).mark_point(
        shape="diamond", size=90, strokeWidth=1.6, fill="white"
    )
    marks = marks.encode(x="w:Q", y="median:Q", color=alt.Color("way:N", scale=colours))
    heading = title(
        alt, result, "Seconds to invert a table of 3^w cells", "diamond: the paper's print, in R"
    )
    return finish(chart + marks, heading)


def findings(results: Mapping[str, Result]) -> list[str]:
    records = next(iter(results.values()))["records"]
    last = max(r["w"] for r in records)
    time = {r["way"]: r["median"] for r in records if r["w"] == last}
    return [
        f"At w = {last} naive takes {time['naive'] / time['castell']:,.0f} times and reduced "
        f"{time['reduced'] / time['castell']:,.0f} times as long as castell, which takes "
        f"{time['castell']:.1e} s (the paper, in R, at w = {max(PRINT)}: {PRINT[max(PRINT)]:.0e} "
        f"s). The order of the figure {_order(time)}."
    ]


def _order(time: Mapping[str, float]) -> str:
    return "holds" if time["naive"] > time["reduced"] > time["castell"] else "does not hold"
