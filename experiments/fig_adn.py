"""Figure adn: AVD of two-way tables by the number of respondents, epsilon 1 for each attribute.

The respondents are drawn from each data set, without putting back; the truth is what they
themselves answered. The paper says 1/n, and castell for n > 500 in most cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.datasets.population import Population
from experiments.harness import draw_sets
from experiments.lines import lines
from experiments.questions import Question
from experiments.settings import Settings
from experiments.sweep import first_win, one_budget, over_data, slope
from experiments.text import Result, Table, by_x

PRINT = {"castell is best from n": 500, "power of n": -1.0}
NUMBERS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def run(settings: Settings) -> dict[str, Any]:
    most, numbers = (4, NUMBERS[::2]) if settings.quick else (20, NUMBERS)

    def points(people: Population) -> Iterator[tuple[float, Question]]:
        each = settings.one_each(len(people.schema), 1.0)
        sets = draw_sets(people, 2, most)
        order = np.random.default_rng(settings.seed).permutation(people.n)
        for n in [*(n for n in numbers if n < 0.8 * people.n), people.n]:
            yield n, Question(people.take(order[:n]), each, sets)

    said = f"{most} random pairs of attributes"
    said += ", every other n" if settings.quick else ""
    return over_data(settings, settings.times(5, 2), points, one_budget(settings, said))


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "n", {})


def draw(result: Result) -> Any:
    heading = "AVD of two-way tables by the number of respondents"
    said = PRINT["castell is best from n"], "from here on castell is best in print, mostly"
    turns = {r["data"]: said for r in result["records"]}
    return lines(result, heading, x="respondents n", log_x=True, band=True, turns=turns)


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        names = dict.fromkeys(r["data"] for r in result["records"])
        powers = [p for name in names if (p := slope(result, "castell", name)) is not None]
        starts = {name: first_win(result, name) for name in names}
        listed = ", ".join(
            f"{name} {'at no n tried' if n is None else f'from n = {n:,} on'}"
            for name, n in starts.items()
        )
        how = "In the rounding model" if noise == "rounding" else "With real noise"
        said.append(
            f"{how} the error of castell falls as n to the power {min(powers):.2f} to "
            f"{max(powers):.2f} (the paper: -1); it beats independent on {listed} (the paper: "
            "from about 500 on in most cases)."
        )
    return said
