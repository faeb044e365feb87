"""Intervals of weighted sums of shares that err together, such as a difference.

Each share has an interval of its own, which knows that its variance goes along with the truth
(Wilson's idea). MOVER, the method of variance estimates recovery (Zou and Donner 2008; Newcombe
1998 for differences), carries that over to a sum. With the distances a_i of the shares from those
ends of their intervals that lower the sum, and correlations r_ik,

    lower end = sum - sqrt(sum_ik w_i w_k r_ik a_i a_k),

and likewise above. Where an estimated error is next to nothing beside the interval of its share
(all of a few answered alike) the correlation is not known either, and the worst one is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isfinite, sqrt

import numpy as np

from castell.inference.intervals import Normal, Spread, quantile
from castell.inference.shares import Interval, Shares, contain, shorter
from castell.inference.shorter_interval import model_only, two_sided
from castell.inference.student_t import student_quantile
from castell.linear.operators import Floats

# An error below this share of what the interval of its share allows for tells no correlation.
_TELLING = 0.1


def sum_interval(shares: Shares, weights: Floats, level: float) -> Interval:
    """A confidence interval of a weighted sum of shares, inside its range."""
    if not shares.covariances:
        return _sum_of_ends(shares, weights, level)
    return shorter(partial(_intervals, shares, weights), level)


def _sum_of_ends(shares: Shares, weights: Floats, level: float) -> Interval:
    """MOVER with the worst correlations: from the intervals of all shares, end by end."""
    low, high = shares.spread.interval(shares.values, level)
    ends = np.sort([weights * low, weights * high], axis=0)
    return float(ends[0].sum()), float(ends[1].sum())


def _intervals(shares: Shares, weights: Floats, level: float) -> list[Interval]:
    """The estimate's own interval, and that of the unbiased one, made to contain it."""
    value, own = float(weights @ shares.values), model_only(shares.spread)
    each = [
        _ends(Estimate(shares.values, own, covariance, shares.freedom), weights, level)
        for covariance in shares.covariances
    ]
    found = [_clip_to_range((min(low for low, _ in each), max(high for _, high in each)), weights)]
    if shares.unbiased is not None:
        other = shares.unbiased
        spread = other.spread or Normal(np.diag(other.covariance).copy())
        unbiased = Estimate(other.values, spread, other.covariance, shares.freedom)

        def limits() -> Interval:
            # One-sided; an interval beside a bound has spent the chance of both its ends on one.
            return _clip_to_range(
                _ends(unbiased, weights, two_sided(level), bounded=False), weights
            )

        found.append(
            contain(value, _clip_to_range(_ends(unbiased, weights, level), weights), limits)
        )
        # What is known of single shares may be more, as where their margins bound them.
        found.append(_sum_of_ends(shares, weights, level))
    return found


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated shares, the error of each and how they err together."""

    values: Floats
    spread: Spread
    covariance: Floats
    freedom: float


def _ends(of: Estimate, weights: Floats, level: float, *, bounded: bool = True) -> Interval:
    """MOVER's, from intervals of the shares inside [0, 1] or from plain ones."""
    if isfinite(of.freedom):
        # Few clusters: the error of the sum itself is estimated with so many degrees of freedom.
        variance = max(float(weights @ of.covariance @ weights), 0.0)
        middle, reach = weights @ of.values, student_quantile(level, of.freedom) * sqrt(variance)
        return float(middle - reach), float(middle + reach)
    values = np.clip(of.values, 0.0, 1.0) if bounded else of.values
    low, high = (of.spread.interval if bounded else of.spread.plain)(of.values, level)
    down, up = np.maximum(values - low, 0.0), np.maximum(high - values, 0.0)
    correlation = _correlation(of.covariance, quantile(level), (down + up) / 2, weights)
    ends = []
    for sign in (-1.0, 1.0):
        along = weights * np.where(sign * weights > 0.0, up, down)
        reach = sqrt(max(float(along @ correlation @ along), 0.0))
        ends.append(float(weights @ values) + sign * reach)
    return ends[0], ends[1]


def _correlation(covariance: Floats, z: float, allowed: Floats, weights: Floats) -> Floats:
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    told = (z * error >= _TELLING * allowed) & (error > 0.0)
    known = np.outer(told, told)
    found = np.sign(np.outer(weights, weights))  # the worst
    found[known] = np.clip((covariance[known] / np.outer(error, error)[known]), -1.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found


def _range(weights: Floats) -> Interval:
    return float(weights[weights < 0.0].sum()), float(weights[weights > 0.0].sum())


def _clip_to_range(ends: Interval, weights: Floats) -> Interval:
    least, most = _range(weights)
    low, high = (min(max(end, least), most) for end in ends)
    return low, high
