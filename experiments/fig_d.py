"""Figure d: MAE on synthetic data by the number of values of both attributes.

The paper: RR-Ind-Joint errs more with more values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.lines import lines
from experiments.settings import Settings
from experiments.sweep import over_synthetic, slope
from experiments.text import Result, Table, by_x, mean_of, number

VALUES = (2, 3, 5, 7, 10, 14, 20)


def run(settings: Settings) -> dict[str, Any]:
    return over_synthetic(settings, "d", VALUES)


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "d", {})


def draw(result: Result) -> Any:
    heading = "Synthetic data: mean absolute error by the number of values"
    return lines(result, heading, x="values d", y="MAE", log_x=False)


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        how = "In the rounding model" if noise == "rounding" else "With real noise"
        power = slope(result, "castell", "synthetic")
        ends = [mean_of(result, scheme="castell", x=x) for x in (VALUES[0], VALUES[-1])]
        said.append(
            f"{how} the error of castell goes from {number(ends[0])} at d = 2 to "
            f"{number(ends[1])} at d = 20, as d to the power {power:.2f} (a mean over d² cells; "
            "the paper: it increases with d)."
        )
    return said
