"""Figure adn: AVD of two-way tables by the number of respondents, epsilon 1 for each attribute.

The respondents are drawn from each data set, without putting back; the truth is what they
themselves answered. The paper says 1/n, and castell for n > 500 in most cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.harness import draw_sets, evaluate
from experiments.lines import lines
from experiments.settings import Settings, budgets
from experiments.sweep import about, first_win, populations, records, slope
from experiments.text import Result, Table, by_x

PRINT = {"castell is best from n": 500, "power of n": -1.0}
NUMBERS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def run(settings: Settings) -> dict[str, Any]:
    found, missing = populations()
    repeats = settings.times(5, 2)
    result: list[dict[str, Any]] = []
    for people in found:
        each = settings.one_each(len(people.schema), 1.0)
        sets = draw_sets(people, 2, settings.most(20, 4))
        order = np.random.default_rng(settings.seed).permutation(people.n)
        for n in [*(n for n in NUMBERS if n < 0.8 * people.n), people.n]:
            some = people.take(order[:n])
            result += records(some, n, evaluate(some, each, sets, settings, repeats))
    facts = budgets(settings, [len(p.schema) for p in found], 1.0)
    facts |= {"repeats": repeats, "sets": "random pairs of attributes"}
    return {"about": about(settings, found, **facts), "records": result, "missing": missing}


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "n", {})


def draw(result: Result) -> Any:
    heading = "AVD of two-way tables by the number of respondents"
    return lines(result, heading, x="respondents n", log_x=True, band=True)


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
