"""What a survey can tell apart: the smallest association and difference it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from statistics import median
from typing import Any

from castell.planning.forecast import Forecast, odds_ratio
from castell.planning.targets import Target, usual_tables

# Pairs that stand for all of them.
PAIRS = 12


@dataclass(frozen=True)
class Power:
    """The smallest that is found with 80 % power, tested at 5 %: the median over some pairs.

    `cramers_v` is of the test of all values; `difference` that in the share of one attribute's
    values between two groups of the other, both parted as evenly as their values allow, and
    `odds_ratio` the same as a ratio, around a half.
    """

    pairs: tuple[tuple[str, str], ...]
    cramers_v: float
    difference: float

    @property
    def odds_ratio(self) -> float:
        return odds_ratio(self.difference)

    def to_dict(self) -> dict[str, Any]:
        ratio = self.odds_ratio
        return {
            "pairs": [list(pair) for pair in self.pairs],
            "power": 0.8,
            "level": 0.05,
            "cramers_v": self.cramers_v,
            "difference": self.difference,
            "odds_ratio": ratio if ratio < inf else None,
        }


def power_of(forecast: Forecast, targets: Sequence[Target]) -> Power | None:
    """Of the pairs that are asked for, or of some that stand for all."""
    schema = forecast.outlook.study.schema
    pairs = list(dict.fromkeys(p for t in targets for p in combinations(t.names, 2)))
    pairs = pairs or [(t.names[0], t.names[1]) for t in usual_tables(schema, 2, PAIRS)]
    if not pairs:
        return None
    v = [forecast.cramers_v(*pair) for pair in pairs]
    apart = [forecast.detectable_difference(*pair) for pair in pairs]
    return Power(tuple(pairs), median(v), median(apart))
