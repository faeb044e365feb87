"""Figure ade: AVD of two-way tables by epsilon, on all four data sets.

Epsilon is that of one attribute. The paper prefers RR-Ind-Joint everywhere except at epsilon 0.5
on Adult and Credit (German).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.datasets.population import Population
from experiments.harness import draw_sets
from experiments.lines import lines
from experiments.questions import Question
from experiments.settings import Settings
from experiments.sweep import first_win, over_data
from experiments.text import Result, Table, by_x

PRINT = {
    "adult": 1.0,
    "census1990": 0.5,
    "census1990 (stand-in)": 0.5,
    "german": 1.0,
    "nursery": 0.5,
}
EPSILONS, QUICK = (0.5, 1.0, 2.0, 4.0, 8.0), (0.5, 1.0, 4.0)


def run(settings: Settings) -> dict[str, Any]:
    most, epsilons = (4, QUICK) if settings.quick else (20, EPSILONS)

    def points(people: Population) -> Iterator[tuple[float, Question]]:
        sets = draw_sets(people, 2, most)
        for each in settings.each(len(people.schema), epsilons):
            yield each, Question(people, each, sets)

    def facts(found: Sequence[Population]) -> dict[str, Any]:
        said = f"{most} random pairs of attributes"
        if settings.epsilon is None:
            said += f", at {len(QUICK)} of {len(EPSILONS)} epsilons" if settings.quick else ""
            totals = ", ".join(f"{len(p.schema)} times that on {p.name}" for p in found)
            said += f"; epsilon is one attribute's, {totals} in all"
        return {"sets": said}

    return over_data(settings, settings.times(3, 2), points, facts)


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "epsilon", {})


def draw(result: Result) -> Any:
    heading = "AVD of two-way tables by epsilon"
    turns = {name: (e, "from here on castell is better in print") for name, e in PRINT.items()}
    return lines(result, heading, x="epsilon of one attribute", log_x=True, band=True, turns=turns)


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
