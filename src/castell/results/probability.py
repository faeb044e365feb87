"""Single numbers a model is asked for: a share, and the difference of two."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from castell.display.arrays import array_of
from castell.display.json_values import plain
from castell.display.one_line import one_line
from castell.inference.intervals import Bounds, Spread, quantile
from castell.inference.shares import Shares
from castell.inference.sum_interval import sum_interval
from castell.inference.support import Checked
from castell.linear.operators import Floats
from castell.results.notebook_table import shares_html
from castell.results.provenance import FromReports, Labels, Source, as_lists, describe_values
from castell.results.summary import number, percent, with_warning


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OneNumber(FromReports):
    """What a share and a difference have in common: a number, its error, and how to show it."""

    value: float
    standard_error: float

    @property
    @abstractmethod
    def title(self) -> str:
        """What the number is of, in words."""

    @abstractmethod
    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval."""

    def summary(self, level: float = 0.95) -> str:
        """The number as a text for a report."""
        low, high = self.conf_int(level)
        lines = [
            self.title,
            f"{number(self.value)}, std. err. {number(self.standard_error)} ({self.source.method})",
            f"{percent(level)} interval [{number(low)}, {number(high)}]",
        ]
        return "\n".join([*lines, *with_warning(self.secure, self.notes)])

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """The number and its interval (extra `plot`)."""
        from castell.results.interval_chart import IntervalRow, interval_chart

        row = IntervalRow("", self.value, *self.conf_int(level))
        name = title or self.title[0].upper() + self.title[1:]
        return interval_chart([row], name, self.source, null=0.0)

    def _numbers(self, level: float) -> dict[str, Any]:
        """The entries of `to_dict` that shares and differences have in common."""
        low, high = self.conf_int(level)
        return {
            "standard_error": plain(self.standard_error),
            "lower": plain(low),
            "upper": plain(high),
            **self._how_sure(level),
        }

    def __float__(self) -> float:
        return self.value

    def __array__(
        self, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> NDArray[Any]:
        return array_of(np.array(self.value), dtype, copy)

    def __repr__(self) -> str:
        told = f"{number(self.value)}, std. err. {number(self.standard_error)}"
        what = self.title.removeprefix("share ")
        return one_line(type(self).__name__, what, [told, *self.source.facts()])

    def _repr_html_(self) -> str:
        numbers = np.array([[self.value, self.standard_error, *self.conf_int()]])
        notes = with_warning(self.secure, self.notes)
        title = self.title[0].upper() + self.title[1:]
        return shares_html(title, self.source.facts(), [], [[]], numbers, notes)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Probability(OneNumber):
    """The estimated share of respondents with some values, and its standard error.

    `where` holds the values that count, by attribute; `negated`, that the share is of all others.
    """

    where: Labels
    spread: Spread
    negated: bool = False

    @classmethod
    def certain(cls, where: Labels, source: Source) -> Probability:
        """The share of everybody."""
        one = np.ones(1)
        return cls(
            value=1.0,
            standard_error=0.0,
            where=where,
            source=source,
            checked=Checked.WHOLE,
            spread=Bounds(lambda _: (one, one)),
        )

    @property
    def title(self) -> str:
        whose = "all respondents but those" if self.negated else "respondents"
        return f"share of {whose} with {describe_values(self.where)}"

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval, inside [0, 1]."""
        quantile(level)
        low, high = self.spread.interval(np.array([self.value]), level)
        return float(low[0]), float(high[0])

    def complement(self) -> Probability:
        """The share of all others."""
        return replace(
            self, value=1.0 - self.value, spread=Mirrored(self.spread), negated=not self.negated
        )

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The share for programs, as plain JSON values; docs/results.md has the layout."""
        return {
            "kind": "probability",
            **self.source.to_dict(),
            "where": as_lists(self.where),
            "negated": self.negated,
            "probability": plain(self.value),
            **self._numbers(level),
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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Difference(OneNumber):
    """One estimated share less another, and its standard error: the two err together."""

    one: Labels
    other: Labels
    shares: Shares

    @classmethod
    def of(
        cls, shares: Shares, one: Labels, other: Labels, source: Source, checked: Checked
    ) -> Difference:
        """The first of two shares less the second."""
        return cls(
            value=float(shares.values[0] - shares.values[1]),
            standard_error=sqrt(shares.variance(_LESS)),
            source=source,
            checked=checked,
            reasons=shares.reasons,
            one=one,
            other=other,
            shares=shares,
        )

    @property
    def title(self) -> str:
        one, other = describe_values(self.one), describe_values(self.other)
        return f"share of respondents with {one} less that with {other}"

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval, inside [-1, 1]."""
        return sum_interval(self.shares, _LESS, level)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The difference for programs, as plain JSON values; docs/results.md has the layout."""
        return {
            "kind": "difference",
            **self.source.to_dict(),
            "one": as_lists(self.one),
            "other": as_lists(self.other),
            "difference": plain(self.value),
            **self._numbers(level),
        }


_LESS = np.array([1.0, -1.0])
