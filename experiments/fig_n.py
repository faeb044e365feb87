"""Figure n: MAE on synthetic data by the number of respondents.

The paper: RR-Ind-Joint errs as 1/n from n = 1,000 on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.lines import lines
from experiments.settings import Settings
from experiments.sweep import over_synthetic, slope
from experiments.text import Result, Table, by_x

VALUES = (10, 100, 1000, 10_000)


def run(settings: Settings) -> dict[str, Any]:
    return over_synthetic(settings, "n", VALUES)


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "n", {})


def draw(result: Result) -> Any:
    heading = "Synthetic data: mean absolute error by the number of respondents"
    return lines(result, heading, x="respondents n", y="MAE", log_x=True)


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        how = "In the rounding model" if noise == "rounding" else "With real noise"
        power = slope(result, "castell", "synthetic", 100)
        said.append(
            f"{how} the error of castell falls as n to the power {power:.2f} from n = 100 on "
            f"(the paper: -1)."
        )
    return said
