"""Table invcost: what the three inversions cost, printed orders next to measured growth.

w attributes of three values each. The print's O(w d^2.807) counts the small inversions only;
applying them touches all d^w cells w times. Growth is the factor one more attribute costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments._clock import LAST, VALUES, WAYS, peak, problem, seconds
from experiments.settings import Settings, describe
from experiments.style import WAY_COLOURS, finish, log_axis, title
from experiments.text import Result, Table

PRINT = {
    "naive": ("O(d^(2.807 w))", "d^(2w)"),
    "reduced": ("O(w d^2.807)", "d^(2w)"),
    "castell": ("O(w d^2.807)", "d^w"),
}
NOISY = False
TIMES = ("castell.inference.kronecker",)
KEEP = False


def run(settings: Settings) -> dict[str, Any]:
    repeats = settings.repeats or (3 if settings.quick else 20)
    records = []
    for width in (3, 4, 5) if settings.quick else (3, 4, 5, 6, 7, 8, 9, 10, 11, 12):
        for way, call in problem(width).items():
            often = 1 if width > 6 and way != "castell" else repeats
            cost = seconds(call, often)
            records.append({"way": way, "w": width, **cost, "bytes": peak(call)})
    about = describe(settings) | {
        "noise": "",
        "data": f"tables of {VALUES}^w cells; medians of up to {repeats} runs on one machine",
    }
    return {"about": about, "records": records, "growth": growth(records)}


def growth(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """The factor by which time and memory grow with an attribute, over the widest half."""
    found = {}
    for way in WAYS:
        own = [r for r in records if r["way"] == way]
        own = own[len(own) // 2 - 1 :]
        w = [r["w"] for r in own]
        found[way] = {
            what: float(np.exp(np.polyfit(w, np.log([r[what] for r in own]), 1)[0]))
            for what in ("median", "bytes")
        }
    return found


def table(results: Sequence[Result]) -> Table:
    rows = []
    result = results[0]
    for way, (time, storage) in PRINT.items():
        own = [r for r in result["records"] if r["way"] == way]
        six = next((r for r in own if r["w"] == 6), own[-1])
        rows.append(
            [
                way,
                time,
                f"x {result['growth'][way]['median']:.1f}",
                storage,
                f"x {result['growth'][way]['bytes']:.1f}",
                f"{six['median']:.2e}",
                f"{six['bytes'] / 1e6:,.2f}",
                str(LAST[way]),
            ]
        )
    titles = ["way", "time, print", "time, an attribute more", "storage, print"]
    titles += ["memory, an attribute more", "s at w = 6", "MB at w = 6", "widest tried"]
    return Table(titles, rows, words=1)


def draw(result: Result) -> Any:
    import altair as alt

    colours = alt.Scale(domain=list(WAYS), range=WAY_COLOURS)
    charts = [
        alt.Chart(alt.Data(values=list(result["records"])))
        .mark_line(strokeWidth=2, point={"size": 40})
        .encode(
            x=alt.X(
                "w:Q",
                title="attributes w",
                axis=alt.Axis(
                    grid=False, format="d", values=sorted({r["w"] for r in result["records"]})
                ),
            ),
            y=alt.Y(
                f"{what}:Q",
                title=name,
                scale=alt.Scale(type="log"),
                axis=log_axis(alt, [r[what] for r in result["records"]], form=form),
            ),
            color=alt.Color("way:N", scale=colours, legend=alt.Legend(title=None)),
        )
        .properties(width=270, height=230)
        for what, name, form in (("median", "seconds", "~e"), ("bytes", "bytes held", "~s"))
    ]
    heading = title(alt, result, "Three ways to apply one inverse: time and memory")
    return finish(alt.concat(*charts, columns=2), heading)


def findings(results: Mapping[str, Result]) -> list[str]:
    found = next(iter(results.values()))["growth"]
    cells = VALUES
    return [
        f"Storage holds: an attribute more multiplies the memory of naive by "
        f"{found['naive']['bytes']:.1f} and of reduced by {found['reduced']['bytes']:.1f} "
        f"(d² = {cells**2}), of castell by {found['castell']['bytes']:.1f} (d = {cells}).",
        "Time linear in w, as printed for reduced and castell, does not hold: the table itself "
        f"grows by {cells} with every attribute, and castell's time by "
        f"{found['castell']['median']:.1f}, reduced's by {found['reduced']['median']:.1f}, over "
        "the wider half of what was run.",
    ]
