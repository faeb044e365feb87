"""The mean of a number over a group: a ratio of sums of shares, with Fieller's interval.

The mean of a number over a group of respondents is

    m = sum_x c_x p_x / sum_x p_x,

where p_x is the share of those in the group whose answer is x, and c_x the number it stands for. A
share is the case in which the scores are 0 and 1; top and bottom are linear in the shares, so their
covariance is L C L' with C that of the shares, and the interval is Fieller's. Where everybody is in
the group the bottom is 1 for sure, and Fieller's interval is the plain one.

Bins tell a number up to the ends of its bin. With lower ends as scores the mean is l, with upper
ends u, and all between is possible. The interval of Imbens and Manski (Econometrica 72, 2004) holds
the mean wherever it lies there, with the probability asked for: from l less C errors to u plus C
errors, where

    Phi(C + (u - l) / error) - Phi(-C) = level.

With u = l it is the usual interval; with u far above l each end is one-sided.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from castell.inference.intervals import quantile
from castell.inference.shares import Interval, Shares, error_unless_untold, fieller, shorter
from castell.inference.student_t import student_quantile
from castell.linear.operators import Floats

_NORMAL = NormalDist()


@dataclass(frozen=True, eq=False)
class GroupMean:
    """The shares of a group's answers, estimated together; `everybody`: they sum to 1 for sure."""

    shares: Shares
    everybody: bool

    def value(self, scores: Floats) -> float:
        """The mean of the scores; none can be told of a group that is estimated as empty."""
        return self._ratio(scores, self.shares.values)

    def standard_error(self, scores: Floats) -> float:
        """By the delta method; not a number where too few are in the group to tell."""
        error = self._first_order(scores)
        if self.everybody:
            return error
        widest = float(scores.min()), float(scores.max())
        return error_unless_untold(error, self.interval(scores, 0.95), widest, quantile(0.95))

    def _first_order(self, scores: Floats) -> float:
        """The error of sum (c_x - m) p_x, over the bottom."""
        mean = self.value(scores)
        if mean != mean:
            return mean
        weights = scores if self.everybody else scores - mean
        bottom = 1.0 if self.everybody else float(self.shares.values.sum())
        return float(np.sqrt(self.shares.variance(weights))) / bottom

    def interval(self, scores: Floats, level: float) -> Interval:
        """A confidence interval of the mean, inside the range of the scores."""
        quantile(level)
        least, most = float(scores.min()), float(scores.max())
        if not self.shares.covariances:
            return self._extremes(scores, level)
        low, high = shorter(lambda at: self._intervals(scores, at), level)
        return min(max(low, least), most), max(min(high, most), least)

    def between(self, lower: Floats, upper: Floats, level: float) -> Interval:
        """A confidence interval of a mean whose scores are known up to bounds (Imbens, Manski)."""
        z = quantile(level)
        width = self.value(upper) - self.value(lower)
        error = max(self._first_order(lower), self._first_order(upper))
        reach = one_sided(max(width, 0.0) / error, level) if error > 0.0 else z
        each = 2.0 * _NORMAL.cdf(reach) - 1.0
        return self.interval(lower, each)[0], self.interval(upper, each)[1]

    def _ratio(self, scores: Floats, shares: Floats) -> float:
        bottom = 1.0 if self.everybody else float(shares.sum())
        mean = float(scores @ shares) / bottom if bottom > 0.0 else float("nan")
        # A group that is nearly empty has a mean all the same, inside the scores.
        return mean if self.everybody else float(np.clip(mean, scores.min(), scores.max()))

    def _intervals(self, scores: Floats, level: float) -> list[Interval]:
        z = student_quantile(level, self.shares.freedom)
        middle = float(scores.min() + scores.max()) / 2
        # About the middle of the scores: ratios of small numbers lose fewer digits.
        top = scores - middle
        both = np.array([top, np.zeros(len(top)) if self.everybody else np.ones(len(top))])

        def ends(shares: Floats, covariance: Floats) -> Interval:
            found = both @ shares
            if self.everybody:
                found = np.array([float(scores @ shares) - middle, 1.0])
            low, high = fieller(found, both @ covariance @ both.T, z)
            return low + middle, high + middle

        mine = [ends(self.shares.values, c) for c in self.shares.covariances]
        found = [(min(low for low, _ in mine), max(high for _, high in mine))]
        if self.shares.unbiased is not None:
            other, mean = self.shares.unbiased, self.value(scores)
            low, high = ends(other.values, other.covariance)
            found.append((min(low, mean), max(high, mean)))
        return found

    def _extremes(self, scores: Floats, level: float) -> Interval:
        """Of shares known up to bounds only: the least and the largest mean they leave open.

        The most is had with the upper bounds of all scores above some place, the lower of others.
        """
        low, high = self.shares.spread.interval(self.shares.values, level)
        ends = []
        for sign in (-1.0, 1.0):
            order = np.argsort(-sign * scores)
            means = []
            for many in range(len(scores) + 1):
                shares = low.copy()
                shares[order[:many]] = high[order[:many]]
                if (total := float(shares.sum())) > 0.0:
                    means.append(float(scores @ shares) / total)
            ends.append(max(means, key=lambda mean: sign * mean, default=sign * np.inf))
        least, most = float(scores.min()), float(scores.max())
        return max(ends[0], least), min(ends[1], most)


def one_sided(width: float, level: float) -> float:
    """Imbens and Manski's C, for bounds so many errors apart.

    >>> round(one_sided(0.0, 0.95), 4), round(one_sided(50.0, 0.95), 4)
    (1.96, 1.6449)
    """
    least, most = _NORMAL.inv_cdf(level), quantile(level)
    for _ in range(60):
        middle = (least + most) / 2
        enough = _NORMAL.cdf(middle + width) - _NORMAL.cdf(-middle) >= level
        least, most = (least, middle) if enough else (middle, most)
    return most
