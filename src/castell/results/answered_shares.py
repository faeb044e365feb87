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
from castell.results.summary import number, percent


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Answered(Conditional):
    """P(value | answered) for each value, with Fieller's intervals; and bounds for everybody.

    The shares of those who answered are those of everybody only if who answers has nothing to do
    with what. `bounds` suppose nothing (Manski, "Partial Identification of Probability
    Distributions", 2003): none of those who did not answer has the value, or all of them.
    """

    most: Shares  # of each value together with all that are no answer

    @property
    def title(self) -> str:
        return f"{self.asked} of those who answered"

    def bounds(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends for the share of each value among everybody, whatever those who
        did not answer would have said; with the error of the shares at that level."""
        quantile(level)
        low = [float(each.spread.interval(each.values, level)[0][0]) for each in self.shares]
        _, high = self.most.spread.interval(self.most.values, level)
        return np.array(low), np.asarray(high)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        low, high = self.bounds(level)
        return {
            **super().to_dict(level),
            "kind": "answered",
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
