"""Shares of those who answered a question, and what the others leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from castell.display.json_values import plain
from castell.inference.intervals import quantile
from castell.inference.shares import Shares
from castell.linear.operators import Floats
from castell.results.conditional import Conditional
from castell.results.provenance import Labels, as_lists, describe_values
from castell.results.summary import number, percent


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Answered(Conditional):
    """P(value | answered) for each value, with Fieller's intervals; and bounds for everybody.

    The shares of those who answered are those of everybody only if who answers has nothing to do
    with what. `bounds` suppose nothing (Manski, "Partial Identification of Probability
    Distributions", 2003): none of those who did not answer has the value, or all of them.
    """

    # Of everybody in the group: each value, and each together with all that are no answer. Beside
    # each the share of the group, where that is not everybody.
    least: tuple[Shares, ...]
    most: tuple[Shares, ...]
    among: Labels

    @property
    def title(self) -> str:
        among = f" given {describe_values(self.among)}" if self.among else ""
        return f"{self.asked} of those who answered{among}"

    def bounds(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends for the share of each value among everybody, whatever those who
        did not answer would have said; with the error of the shares at that level."""
        quantile(level)
        low = [_ends(each, level)[0] for each in self.least]
        high = [_ends(each, level)[1] for each in self.most]
        return np.array(low), np.array(high)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        low, high = self.bounds(level)
        return {
            **super().to_dict(level),
            "kind": "answered",
            "among": as_lists(self.among),
            "bounds_lower": plain(low),
            "bounds_upper": plain(high),
        }

    def summary(self, level: float = 0.95) -> str:
        low, high = self.bounds(level)
        told = ", ".join(
            f"{value} [{number(least)}, {number(most)}]"
            for value, least, most in zip(self.values, low, high, strict=True)
        )
        return f"{super().summary(level)}\n{percent(level)} bounds for everybody: {told}"


def _ends(shares: Shares, level: float) -> tuple[float, float]:
    """The interval of a share, or of its ratio to the share beside it."""
    if len(shares.values) > 1:
        return shares.ratio_interval(level)
    low, high = shares.spread.interval(shares.values, level)
    return float(low[0]), float(high[0])
