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
        power, before = (slope(result, "castell", "synthetic", n) for n in (1000, 100))
        holds = "holds" if power is not None and abs(power + 1.0) < 0.1 else "does not hold"
        said.append(
            f"{how} the error of castell falls as n to the power {power:.2f} from n = 1,000 on: "
            f"the paper's 1/n for n > 1,000 {holds} (from n = 100 on it is {before:.2f})."
        )
    return said
