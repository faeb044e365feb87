"""Intervals of a biased estimate, such as a model's, with an unbiased one of the same beside it.

An interval is to contain the estimate it is shown with. Where a biased estimate e lies outside the
unbiased interval [l, u], at its lower side say, the interval reaches down to e: then it misses no
truth that was estimated from below, and the chance alpha / 2 that l failed with is free for the
other end. That end is therefore the one-sided limit of the same level, u' with P(truth > u') =
alpha, the upper end of the two-sided interval of level 1 - 2 alpha:

    [e, u'] if e < l,    [l, u] if l <= e <= u,    [l', e] if e > u.

If e errs to one side only, e <= truth say, every miss is one with truth > u', so coverage is at
least 1 - alpha whatever the bias is. By simulation it is so too for any bias plus noise of at most
.8 of the unbiased estimate's, however the two go along. At worst, with a bias of 2 and the very
noise of the unbiased estimate, 95 % intervals cover 92.7 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from castell.inference.intervals import Bounds, Ends, KnownZeros, Normal, Spread
from castell.linear.operators import Floats


def shortest(intervals: Callable[[float], Sequence[Ends]], level: float) -> Ends:
    """The shortest of some intervals, share by share.

    It is the one that is shortest at 95 %, at any level: so intervals of higher levels contain
    those of lower ones. Of equally long ones it is the first.
    """
    compared = intervals(0.95)
    wanted = compared if level == 0.95 else intervals(level)
    (low, high), width = wanted[0], compared[0][1] - compared[0][0]
    for (lower, higher), (least, most) in zip(wanted[1:], compared[1:], strict=True):
        shorter = most - least < width
        low, high = np.where(shorter, lower, low), np.where(shorter, higher, high)
        width = np.minimum(width, most - least)
    return low, high


def two_sided(level: float) -> float:
    """The level of the two-sided interval whose ends are one-sided limits of some level.

    Levels below 2/3 have more than they need: so intervals of higher levels contain the others.

    >>> round(two_sided(0.95), 6)
    0.9
    """
    return max(2.0 * level - 1.0, level / 2.0)


def lengthen_to_contain(value: Floats, ends: Ends, limits: Callable[[], Ends]) -> Ends:
    """The unbiased interval, made to contain a biased estimate, and its one-sided limits.

    >>> ends, limits = (np.array(0.480), np.array(0.520)), (np.array(0.484), np.array(0.516))
    >>> [float(end) for end in lengthen_to_contain(np.array(0.45), ends, lambda: limits)]
    [0.45, 0.516]
    """
    low, high = ends
    below, above = value < low, value > high
    if not (np.any(below) or np.any(above)):
        return low, high
    least, most = limits()
    return (
        np.where(above, least, np.minimum(low, value)),
        np.where(below, most, np.maximum(high, value)),
    )


@dataclass(frozen=True, eq=False)
class AsUnbiased:
    """The error of an unbiased estimate, for another: its intervals, made to contain that."""

    unbiased: Floats
    spread: Spread

    @property
    def variance(self) -> Floats:
        return self.spread.variance

    @property
    def errors(self) -> Floats:
        return self.spread.errors

    def plain(self, values: Floats, level: float) -> Ends:
        ends = self.spread.plain(self.unbiased, level)
        return lengthen_to_contain(values, ends, lambda: self._limits(level))

    def interval(self, values: Floats, level: float) -> Ends:
        ends = self.spread.interval(self.unbiased, level)
        return lengthen_to_contain(values, ends, lambda: _inside(self._limits(level)))

    def _limits(self, level: float) -> Ends:
        """One-sided; an interval beside a bound has spent the chance of both its ends on one."""
        return self.spread.plain(self.unbiased, two_sided(level))


def _inside(ends: Ends) -> Ends:
    return np.clip(ends[0], 0.0, 1.0), np.clip(ends[1], 0.0, 1.0)


def model_only(spread: Spread) -> Spread:
    """The error of an estimate by itself, without the unbiased one beside it."""
    if isinstance(spread, KnownZeros):
        return KnownZeros(model_only(spread.of), spread.impossible)
    if isinstance(spread, WithinMargins):
        return model_only(spread.of)
    if isinstance(spread, AsUnbiased):
        return spread.spread
    return spread.model if isinstance(spread, ShorterInterval) else spread


@dataclass(frozen=True, eq=False)
class ShorterInterval:
    """The error of a model's estimate, next to an unbiased estimate of the same shares.

    A model is relied on only as far as that makes an interval shorter. Where the unbiased interval
    is the shorter one it is the answer, made to contain the estimate it belongs to.
    """

    model: Normal
    unbiased: Floats
    unbiased_spread: Spread

    @property
    def variance(self) -> Floats:
        return np.minimum(self.model.variance, self.unbiased_spread.variance)

    @property
    def errors(self) -> Floats:
        return np.sqrt(self.variance)

    def plain(self, values: Floats, level: float) -> Ends:
        own, other = self.model, AsUnbiased(self.unbiased, self.unbiased_spread)
        return shortest(lambda at: [own.plain(values, at), other.plain(values, at)], level)

    def interval(self, values: Floats, level: float) -> Ends:
        own, other = self.model, AsUnbiased(self.unbiased, self.unbiased_spread)
        return shortest(lambda at: [own.interval(values, at), other.interval(values, at)], level)


@dataclass(frozen=True, eq=False)
class WithinMargins:
    """The error of estimated shares, next to the bounds that their margins leave.

    The bounds (`margin_bounds.py`) are the interval where they are closer together.
    """

    of: Spread
    bounds: Bounds

    @property
    def variance(self) -> Floats:
        return self.errors**2

    @property
    def errors(self) -> Floats:
        return np.minimum(self.of.errors, self.bounds.errors)

    def plain(self, values: Floats, level: float) -> Ends:
        return shortest(
            lambda at: [self.of.plain(values, at), self.bounds.plain(values, at)], level
        )

    def interval(self, values: Floats, level: float) -> Ends:
        return shortest(
            lambda at: [self.of.interval(values, at), self.bounds.interval(values, at)], level
        )
