"""What it costs to invert a table of 1.8 million cells, standard errors included.

The yardsticks are a copy of the table, one matrix product along one of its axes, and a Fourier
transform of it. Below: the paper's three ways to apply the same inverse, on w attributes of three
values each. `naive` inverts the 3^w x 3^w matrix, `reduced` multiplies it together from small
inverses, `castell` never builds it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import castell
from benchmarks._drawn import DrawnCounts
from benchmarks._population import ADULT_SIZES, generate_population
from benchmarks._text import grid
from benchmarks._timing import race, show_laps
from castell import KaryResponse
from castell.inference import kronecker

_REPORTS = 5_000_000
WAYS = {"castell": kronecker.castell, "reduced": kronecker.reduced, "naive": kronecker.naive}
# From here on a way takes seconds, then minutes.
_LAST = {"castell": 12, "reduced": 8, "naive": 7}


def run(quick: bool) -> dict[str, Any]:
    sizes = ADULT_SIZES[3:] if quick else ADULT_SIZES
    widths = [2, 3] if quick else [*range(2, 9), 12]
    return {"table": _large(sizes, 1 if quick else 9), "ways": _three(widths, 1 if quick else 5)}


def _large(sizes: tuple[int, ...], rounds: int) -> dict[str, Any]:
    """The whole way from counts to estimate, error and interval, counting left out."""
    people = generate_population(sizes, 2)
    study, generator = people.study(4.0), np.random.default_rng(0)
    cells = int(np.prod(sizes))
    counts = DrawnCounts(study, generator.poisson(_REPORTS / cells, sizes))
    table = counts.drawn.astype(np.float64)
    widest = max(sizes)
    flat, matrix = table.reshape(-1, widest), np.eye(widest)
    model = castell.fit(counts, "castell")

    def with_intervals() -> None:
        joint = model.estimate(study.names)
        _ = joint.standard_errors, joint.conf_int(0.95)

    laps = race(
        {
            "copy": table.copy,
            "matrix product": lambda: flat @ matrix,
            "np.fft.rfftn": lambda: np.fft.rfftn(table),
            "estimate": lambda: model.estimate(study.names).probabilities,
            "with errors": lambda: model.estimate(study.names).standard_errors,
            "with errors and intervals": with_intervals,
        },
        rounds,
    )
    return {"cells": cells, "laps": laps}


def _three(widths: list[int], rounds: int) -> list[dict[str, Any]]:
    generator = np.random.default_rng(0)
    found = []
    for width in widths:
        channels = [KaryResponse.with_epsilon(3, 1.0)] * width
        table = generator.dirichlet(np.ones(3**width)).reshape([3] * width)
        ways = {n: partial(way, table, channels) for n, way in WAYS.items() if width <= _LAST[n]}
        exact = ways["castell"]()
        apart = max(float(np.abs(way() - exact).max()) for way in ways.values())
        found.append({"width": width, "apart": apart, "laps": race(ways, rounds)})
    return found


def show(result: dict[str, Any]) -> str:
    large = result["table"]
    rows = []
    for line in result["ways"]:
        laps = line["laps"]
        rows.append([f"3^{line['width']}", f"{3 ** line['width']:,}"])
        rows[-1] += [f"{laps[name]['best']:.2e}" if name in laps else "" for name in WAYS]
        rows[-1] += [f"{laps[name]['ratio']:,.1f}" if name in laps else "" for name in WAYS][1:]
        rows[-1] += [f"{line['apart']:.0e}" if len(laps) > 1 else ""]
    titles = ["table", "cells", *(f"{name} s" for name in WAYS)]
    titles += ["reduced / castell", "naive / castell", "largest difference"]
    return f"{large['cells']:,} cells\n\n{show_laps(large['laps'])}\n\n{grid(titles, rows)}"
