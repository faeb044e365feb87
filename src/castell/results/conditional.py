"""Conditional shares: how some values are distributed among those with others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from castell.inference.intervals import quantile
from castell.inference.reasons import Reason
from castell.inference.shares import Shares
from castell.inference.support import Checked
from castell.linear.operators import Floats
from castell.reports.frames import frame_of


@dataclass(frozen=True, eq=False)
class Conditional:
    """P(value | given) for some values, with Fieller's intervals.

    Both shares of the ratio are estimated, from the same reports, so the ratio's error follows
    from their covariance. Where the group given may be empty, nothing is known: the interval is
    [0, 1].
    """

    asked: str
    values: tuple[str, ...]
    shares: tuple[Shares, ...] = field(repr=False)  # of both, and of those given, for each value
    given: Mapping[str, Any]
    method: str
    secure: bool
    checked: Checked
    reasons: tuple[Reason, ...] = ()

    @cached_property
    def probabilities(self) -> Floats:
        """The ratios; where an estimated group is empty, none can be told: not a number."""
        found = [
            float(s.values[0] / s.values[1]) if s.values[1] > 0.0 else np.nan for s in self.shares
        ]
        shares: Floats = np.clip(np.array(found), 0.0, 1.0)
        return shares

    @cached_property
    def standard_errors(self) -> Floats:
        """Of a ratio t: that of first - t second, over the second (the delta method)."""
        return np.array(
            [
                np.sqrt(s.variance(np.array([1.0, -t]))) / s.values[1] if t == t else np.nan
                for s, t in zip(self.shares, self.probabilities, strict=True)
            ]
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The reasons in words."""
        return tuple(str(each) for each in self.reasons)

    def conf_int(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of an interval for every value, inside [0, 1]."""
        quantile(level)
        ends = np.array([each.ratio_interval(level) for each in self.shares])
        return ends[:, 0], ends[:, 1]

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        low, high = self.conf_int(level)
        return {
            self.asked: np.array(self.values, dtype=object),
            "probability": self.probabilities,
            "standard_error": self.standard_errors,
            "lower": low,
            "upper": high,
        }

    def to_frame(self, backend: str | None = None, *, level: float = 0.95) -> Any:
        """A frame: 'pandas', 'polars' or 'pyarrow'."""
        return frame_of(self.columns(level), backend)

    def summary(self, level: float = 0.95) -> str:
        """The shares as a text for a report."""
        given = described(self.given, ", ")
        low, high = self.conf_int(level)
        rows = zip(self.values, self.probabilities, self.standard_errors, low, high, strict=True)
        wide = max(len(value) for value in self.values)
        lines = [f"{self.asked} given {given} ({self.method})"]
        lines += [
            f"{value:<{wide}}  {share:.4f}  std. err. {error:.4f}  [{least:.4f}, {most:.4f}]"
            for value, share, error, least, most in rows
        ]
        return "\n".join([*lines, *self.notes])

    def __str__(self) -> str:
        return self.summary()


def values_of(asked: Any) -> list[Any]:
    """The values that count: one, or a collection of them."""
    return list(asked) if isinstance(asked, (list, tuple, set, frozenset)) else [asked]


def described(asked: Mapping[str, Any], between: str) -> str:
    """Attributes and the values of them that count, in words.

    >>> described({"smokes": "now", "health": ["poor", "fair"]}, ", ")
    'smokes = now, health = poor or fair'
    """
    return between.join(f"{n} = {' or '.join(map(str, values_of(v)))}" for n, v in asked.items())
