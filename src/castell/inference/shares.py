"""Shares that were estimated together: each with its interval, and what can be made of several.

A difference and a conditional share are combinations of shares that err together, so their error
is read off the covariance. A share over several groups of attributes is a product: cut along the
groups, measured, multiplied. No table is built. The pieces are measured in every sample of
respondents that reported them, each with its weight; samples are of different people, so their
covariances add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, nan, prod, sqrt

import numpy as np

from castell.counting import Counts, evenly_spread, samples_of, samples_with
from castell.inference.intervals import Normal, Spread, known_zeros
from castell.inference.inversion import Groups, restrict, wilson
from castell.inference.pooled_table import sources
from castell.inference.queries import (
    Cells,
    Query,
    measure,
    moment_slopes,
    names_of,
    smooth_covariance,
)
from castell.inference.reasons import Reason, Reasons
from castell.inference.shorter_interval import lengthen_to_contain, shortest, two_sided
from castell.inference.student_t import student_quantile
from castell.linear.operators import Floats

Interval = tuple[float, float]
# Whether an error is told is judged by intervals of this level.
_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Unbiased:
    """Unbiased estimates of the same shares, their covariance, one over the number of reports
    behind them, and the spread of each."""

    values: Floats
    covariance: Floats
    one_over_n: float = 0.0
    spread: Spread | None = None


@dataclass(frozen=True, eq=False)
class Shares:
    """Estimated shares, the error of each, and how they err together.

    `covariances` are possible ones: the variance of a combination is the largest they give. There
    is none where shares are known up to bounds only; combinations are then too. Where there is an
    `unbiased` estimate of the same shares, its interval is used if it is shorter.
    """

    values: Floats
    spread: Spread
    covariances: tuple[Floats, ...]
    reasons: tuple[Reason, ...] = ()
    unbiased: Unbiased | None = None
    # One over the number of reports that the shares are estimated from, where that is known.
    one_over_n: float = 0.0
    # Whether variances are at least those at the estimate, whatever the truth: those of a model.
    outward: bool = False
    # Which of them are 0 for sure; none if nothing is said.
    impossible: tuple[bool, ...] = ()
    # Degrees of freedom of the covariances; few where respondents were sampled in few clusters.
    freedom: float = inf

    def with_zeros(self, impossible: Sequence[bool]) -> Shares:
        """The same, where some shares are 0 for sure and so do not err."""
        if not any(impossible):
            return self
        sure = np.array(impossible)
        kept = np.outer(~sure, ~sure)
        other = self.unbiased
        if other is not None:
            spread = None if other.spread is None else known_zeros(other.spread, sure)
            values, covariance = np.where(sure, 0.0, other.values), other.covariance * kept
            other = replace(other, values=values, covariance=covariance, spread=spread)
        return replace(
            self,
            values=np.where(sure, 0.0, self.values),
            spread=known_zeros(self.spread, sure),
            covariances=tuple(covariance * kept for covariance in self.covariances),
            unbiased=other,
            impossible=tuple(impossible),
        )

    def with_reports_of(self, other: Shares) -> Shares:
        """The same, with variances that go along with the truth as those of others do."""
        unbiased, known = self.unbiased, other.unbiased or other
        if unbiased is not None:
            unbiased = replace(unbiased, one_over_n=known.one_over_n)
        return replace(self, one_over_n=other.one_over_n, outward=other.outward, unbiased=unbiased)

    @classmethod
    def from_replicates(
        cls, values: Floats, replicates: Floats, reasons: tuple[Reason, ...] = ()
    ) -> Shares:
        """From parametric bootstrap replicates, a row of estimates for each simulated collection:
        their mean square about the values."""
        apart = replicates - values
        covariance = apart.T @ apart / max(len(replicates) - 1, 1)
        return cls(values, Normal(np.diag(covariance).copy()), (covariance,), reasons)

    def because(self, *reasons: Reason) -> Shares:
        return replace(self, reasons=reasons)

    def variance(self, weights: Floats) -> float:
        """The variance of a weighted sum of the shares."""
        if not self.covariances:
            return float(np.abs(weights) @ self.spread.errors) ** 2
        mine = max(_quadratic(c, weights) for c in self.covariances)
        if self.unbiased is None:
            return mine
        return min(mine, _quadratic(self.unbiased.covariance, weights))

    @property
    def ratio(self) -> float:
        """The first share over the second; not a number where that is estimated as 0 or below."""
        if self.values[1] <= 0.0:
            return nan
        return min(max(float(self.values[0] / self.values[1]), 0.0), 1.0)

    def ratio_error(self) -> float:
        """Of a ratio t: that of first - t second, over the second (the delta method); not a number
        where the group is not told."""
        if (ratio := self.ratio) != ratio:
            return nan
        error = sqrt(self.variance(np.array([1.0, -ratio]))) / float(self.values[1])
        z = student_quantile(_LEVEL, self.freedom)
        return error_unless_untold(error, self.ratio_interval(_LEVEL), (0.0, 1.0), z)

    def ratio_interval(self, level: float) -> Interval:
        """A confidence interval of the first share over the second, one of those it is part of.

        Fieller's: all ratios t for which first - t second is not further from 0 than its error.
        Where the second share may be 0, that is no interval, and any ratio is possible.
        """
        if self.impossible and self.impossible[0] and not self.impossible[1]:
            return 0.0, 0.0
        if not self.covariances:
            return self._ratio_of_ends(level)
        return shorter(self._ratio_intervals, level)

    def _ratio_of_ends(self, level: float) -> Interval:
        """From the intervals of the two shares, end by end: as if they erred together at worst."""
        ends = self.spread.interval(self.values, level)
        (least, below), (most, above) = ((float(e[0]), float(e[1])) for e in ends)
        return least / above if above else 0.0, min(1.0, most / below) if below else 1.0

    def _ratio_intervals(self, level: float) -> list[Interval]:
        z = student_quantile(level, self.freedom)
        ratio = float(self.values[0] / self.values[1]) if self.values[1] > 0.0 else 0.5
        # The variance of a model's ratio goes along with the truth too, but never falls.
        rates = {0.0, self.one_over_n} if self.outward else {self.one_over_n}
        mine = [fieller(self.values, c, z, rate) for c in self.covariances for rate in rates]
        found = [(min(low for low, _ in mine), max(high for _, high in mine))]
        if self.unbiased is not None:
            other = self.unbiased

            def unbiased(at: float) -> Interval:
                reach = student_quantile(at, self.freedom)
                return fieller(other.values, other.covariance, reach, other.one_over_n)

            found.append(contain(ratio, unbiased(level), lambda: unbiased(two_sided(level))))
            # What is known of the two shares may be more, as where their margins bound them.
            found.append(self._ratio_of_ends(level))
        # The shorter one is that of fewer possible ratios.
        return [(min(max(low, 0.0), 1.0), max(min(high, 1.0), 0.0)) for low, high in found]


def error_unless_untold(error: float, ends: Interval, widest: Interval, z: float) -> float:
    """A standard error to first order, unless the interval at 95 % rules nothing out that the error
    would: then the first order is not enough, and the error is not known.

    >>> error_unless_untold(0.3, (0.0, 1.0), (0.0, 1.0), 1.96)
    0.3
    >>> error_unless_untold(0.0, (0.0, 1.0), (0.0, 1.0), 1.96)
    nan
    """
    rules_nothing_out = ends[0] <= widest[0] and ends[1] >= widest[1]
    return nan if rules_nothing_out and 2.0 * z * error < widest[1] - widest[0] else error


def shorter(intervals: Callable[[float], list[Interval]], level: float) -> Interval:
    """The shortest of some intervals of a single number (`shortest`)."""
    low, high = shortest(lambda at: [_arrays(each) for each in intervals(at)], level)
    return float(low), float(high)


def _arrays(of: Interval) -> tuple[Floats, Floats]:
    return np.asarray(of[0]), np.asarray(of[1])


def contain(value: float, ends: Interval, limits: Callable[[], Interval]) -> Interval:
    """An unbiased interval made to contain a biased estimate, of a single number."""
    low, high = lengthen_to_contain(np.asarray(value), _arrays(ends), lambda: _arrays(limits()))
    return float(low), float(high)


def _quadratic(covariance: Floats, weights: Floats) -> float:
    return max(float(weights @ covariance @ weights), 0.0)


def fieller(values: Floats, covariance: Floats, z: float, one_over_n: float = 0.0) -> Interval:
    """Where (a - t b)^2 <= z^2 Var(a - t b).

    The variance is that of t, as in Wilson's interval: of those in the group b, supposed t answer
    a, which adds (b t (1 - t) - a (1 - t)^2 - (b - a) t^2) / n to what was estimated. It is 0 at
    t = a / b, and keeps an interval from shrinking to a point where all of a few answered alike.

    >>> low, high = fieller(np.array([0.2, 0.5]), np.zeros((2, 2)), 2.0)
    >>> round(low, 9), round(high, 9)
    (0.4, 0.4)
    """
    a, b = (float(value) for value in values)
    one, both, two = (float(c) for c in (covariance[0, 0], covariance[0, 1], covariance[1, 1]))
    whole = min(max(b, 0.0), 1.0)
    part = min(max(a, 0.0), whole)
    one -= one_over_n * part
    both -= one_over_n * (whole + 2.0 * part) / 2
    two -= one_over_n * 2.0 * whole
    square, middle, constant = b * b - z * z * two, a * b - z * z * both, a * a - z * z * one
    inside = middle * middle - square * constant
    # A group estimated as empty, or below: noise alone made it so, and no ratio is told.
    if square <= 0.0 or b <= 0.0:
        return -inf, inf
    reach = sqrt(max(inside, 0.0))
    return (middle - reach) / square, (middle + reach) / square


@dataclass(frozen=True, eq=False)
class Pieces:
    """Product queries cut along groups of attributes: a share is the product of its pieces."""

    queries: tuple[Query, ...]
    of: tuple[tuple[int, ...], ...]  # which pieces make each share

    @classmethod
    def cut(cls, queries: Sequence[Query], groups: Groups) -> Pieces:
        pieces: list[Query] = []
        of = []
        for query in queries:
            own = [{a: query[a] for a in group} for group in restrict(groups, tuple(query))]
            of.append(tuple(range(len(pieces), len(pieces) + len(own))))
            pieces += own
        return cls(tuple(pieces), tuple(of))

    def multiply(self, values: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """The shares and their covariance, to first order, from those of the pieces."""
        slopes = np.zeros((len(self.of), len(values)))
        for i, own in enumerate(self.of):
            for piece in own:
                slopes[i, piece] = prod(values[k] for k in own if k != piece)
        shares = np.array([prod(values[k] for k in own) for own in self.of])
        return shares, slopes @ covariance @ slopes.T

    def shares(self, values: Floats, covariance: Floats, pieces: Normal) -> Shares:
        """The shares, from estimates of the pieces and the spread of each."""
        found, covariance = self.multiply(values, covariance)
        variance = np.maximum(np.diag(covariance), 0.0)
        # A share of one piece keeps the slope of it; that of a product is not known.
        alone = np.array([len(own) == 1 for own in self.of])
        first = [own[0] for own in self.of]
        slope, bend = (
            np.where(alone, np.broadcast_to(part, values.shape)[first], 0.0)
            for part in (pieces.slope, pieces.bend)
        )
        one_over_n = float(-bend.min()) if alone.all() else 0.0
        return Shares(found, Normal(variance, slope, bend), (covariance,), one_over_n=one_over_n)


def answer_shares(
    counts: Counts, groups: Groups, target: str, reasons: Reasons, queries: Sequence[Query]
) -> Shares:
    """Product queries, with their error and the reasons for it."""
    return product_shares(counts, queries, groups, target).because(*reasons(names_of(queries)))


def product_shares(counts: Counts, queries: Sequence[Query], groups: Groups, target: str) -> Shares:
    """Product queries, with their error, from the reports themselves."""
    pieces = Pieces.cut(queries, groups)
    many = len(pieces.queries)
    values, slope, bend = np.zeros(many), np.zeros(many), np.zeros(many)
    covariance = np.zeros((many, many))
    homes = _homes(counts, restrict(groups, names_of(queries)), pieces.queries)
    several = len(samples_of(counts)) > 1
    for source in sources(counts, list(dict.fromkeys(homes))):
        mine = [k for k, home in enumerate(homes) if home in source.weights]
        asked = [pieces.queries[k] for k in mine]
        weights = np.array([source.weights[homes[k]] for k in mine])
        cells = _measure(source.reports, asked, target, few=several)
        spread = wilson(
            cells.values,
            np.zeros(1),
            moment_slopes(source.reports, asked, cells.n),
            cells.n,
            target,
        )
        values[mine] += weights * cells.values
        covariance[np.ix_(mine, mine)] += np.outer(weights, weights) * cells.covariance
        slope[mine] += weights**2 * spread.slope
        bend[mine] += weights**2 * spread.bend
    return pieces.shares(values, covariance, Normal(np.diag(covariance), slope, bend))


def _measure(sample: Counts, queries: Sequence[Query], target: str, *, few: bool) -> Cells:
    """Pieces in one sample; of several, one may be so small that it shows too little variance.

    Not so one that holds several blocks that are randomised: it is a study of its own.
    """
    cells = measure(sample, queries, target)
    if not few or len(sample.study.design.hidden) > 1:
        return cells
    return smooth_covariance(cells, measure(evenly_spread(sample), queries, target))


def _homes(counts: Counts, groups: Groups, queries: Sequence[Query]) -> list[tuple[str, ...]]:
    """Whose reports answer each query: of all attributes asked for, or of its own.

    Shares that are asked for together, such as a group and a part of it, come from the same reports
    where some hold all of them, so that they agree.
    """
    whole = [tuple(g) for g in groups if any(s.n for s in samples_with(counts, g))]
    return [next((g for g in whole if set(q) <= set(g)), tuple(q)) for q in queries]
