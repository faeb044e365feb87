"""Effect measures of two groups: risk difference, relative risk and odds ratio, with their errors.

Of shares x = (a, b, c, d), those with an answer in a group (a) and the group (b), and the same in
another (c, d), all estimated together, every measure is N(x) / D(x) with quadratic forms N and D:

    difference      a / b - c / d               N = a d - c b    D = b d
    relative risk   (a / b) / (c / d)           N = a d          D = c b
    odds ratio      (a / (b - a)) / (c / (d - c))   N = a (d - c)   D = c (b - a)

The error follows by the delta method, of the logarithm where the quotient is a ratio. It fails
where D, or of a ratio N, may be 0. There the interval is Fieller's: all t for which N - t D is not
further from 0 than its error. That set may be unbounded, and then so is the interval. The shares
and variances it starts from are those in the middle of Wilson's intervals: a share that happened to
be 0 is not known without error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import exp, inf, isfinite, log, nan, sqrt

import numpy as np

from castell.inference.intervals import Spread, quantile
from castell.inference.shares import Interval, Shares, shorter
from castell.inference.student_t import student_quantile, student_tail
from castell.linear.operators import Floats

# The delta method is used while the relative error of what must not be 0 is below this.
MOST_RELATIVE_ERROR = 1 / 3


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """A quadratic form of shares, x' Q x."""

    matrix: Floats

    @classmethod
    def product(cls, one: Floats, two: Floats) -> QuadraticForm:
        """The product of two weighted sums of the shares."""
        whole = np.multiply.outer(one, two)
        return cls((whole + whole.T) / 2)

    def __sub__(self, other: QuadraticForm) -> QuadraticForm:
        return QuadraticForm(self.matrix - other.matrix)

    def value(self, shares: Floats) -> float:
        return float(shares @ self.matrix @ shares)

    def slopes(self, shares: Floats) -> Floats:
        return np.asarray(2.0 * self.matrix @ shares)


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimates of some shares as far as a quotient of them needs: values, error, intervals."""

    values: Floats
    spread: Spread | None
    covariances: tuple[Floats, ...]
    freedom: float = inf  # of the covariances

    def from_the_middle(self) -> Estimate:
        """The middles of Wilson's intervals, and variances that reach as far; correlations stay."""
        if self.spread is None:
            return self
        low, high = self.spread.plain(self.values, 0.95)
        reach = (high - low) / (2 * student_quantile(0.95, self.freedom))
        found = []
        for covariance in self.covariances:
            errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
            known = errors > 0.0
            scale = np.where(known, reach / np.where(known, errors, 1.0), 0.0)
            wider = np.outer(scale, scale) * covariance
            wider[~known, ~known] = reach[~known] ** 2
            found.append(wider)
        return Estimate((low + high) / 2, None, tuple(found), self.freedom)


@dataclass(frozen=True, eq=False)
class EffectMeasure:
    """One quadratic form over another; a ratio, that cannot be below 0, or a difference."""

    top: QuadraticForm
    bottom: QuadraticForm
    is_ratio: bool
    # The same of the two shares among their groups: it grows with the first, falls with the second.
    compare: Callable[[float, float], float]
    least: float = 0.0
    most: float = inf

    # -- the estimate ----------------------------------------------------------------------------

    def value(self, shares: Shares) -> float:
        """Not a number where the bottom is not above 0."""
        return self._value(shares.values)

    def _value(self, values: Floats) -> float:
        top, bottom = self.top.value(values), self.bottom.value(values)
        if bottom <= 0.0:
            return nan
        return min(max(top / bottom, self.least), self.most)

    def standard_error(self, shares: Shares) -> float:
        """By the delta method, of the quotient itself."""
        value = self.value(shares)
        if not isfinite(value):
            return nan
        bottom = self.bottom.value(shares.values)
        slopes = self.top.slopes(shares.values) - value * self.bottom.slopes(shares.values)
        return sqrt(shares.variance(slopes)) / bottom

    # -- its interval ----------------------------------------------------------------------------

    def interval(self, shares: Shares, level: float) -> Interval:
        """The estimate's own, or that of the unbiased estimate of the same shares if shorter."""
        quantile(level)
        if not shares.covariances:
            return self._bounds(shares, level)
        return shorter(partial(self._intervals, shares), level)

    def _bounds(self, shares: Shares, level: float) -> Interval:
        """Where shares are known up to bounds only: all that these leave open (Bonferroni)."""
        low, high = shares.spread.interval(shares.values, 1.0 - (1.0 - level) / len(shares.values))
        least, most = (
            [float(one[k] / two[k + 1]) if two[k + 1] > 0.0 else empty for k in (0, 2)]
            for one, two, empty in ((low, high, 0.0), (high, low, 1.0))
        )
        p, q = least, [min(one, 1.0) for one in most]
        return self.compare(p[0], q[1]), self.compare(q[0], p[1])

    def _intervals(self, shares: Shares, level: float) -> list[Interval]:
        value = self.value(shares)
        own, *more = _estimates(shares)
        found = [self._interval(own, level)]
        for other in more:
            low, high = self._interval(other, level)
            if isfinite(value):
                low, high = min(low, value), max(high, value)
            found.append((low, high))
        return found

    def p_value(self, shares: Shares) -> float:
        """How surprising the estimate is if the groups do not differ; two-sided.

        Of a model's shares and the unbiased ones, by that whose interval is used.
        """
        if not shares.covariances:
            return nan
        found = self._intervals(shares, 0.95)
        widths = [high - low for low, high in found]
        return self._p_value(_estimates(shares)[widths.index(min(widths))])

    def _p_value(self, of: Estimate) -> float:
        null = 1.0 if self.is_ratio else 0.0
        if self._is_far_from_zero(of):
            value, error = self._value(of.values), self._error(of)
            apart = log(value) if self.is_ratio else value
            error = error / value if self.is_ratio else error
        else:
            of = of.from_the_middle()
            apart = self.top.value(of.values) - null * self.bottom.value(of.values)
            slopes = self.top.slopes(of.values) - null * self.bottom.slopes(of.values)
            error = sqrt(_largest(of.covariances, slopes))
        if error == 0.0:
            return 1.0 if apart == 0.0 else 0.0
        return student_tail(apart / error, of.freedom)

    def _error(self, of: Estimate) -> float:
        value = self._value(of.values)
        slopes = self.top.slopes(of.values) - value * self.bottom.slopes(of.values)
        return sqrt(_largest(of.covariances, slopes)) / self.bottom.value(of.values)

    def _is_far_from_zero(self, of: Estimate) -> bool:
        forms = (self.top, self.bottom) if self.is_ratio else (self.bottom,)
        for form in forms:
            value = form.value(of.values)
            error = sqrt(_largest(of.covariances, form.slopes(of.values)))
            if value <= 0.0 or error > MOST_RELATIVE_ERROR * value:
                return False
        return True

    def _interval(self, of: Estimate, level: float) -> Interval:
        z = student_quantile(level, of.freedom)
        if self._is_far_from_zero(of):
            value, error = self._value(of.values), self._error(of)
            if self.is_ratio:
                factor = exp(min(z * error / value, 700.0))
                return value / factor, value * factor
            low, high = value - z * error, value + z * error
        else:
            value, middle = self._value(of.values), of.from_the_middle()
            ends = [self._fieller(middle.values, c, z) for c in middle.covariances]
            low, high = min(end[0] for end in ends), max(end[1] for end in ends)
            if isfinite(value):
                low, high = min(low, value), max(high, value)
        return min(max(low, self.least), self.most), min(max(high, self.least), self.most)

    def _fieller(self, values: Floats, covariance: Floats, z: float) -> Interval:
        """All t with (N - t D)^2 <= z^2 Var(N - t D), as far as t can be."""
        one, two = self.top.slopes(values), self.bottom.slopes(values)
        top, bottom = self.top.value(values), self.bottom.value(values)
        square = bottom**2 - z * z * float(two @ covariance @ two)
        middle = top * bottom - z * z * float(one @ covariance @ two)
        constant = top**2 - z * z * float(one @ covariance @ one)
        inside = middle * middle - square * constant
        if square > 0.0:
            reach = sqrt(max(inside, 0.0))
            return (middle - reach) / square, (middle + reach) / square
        if inside <= 0.0 or square == 0.0:
            return self.least, self.most
        # The set is all but what lies between the roots; of a ratio the part below 0 is not there.
        ends = sorted(((middle - sqrt(inside)) / square, (middle + sqrt(inside)) / square))
        low = ends[1] if ends[0] < self.least else self.least
        high = ends[0] if ends[1] > self.most else self.most
        return low, high


def _estimates(shares: Shares) -> list[Estimate]:
    """The estimate, and the unbiased one of the same shares."""
    found = [Estimate(shares.values, shares.spread, shares.covariances, shares.freedom)]
    if (other := shares.unbiased) is not None:
        found.append(Estimate(other.values, other.spread, (other.covariance,), shares.freedom))
    return found


def _largest(covariances: tuple[Floats, ...], weights: Floats) -> float:
    return max(max(float(weights @ c @ weights), 0.0) for c in covariances)


def _ratio(one: float, two: float) -> float:
    """One over another; of nothing over nothing nothing is known, so it is no bound."""
    if two > 0.0:
        return one / two
    return inf if one > 0.0 else 0.0


def _odds(share: float) -> float:
    return _ratio(share, 1.0 - share)


def _odds_ratio(one: float, two: float) -> float:
    other = _odds(two)
    return 0.0 if other == inf else _ratio(_odds(one), other)


_A, _B, _C, _D = np.eye(4)

# Of the shares: with the answer in a group, the group; the same in another.
DIFFERENCE = EffectMeasure(
    QuadraticForm.product(_A, _D) - QuadraticForm.product(_C, _B),
    QuadraticForm.product(_B, _D),
    is_ratio=False,
    compare=lambda one, two: one - two,
    least=-1.0,
    most=1.0,
)
RELATIVE_RISK = EffectMeasure(
    QuadraticForm.product(_A, _D), QuadraticForm.product(_C, _B), is_ratio=True, compare=_ratio
)
ODDS_RATIO = EffectMeasure(
    QuadraticForm.product(_A, _D - _C),
    QuadraticForm.product(_C, _B - _A),
    is_ratio=True,
    compare=_odds_ratio,
)
