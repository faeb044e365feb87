"""Single numbers a model is asked for: a share, and the difference of two."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

import numpy as np

from castell.inference.intervals import Bounds, Spread, quantile
from castell.inference.reasons import Reason
from castell.inference.shares import Shares
from castell.inference.support import Checked
from castell.linear.operators import Floats


@dataclass(frozen=True)
class Probability:
    """The estimated share of respondents with some values, and its standard error."""

    value: float
    standard_error: float
    secure: bool
    checked: Checked
    spread: Spread = field(repr=False)
    reasons: tuple[Reason, ...] = ()

    @classmethod
    def certain(cls, secure: bool) -> Probability:
        """The share of everybody."""
        one = np.ones(1)
        return cls(1.0, 0.0, secure, Checked.WHOLE, Bounds(lambda _: (one, one)))

    def __float__(self) -> float:
        return self.value

    @property
    def notes(self) -> tuple[str, ...]:
        """The reasons in words."""
        return tuple(str(each) for each in self.reasons)

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval, inside [0, 1]."""
        quantile(level)
        low, high = self.spread.interval(np.array([self.value]), level)
        return float(low[0]), float(high[0])

    def complement(self) -> Probability:
        """The share of all others."""
        return replace(self, value=1.0 - self.value, spread=Mirrored(self.spread))

    def document(self, level: float = 0.95) -> dict[str, Any]:
        """The share for programs."""
        low, high = self.conf_int(level)
        return {
            "probability": self.value,
            "standard_error": self.standard_error,
            "lower": low,
            "upper": high,
            "level": level,
            "secure": self.secure,
            "checked": self.checked.value,
            "reasons": [each.document() for each in self.reasons],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class Mirrored:
    """The spread of what is left of 1."""

    of: Spread

    @property
    def variance(self) -> Floats:
        return self.of.variance

    @property
    def errors(self) -> Floats:
        return self.of.errors

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        low, high = self.of.plain(1.0 - values, level)
        return 1.0 - high, 1.0 - low

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        low, high = self.of.interval(1.0 - values, level)
        return 1.0 - high, 1.0 - low


@dataclass(frozen=True, eq=False)
class Difference:
    """One estimated share less another, and its standard error: the two err together."""

    shares: Shares = field(repr=False)
    secure: bool
    checked: Checked
    reasons: tuple[Reason, ...] = ()

    @property
    def value(self) -> float:
        return float(self.shares.values[0] - self.shares.values[1])

    def __float__(self) -> float:
        return self.value

    @property
    def standard_error(self) -> float:
        return sqrt(self.shares.variance(_LESS))

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(str(each) for each in self.reasons)

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval, inside [-1, 1]."""
        low, high = self.shares.sum_interval(_LESS, level)
        return max(low, -1.0), min(high, 1.0)


_LESS = np.array([1.0, -1.0])
