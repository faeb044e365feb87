"""Figure ade: AVD of two-way tables by epsilon, on all four data sets.

Epsilon is that of one attribute. The paper prefers RR-Ind-Joint everywhere except at epsilon 0.5
on Adult and Credit (German).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.harness import draw_sets, evaluate
from experiments.lines import lines
from experiments.settings import Settings
from experiments.sweep import about, first_win, populations, records
from experiments.text import Result, Table, by_x

PRINT = {"adult": 1.0, "census1990": 0.5, "german": 1.0, "nursery": 0.5}
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)


def run(settings: Settings) -> dict[str, Any]:
    found, missing = populations()
    repeats = settings.times(3, 2)
    result: list[dict[str, Any]] = []
    for people in found:
        sets = draw_sets(people, 2, settings.most(20, 4))
        for each in settings.each(len(people.schema), EPSILONS):
            result += records(people, each, evaluate(people, each, sets, settings, repeats))
    facts: dict[str, Any] = {"repeats": repeats, "sets": "random pairs of attributes"}
    if settings.epsilon is None:
        totals = ", ".join(f"{len(p.schema)} times that on {p.name}" for p in found)
        facts["sets"] += f"; epsilon is one attribute's, {totals} in all"
    return {"about": about(settings, found, **facts), "records": result, "missing": missing}


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "epsilon", {})


def draw(result: Result) -> Any:
    heading = "AVD of two-way tables by epsilon"
    return lines(result, heading, x="epsilon of one attribute", log_x=True, band=True)


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        names = dict.fromkeys(r["data"] for r in result["records"])
        listed = []
        for name in names:
            start = first_win(result, name)
            got = "at no epsilon tried" if start is None else f"from {start:g} on"
            listed.append(f"{name} {got} (print {PRINT.get(name, 0):g})")
        how = "In the rounding model" if noise == "rounding" else "With real noise"
        said.append(f"{how} castell beats independent on {', '.join(listed)}.")
    return said
