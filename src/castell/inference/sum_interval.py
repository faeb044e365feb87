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

from functools import partial
from math import isfinite, sqrt

import numpy as np

from castell.inference.intervals import Normal, Spread, quantile
from castell.inference.shares import Interval, Shares, shorter
from castell.inference.shorter_interval import containing, model_only, two_sided
from castell.inference.student import student_quantile
from castell.linear.operators import Floats

# An error below this share of what the interval of its share allows for tells no correlation.
_TELLING = 0.1
# What is beyond the range of a sum by rounding alone.
_ROUNDING = 1e-6


def sum_interval(shares: Shares, weights: Floats, level: float) -> Interval:
    """A confidence interval of a weighted sum of shares, inside its range."""
    if not shares.covariances:
        low, high = shares.spread.interval(shares.values, level)
        ends = np.sort([weights * low, weights * high], axis=0)
        return float(ends[0].sum()), float(ends[1].sum())
    return shorter(partial(_intervals, shares, weights), level)


def _intervals(shares: Shares, weights: Floats, level: float) -> list[Interval]:
    """The estimate's own interval, and that of the unbiased one, made to contain it."""
    value = float(weights @ shares.values)
    own = model_only(shares.spread)
    each = [
        _recovered(shares.values, own, covariance, weights, level, shares.freedom)
        for covariance in shares.covariances
    ]
    widest = min(low for low, _ in each), max(high for _, high in each)
    found = [_inside(value, widest, weights, level)]
    if shares.unbiased is not None:
        other = shares.unbiased
        spread = other.spread or Normal(np.diag(other.covariance).copy())

        def plain(at: float) -> Interval:
            return _recovered(other.values, spread, other.covariance, weights, at, shares.freedom)

        ends = _inside(float(weights @ other.values), plain(level), weights, level)
        low, high = containing(
            np.asarray(value),
            _arrays(ends),
            lambda: _arrays(_cut(plain(two_sided(level)), weights)),
        )
        found.append((float(low), float(high)))
    return found


def _recovered(
    values: Floats,
    spread: Spread,
    covariance: Floats,
    weights: Floats,
    level: float,
    freedom: float,
) -> Interval:
    middle = float(weights @ values)
    if isfinite(freedom):
        # Few clusters: the error of the sum itself is estimated with so many degrees of freedom.
        variance = max(float(weights @ covariance @ weights), 0.0)
        reach = student_quantile(level, freedom) * sqrt(variance)
        return middle - reach, middle + reach
    low, high = spread.plain(values, level)
    down, up = values - low, high - values
    lowering = np.where(weights > 0.0, down, up)
    raising = np.where(weights > 0.0, up, down)
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    told = quantile(level) * error >= _TELLING * (down + up) / 2
    correlation = np.sign(np.outer(weights, weights))
    known = np.outer(told, told) & (np.outer(error, error) > 0.0)
    correlation[known] = np.clip(covariance[known] / np.outer(error, error)[known], -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)

    def reach_of(distances: Floats) -> float:
        along = weights * distances
        return sqrt(max(float(along @ correlation @ along), 0.0))

    return middle - reach_of(lowering), middle + reach_of(raising)


def _range(weights: Floats) -> Interval:
    return float(weights[weights < 0.0].sum()), float(weights[weights > 0.0].sum())


def _cut(ends: Interval, weights: Floats) -> Interval:
    least, most = _range(weights)
    low, high = (min(max(end, least), most) for end in ends)
    return low, high


def _inside(value: float, ends: Interval, weights: Floats, level: float) -> Interval:
    """Inside the range of the sum, as the intervals of shares are brought inside [0, 1]."""
    least, most = _range(weights)
    span = most - least
    if ends[0] >= least - _ROUNDING * span and ends[1] <= most + _ROUNDING * span:
        return _cut(ends, weights)
    error = (ends[1] - ends[0]) / (2.0 * quantile(level) * span)
    low, high = Normal(np.asarray(error**2)).interval(np.asarray((value - least) / span), level)
    return least + span * float(low), least + span * float(high)


def _arrays(ends: Interval) -> tuple[Floats, Floats]:
    return np.asarray(ends[0]), np.asarray(ends[1])
