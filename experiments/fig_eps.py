"""Figure eps: MAE on synthetic data by epsilon.

The paper: RR-Ind-Joint gains from a larger budget, RR-Independent is constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.lines import lines
from experiments.settings import Settings
from experiments.sweep import first_win, over_synthetic
from experiments.text import Result, Table, by_x, pick

VALUES = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0)


def run(settings: Settings) -> dict[str, Any]:
    epsilons = settings.each(2, VALUES)
    return over_synthetic(settings, "eps", epsilons)


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "eps", {})


def draw(result: Result) -> Any:
    heading = "Synthetic data: mean absolute error by epsilon"
    return lines(result, heading, x="epsilon of one attribute", y="MAE", log_x=False)


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        how = "In the rounding model" if noise == "rounding" else "With real noise"
        one, two = ([r["mean"] for r in pick(result, scheme=s)] for s in ("castell", "independent"))
        start = first_win(result, "synthetic")
        said.append(
            f"{how} the error of castell falls by a factor of {one[0] / one[-1]:,.0f} over the "
            f"budgets shown, that of independent by {two[0] / two[-1]:,.1f}; castell is the better "
            + ("one at none of them." if start is None else f"one from epsilon {start:g} on.")
        )
    return said
