"""Figure adw: AVD by the number of attributes, on all four data sets, epsilon 1 for each.

As in the paper some attribute sets are drawn at random, none of them with too many cells. The
paper's crossover points, up to which RR-Ind-Joint is better than RR-Independent, are 4, 8, 3 and 4
attributes for Adult, Census, Credit (German) and Nursery.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from experiments.datasets.population import Population
from experiments.harness import WHOLE, draw_sets
from experiments.lines import lines
from experiments.questions import Question
from experiments.settings import Settings
from experiments.sweep import last_win, one_budget, over_data
from experiments.text import Result, Table, by_x

STAND_IN = "census1990 (stand-in)"
PRINT = {"adult": 4, "census1990": 8, STAND_IN: 8, "german": 3, "nursery": 4}
WIDTHS = {"adult": 6, "census1990": 8, STAND_IN: 10, "german": 6, "nursery": 6}


def run(settings: Settings) -> dict[str, Any]:
    most, cells = (4, 20_000) if settings.quick else (20, 1 << 18)

    def points(people: Population) -> Iterator[tuple[float, Question]]:
        each = settings.one_each(len(people.schema), 1.0)
        last = min(WIDTHS.get(people.name, 6), len(people.schema))
        # So many attributes are asked set by set, which takes long.
        wide = len(people.schema) > WHOLE
        for w in range(2, last + 1, 2 if wide and settings.quick else 1):
            if sets := draw_sets(people, w, most // 2 if wide else most, cells=cells):
                yield w, Question(people, each, sets)

    said = f"up to {most} random attribute sets a width, of up to {cells:,} cells"
    said += f"; census1990 {most // 2}" + (", even widths only" if settings.quick else "")
    return over_data(settings, settings.times(5, 2), points, one_budget(settings, said))


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "w", {})


def draw(result: Result) -> Any:
    heading = "AVD by the number of attributes"
    turns = {name: (w, "up to here castell is better in print") for name, w in PRINT.items()}
    return lines(result, heading, x="attributes w", whole=True, band=True, turns=turns)


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
