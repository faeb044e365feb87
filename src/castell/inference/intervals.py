"""How far estimated shares may be off: variances, and the confidence intervals made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from castell.errors import OptionError
from castell.inference.feldman_cousins import Cells, between_bounds, lower_ends, one_bound
from castell.linear.cores import on_all_cores
from castell.linear.operators import Floats

_NORMAL = NormalDist()

# The largest standard error of a share that still tells something of it.
TOLD = 1.0
# Cells at a time: what is worked out of so many on the way stays in the cache.
_CELLS = 1 << 14


def quantile(level: float) -> float:
    """How many standard errors an interval of some level reaches to each side.

    >>> round(quantile(0.95), 6)
    1.959964
    """
    # The largest float below 1 is between 0 and 1, and its half plus a half is not below 1.
    known = isinstance(level, (int, float, np.floating))
    if not known or not 0.0 < level < 0.5 + float(level) / 2 < 1.0:
        raise OptionError(f"the level is {level!r}", "give one between 0 and 1, such as 0.95")
    return _NORMAL.inv_cdf(0.5 + float(level) / 2)


def bonferroni_level(level: float, many: int) -> float:
    """The level of each of so many intervals that all hold with some level (Bonferroni).

    >>> round(bonferroni_level(0.95, 2), 6)
    0.975
    """
    return 1.0 - (1.0 - level) / many


class Spread(Protocol):
    """What is known of the error of some estimated shares."""

    @property
    def variance(self) -> Floats: ...

    @property
    def errors(self) -> Floats:
        """Standard errors."""
        ...

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        """An interval that does not know that shares lie in [0, 1]."""
        ...

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        """A confidence interval of each share, inside [0, 1]."""
        ...


SpreadOf = Callable[[tuple[str, ...]], Spread]
Ends = tuple[Floats, Floats]


def _flat(of: Floats | float, shape: tuple[int, ...], some: Cells) -> Floats:
    """Some cells of what is given for all, or for each; one number stays one."""
    given = np.asarray(of)
    return given if given.ndim == 0 else np.broadcast_to(given, shape).reshape(-1)[some]


@dataclass(frozen=True, eq=False)
class Normal:
    """An estimate with a normal error, whose variance may go along with the truth.

    An estimate and the estimate of its variance err together: in a cell that happened to get few
    reports both are low. If the truth is d above the estimate, the variance is better guessed as
    `variance` + `slope` d + `bend` d^2. Knowing that, an interval holds every truth that would not
    be surprised by the estimate, which is Wilson's idea for proportions. It stays honest in cells
    with next to no reports, where estimate +- z errors would cover far too seldom. With slope and
    bend 0 it is that plain interval. `outward` keeps the variance from falling below the one at the
    estimate: an interval is then only ever lengthened by the slope.

    >>> one_of_a_hundred = Normal(np.array(0.01 * 0.99 / 100), np.array(0.98 / 100), -1 / 100)
    >>> ends = one_of_a_hundred.plain(np.array(0.01), 0.95)
    >>> [round(float(end), 4) for end in ends]  # Wilson's
    [0.0018, 0.0545]
    """

    variance: Floats
    slope: Floats | float = 0.0
    bend: Floats | float = 0.0
    outward: bool = False

    @property
    def errors(self) -> Floats:
        return np.sqrt(self.variance)

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        """Where d^2 = z^2 (variance + slope d + bend d^2), d being truth less estimate."""
        return self.ends(values, quantile(level))

    def ends(self, values: Floats, z: float) -> tuple[Floats, Floats]:
        """The same for so many standard errors."""
        if self.outward:
            return values + self._end(-1.0, z), values + self._end(1.0, z)
        scale, middle, reach = self._quadratic(z, np.asarray(self.slope), np.asarray(self.bend))
        return values + (middle - reach) / scale, values + (middle + reach) / scale

    def _end(self, side: float, z: Floats | float) -> Floats:
        slope, bend = np.asarray(self.slope), np.asarray(self.bend)
        if self.outward:
            grows = side * slope > 0.0
            slope, bend = np.where(grows, slope, 0.0), np.where(grows, bend, 0.0)
        scale, middle, reach = self._quadratic(z, slope, bend)
        return np.asarray((middle + side * reach) / scale)

    def _quadratic(
        self, z: Floats | float, slope: Floats, bend: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """The ends are (middle -+ reach) / scale."""
        square = np.asarray(z) ** 2
        scale, middle = 1.0 - square * bend, square * slope / 2
        reach = np.sqrt(np.maximum(middle**2 + scale * square * self.variance, 0.0))
        return scale, middle, reach

    def _pick(self, some: Cells, shape: tuple[int, ...]) -> Normal:
        """That of some of the cells, in the order of a flat table."""
        own = (self.variance, self.slope, self.bend)
        variance, slope, bend = (_flat(of, shape, some) for of in own)
        return Normal(variance, slope, bend, self.outward)

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        """The plain interval, brought inside [0, 1] so that coverage is kept.

        Cutting would leave an interval empty where an unbiased estimate is far below 0, and cover
        too often elsewhere. The unified approach of Feldman and Cousins (Phys. Rev. D 57, 1998)
        orders estimates by their likelihood ratio to the best *possible* truth. Where the error is
        small next to 1, a share feels one bound at most. Where it is above 1 reports say nothing of
        the share, and neither does its interval: Feldman and Cousins' would be [0, 1] nineteen
        times and a single point the twentieth.
        """
        own = (values, self.variance, self.slope, self.bend)
        shape = np.broadcast_shapes(*(np.shape(of) for of in own))
        low, high = np.empty(shape), np.empty(shape)
        least, most, flat = (
            low.reshape(-1),
            high.reshape(-1),
            np.broadcast_to(values, shape).ravel(),
        )

        def work(starts: range) -> None:
            for start in starts:
                some = slice(start, start + _CELLS)
                least[some], most[some] = self._pick(some, shape)._inside(flat[some], level)

        on_all_cores(work, range(0, low.size, _CELLS))
        return low[()], high[()]

    def _inside(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        """The same for flat values, and what else is known flat too or one number."""
        z = quantile(level)
        plain, most = self.plain(values, level)
        low, limit = self._from_zero(values, plain, most, level)
        # At 1 everything is the same, with what is left of 1 in place of the share.
        mirrored = replace(self, slope=-np.asarray(self.slope))
        top, floor = mirrored._from_zero(1.0 - values, 1.0 - most, 1.0 - plain, level)
        high = np.where(values < 0.0, limit, 1.0 - top)
        low = np.clip(np.where(values > 1.0, 1.0 - floor, low), 0.0, 1.0)
        # Where both bounds are felt, and where nothing is told.
        if np.any(self.errors > min(TOLD, 0.5 / z)):
            errors = np.broadcast_to(self.errors, low.shape)
            untold = errors > TOLD
            wide = (2 * z * errors > 1.0) & ~untold
            low[wide], high[wide] = self._between_bounds(values, wide, level)
            low, high = np.where(untold, 0.0, low), np.where(untold, 1.0, high)
        # Where nothing is uncertain the two ends are one, up to rounding.
        return low, np.maximum(low, np.clip(high, 0.0, 1.0))

    def _from_zero(
        self, values: Floats, low: Floats, high: Floats, level: float
    ) -> tuple[Floats, Floats]:
        """The lower end, and the upper end of estimates below 0, of a share that is at least 0."""
        z = quantile(level)
        error = np.sqrt(np.maximum(self._variance_at_zero(values), 0.0))
        felt = np.flatnonzero(low < z * error)  # where the bound is
        if not felt.size:
            return np.maximum(low, 0.0), high
        near: Cells = slice(None) if felt.size == values.size else felt
        reach, limits = one_bound(level, z)
        own = self._pick(near, values.shape)
        value, low, limit = values[near], low.copy(), high.copy()

        def end(some: Cells, far: Floats) -> Floats:
            part = own._pick(some, value.shape)
            # Few reports vary more upwards than downwards (Cornish and Fisher's term).
            skew = np.maximum(part.slope, 0.0) * np.maximum(far**2 - 1.0, 0.0) / 6
            return np.asarray(value[some] + part._end(-1.0, far) - skew)

        low[near] = lower_ends(low[near], np.maximum(error[near], 1e-300), reach, end)
        below = np.flatnonzero(values < 0.0)
        up = np.maximum((high[below] - values[below]) / z, 1e-300)
        limit[below] = up * np.interp(values[below] / up, *limits)
        return np.maximum(low, 0.0), limit

    def _variance_at_zero(self, values: Floats) -> Floats:
        slope, bend = np.asarray(self.slope), np.asarray(self.bend)
        change = -slope * values + bend * values**2
        return np.asarray(self.variance + (np.maximum(change, 0.0) if self.outward else change))

    def _between_bounds(
        self, values: Floats, wide: NDArray[np.bool_], level: float
    ) -> tuple[Floats, Floats]:
        known = (
            np.broadcast_to(of, wide.shape) for of in (values, self.variance, self.slope, self.bend)
        )
        value, variance, slope, bend = (of[wide] for of in known)

        def variance_at(truth: Floats) -> Floats:
            change = slope * (truth - value) + bend * (truth - value) ** 2
            return np.asarray(variance + (np.maximum(change, 0.0) if self.outward else change))

        return between_bounds(value, variance_at, level)


@dataclass(frozen=True, eq=False)
class KnownZeros:
    """The error of shares of which some are 0 for sure: no respondent can be in them."""

    of: Spread
    impossible: NDArray[np.bool_]

    @property
    def variance(self) -> Floats:
        return np.where(self.impossible, 0.0, self.of.variance)

    @property
    def errors(self) -> Floats:
        return np.where(self.impossible, 0.0, self.of.errors)

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        return self._zero_impossible(self.of.plain(values, level))

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        return self._zero_impossible(self.of.interval(values, level))

    def _zero_impossible(self, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        low, high = (np.where(self.impossible, 0.0, end) for end in ends)
        return low, high


def known_zeros(spread: Spread, impossible: NDArray[np.bool_]) -> Spread:
    """The spread itself where nothing is impossible."""
    return KnownZeros(spread, impossible) if impossible.any() else spread


@dataclass(frozen=True, eq=False)
class Bounds:
    """Shares that reports cannot tell beyond bounds: how the attributes are associated is unknown.

    `ends` gives the bounds at a level, as the shares they are made of are uncertain too. The
    standard error is that of a value anywhere between the 95 % bounds.
    """

    ends: Callable[[float], tuple[Floats, Floats]]

    @property
    def variance(self) -> Floats:
        return self.errors**2

    @property
    def errors(self) -> Floats:
        low, high = self.ends(0.95)
        return np.asarray((high - low) / np.sqrt(12.0))

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        low, high = self.ends(level)
        return np.minimum(low, values), np.maximum(high, values)

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        low, high = self.plain(values, level)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
