"""Table datasets: rows, attributes and domain sizes of the four data sets.

Nothing is randomised. The print gives 1.71e44 for Census, a factor of 8 less than the product of
the domains of its 68 attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from castell.results.canvas import INK
from experiments.settings import Settings, describe
from experiments.style import finish, log_axis, title
from experiments.sweep import populations
from experiments.text import Result, Table

PRINT = {
    "adult": {"n": 32_561, "attributes": 8, "cells": 1_814_400.0},
    "census1990": {"n": 2_458_285, "attributes": 68, "cells": 1.711505e44},
    "german": {"n": 1_000, "attributes": 13, "cells": 34_560_000.0},
    "nursery": {"n": 12_960, "attributes": 9, "cells": 64_800.0},
}
NOISY = False


def run(settings: Settings) -> dict[str, Any]:
    found, missing = populations()
    records = [
        {
            "data": p.name,
            "note": p.note,
            "n": p.n,
            "attributes": len(p.schema),
            "smallest": min(p.schema.sizes),
            "largest": max(p.schema.sizes),
            "cells": float(p.cells),
        }
        for p in found
    ]
    about = describe(settings, data="the data sets themselves") | {"noise": ""}
    return {"about": about, "records": records, "missing": missing}


def table(results: Sequence[Result]) -> Table:
    rows = []
    for record in results[0]["records"]:
        known = PRINT.get(record["data"], {})
        rows.append(
            [
                record["data"],
                record["note"],
                f"{known['n']:,}" if known else "-",
                f"{record['n']:,}",
                f"{known['attributes']}" if known else "-",
                f"{record['attributes']}",
                f"{record['smallest']} to {record['largest']}",
                f"{known['cells']:.7g}" if known else "-",
                f"{record['cells']:.7g}",
            ]
        )
    titles = ["data", "rows used", "n, print", "n", "attributes, print", "attributes"]
    return Table([*titles, "values each", "cells, print", "cells"], rows, words=2)


def draw(result: Result) -> Any:
    import altair as alt

    base = alt.Chart(alt.Data(values=list(result["records"]))).encode(
        x=alt.X(
            "n:Q",
            title="respondents",
            scale=alt.Scale(type="log", domain=[500, 4e6], nice=False),
            axis=log_axis(alt, [500, 4e6], form="~s", grid=False),
        ),
        y=alt.Y(
            "cells:Q",
            title="cells of the full table",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(format="~e", values=[1e5, 1e15, 1e25, 1e35, 1e45]),
        ),
    )
    dots = base.mark_circle(size=110, color="#3b6ea8", opacity=1)
    names = base.mark_text(dy=-14, color="#22303c").encode(text="data:N")
    printed = [{"n": known["n"], "cells": known["cells"]} for known in PRINT.values()]
    marks = alt.Chart(alt.Data(values=printed)).mark_point(shape="diamond", size=200, color=INK)
    marks = marks.encode(x="n:Q", y="cells:Q")
    heading = title(alt, result, "The data sets: people and cells", "diamonds: the paper's print")
    return finish((dots + names + marks).properties(width=460, height=260), heading)


def findings(results: Mapping[str, Result]) -> list[str]:
    result = next(iter(results.values()))
    same: list[Mapping[str, Any]] = []
    other: list[Mapping[str, Any]] = []
    for record in result["records"]:
        known = PRINT.get(record["data"])
        if known:
            right = abs(record["cells"] / known["cells"] - 1) < 1e-6
            (same if right else other).append(record)
    said = [f"The domains multiply to the print's number for {', '.join(r['data'] for r in same)}."]
    said += [
        f"For {r['data']} they multiply to {r['cells']:.4g}, "
        f"{r['cells'] / PRINT[r['data']]['cells']:.3g} times the print."
        for r in other
    ]
    said += [
        f"{r['data']}: all figures below are for {r['note']}."
        for r in result["records"]
        if r["n"] != PRINT.get(r["data"], {}).get("n")
    ]
    return said
