"""Figure v: MAE on synthetic data by the strength of association.

The paper: RR-Independent errs in proportion to V, RR-Ind-Joint does not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.lines import lines
from experiments.settings import Settings
from experiments.sweep import over_synthetic
from experiments.text import Result, Table, by_x, mean_of, number

VALUES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def run(settings: Settings) -> dict[str, Any]:
    return over_synthetic(settings, "v", VALUES)


def table(results: Sequence[Result]) -> Table:
    return by_x(results, "v", {})


def draw(result: Result) -> Any:
    heading = "Synthetic data: mean absolute error by the strength of association"
    return lines(result, heading, x="Cramer's V", y="MAE", log_x=False)


def findings(results: Mapping[str, Result]) -> list[str]:
    said = []
    for noise, result in results.items():
        how = "In the rounding model" if noise == "rounding" else "With real noise"
        at = {
            s: {x: mean_of(result, scheme=s, x=x) for x in (0.0, 1.0)}
            for s in ("castell", "independent")
        }
        ours, theirs = at["castell"], at["independent"]
        wins = [x for x in VALUES if _less(result, x)]
        said.append(
            f"{how} the error of independent goes from {number(theirs[0.0])} at V = 0 to "
            f"{number(theirs[1.0])} at V = 1, that of castell from {number(ours[0.0])} to "
            f"{number(ours[1.0])}; castell is the better one "
            + (f"from V = {wins[0]:g} on." if wins else "nowhere: its noise outweighs all.")
        )
    return said


def _less(result: Result, x: float) -> bool:
    ours, theirs = (mean_of(result, scheme=s, x=x) for s in ("castell", "independent"))
    return ours is not None and theirs is not None and ours < theirs
