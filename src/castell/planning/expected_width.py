"""How long intervals will be on average, from the error that reports are expected to leave.

An interval near 0 depends on the estimate it belongs to: it is cut there, and few reports show
little variance. So the length is averaged over the estimates to expect, which are normal around
the truth p with the variance V of the spread. An estimate d above p comes with the variance
V + slope d + bend d^2, as intervals know (`inference/intervals.py`).

What margins leave open reaches up to the least of their upper ends, which is on average below the
least of the ends to expect: margins are averaged over too, one independently of the other.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np

from castell.inference.intervals import Bounds, Ends, KnownZeros, Normal, Spread
from castell.inference.margin_bounds import MarginBounds, Reshaped, all_of
from castell.inference.shorter_interval import (
    AsUnbiased,
    ShorterInterval,
    WithinMargins,
    shortest,
)
from castell.linear.operators import Floats

LEVEL = 0.95
# Estimates that are averaged over: the middles of as many equally likely ranges.
NODES = 12
# Margins come in so many orders of these.
ORDERS = 4


def _nodes() -> Floats:
    normal = NormalDist()
    found = np.array([normal.inv_cdf((k + 0.5) / NODES) for k in range(NODES)])
    return np.asarray(found / np.sqrt(np.mean(found**2)))


STANDARD = _nodes()


def expected_half_widths(spread: Spread, truth: Floats) -> Floats:
    """Half the length of a 95 % interval of each share, on average over what may be estimated."""
    low, high = _intervals(spread, truth)
    widths = np.broadcast_to((high - low) / 2, (*np.shape(low)[: -truth.ndim], *truth.shape))
    return np.asarray(widths.mean(axis=0) if widths.ndim > truth.ndim else widths)


def _intervals(spread: Spread, truth: Floats) -> tuple[Floats, Floats]:
    """The ends of an interval of each share, with an axis for the estimates averaged over."""
    if isinstance(spread, KnownZeros):
        low, high = _intervals(spread.of, truth)
        zero = spread.impossible
        return np.where(zero, 0.0, low), np.where(zero, 0.0, high)
    if isinstance(spread, WithinMargins):
        of, within = _intervals(spread.of, truth), _within_margins(spread.bounds)
        if of[0].ndim > truth.ndim and within[0].ndim > truth.ndim:
            of = (np.concatenate([of[0]] * ORDERS), np.concatenate([of[1]] * ORDERS))
        return shortest(lambda _: [of, within], LEVEL)
    if isinstance(spread, (AsUnbiased, Normal)):
        return _interval_around(spread, truth, STANDARD, LEVEL)
    if isinstance(spread, ShorterInterval) and isinstance(spread.unbiased_spread, Normal):
        return _shorter_interval(spread, truth, spread.unbiased_spread)
    # A model's own: its estimate moves little.
    return spread.interval(truth, LEVEL)


def _within_margins(bounds: Bounds) -> Ends:
    """What margins leave open, with an axis for the estimates of them that are averaged over."""
    if not isinstance(bounds, MarginBounds):
        return bounds.ends(LEVEL)
    generator, level = np.random.default_rng(0), bounds.level_of_each(LEVEL)
    found = [
        all_of(
            [
                _interval_around(spread, share, generator.permutation(STANDARD), level)
                for share, spread in bounds.events
            ]
        )
        for _ in range(ORDERS)
    ]
    low, high = (np.concatenate(ends) for ends in zip(*found, strict=True))
    return low, high


def _interval_around(spread: Spread, truth: Floats, errors: Floats, level: float) -> Ends:
    """The ends of an interval of an unbiased estimate, by how many standard errors that is off."""
    if isinstance(spread, KnownZeros):
        low, high = _interval_around(spread.of, truth, errors, level)
        return np.where(spread.impossible, 0.0, low), np.where(spread.impossible, 0.0, high)
    if isinstance(spread, Reshaped):
        low, high = _interval_around(spread.of, truth.reshape(spread.own), errors, level)
        return low.reshape(-1, *spread.shape), high.reshape(-1, *spread.shape)
    if isinstance(spread, AsUnbiased):
        return _interval_around(spread.spread, truth, errors, level)
    t = errors.reshape(-1, *(1,) * truth.ndim)
    if isinstance(spread, Normal) and not spread.outward:
        return _shift(spread, t).interval(truth + t * spread.errors, level)
    low, high = spread.interval(truth, level)
    return np.broadcast_to(low, (len(t), *low.shape)), np.broadcast_to(high, (len(t), *high.shape))


def _shift(spread: Normal, t: Floats) -> Normal:
    """The spread as it shows with an estimate that is t standard errors above the truth."""
    d = t * spread.errors
    slope, bend = np.asarray(spread.slope), np.asarray(spread.bend)
    variance = np.maximum(spread.variance + slope * d + bend * d**2, 0.0)
    return replace(spread, variance=variance, slope=slope + 2.0 * bend * d)


def _shorter_interval(
    spread: ShorterInterval, truth: Floats, other: Normal
) -> tuple[Floats, Floats]:
    """The shorter of two intervals. The model's estimate errs along with the unbiased one, and
    less."""
    t = STANDARD.reshape(-1, *(1,) * truth.ndim)
    error = other.errors
    less = np.minimum(spread.model.errors, error)
    shown = ShorterInterval(spread.model, truth + t * error, _shift(other, t))
    return shown.interval(np.clip(truth + t * less, 0.0, 1.0), LEVEL)
