"""Figure adw: AVD by the number of attributes, on all four data sets, epsilon 1 for each.

As in the paper some attribute sets are drawn at random; none with more than a quarter of a million
cells. The paper's crossover points, up to which RR-Ind-Joint is better than RR-Independent, are 4,
8, 3 and 4 attributes for Adult, Census, Credit (German) and Nursery.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.harness import draw_sets, evaluate
from experiments.lines import lines
from experiments.settings import Settings, budgets
from experiments.sweep import about, last_win, populations, records
from experiments.text import Result, Table, by_x

PRINT = {"adult": 4, "census1990": 8, "german": 3, "nursery": 4}
WIDTHS = {"adult": 6, "census1990": 8, "german": 6, "nursery": 6}
CELLS = 1 << 18


def run(settings: Settings) -> dict[str, Any]:
    found, missing = populations()
    repeats = settings.times(5, 2)
    result: list[dict[str, Any]] = []
    for people in found:
        each = settings.one_each(len(people.schema), 1.0)
        for w in range(2, min(WIDTHS.get(people.name, 6), len(people.schema)) + 1):
            sets = draw_sets(people, w, settings.most(20, 4), cells=CELLS)
            if sets:
                result += records(people, w, evaluate(people, each, sets, settings, repeats))
    facts = budgets(settings, [len(p.schema) for p in found], 1.0)
    facts |= {"repeats": repeats, "sets": "random attribute sets"}
    return {"about": about(settings, found, **facts), "records": result, "missing": missing}


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "w", {})


def draw(result: Result) -> Any:
    heading = "AVD by the number of attributes"
    return lines(result, heading, x="attributes w", whole=True, band=True)


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        names = dict.fromkeys(r["data"] for r in result["records"])
        wins = {name: last_win(result, name) for name in names}
        crossings = [
            f"{name} {f'up to w = {w}' if w else 'at no width'} (print {PRINT.get(name, '-')})"
            for name, w in wins.items()
        ]
        how = "In the rounding model" if noise == "rounding" else "With real noise"
        said.append(f"{how} castell beats independent on {', '.join(crossings)}.")
    return said
