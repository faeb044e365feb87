"""Confidence intervals of a bounded truth from a normal estimate, by Feldman and Cousins.

Of all estimates that a truth accepts those come first whose likelihood ratio to the best possible
truth is largest (Phys. Rev. D 57, 1998). Intervals are never empty, and cover at their level.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import erf, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats

_NORMAL = NormalDist()
_ROOT = sqrt(2.0)

Curve = tuple[Floats, Floats]
# Some of them, or all.
Cells = slice | NDArray[np.intp]


@lru_cache(maxsize=32)
def one_bound(level: float, z: float) -> tuple[Curve, Curve]:
    """The curves of a truth t >= 0 for a normal estimate with standard error 1.

    Estimates from x1 to x2 are accepted for t, with x2 = t + d and, as t < z, x1 below 0, where
    the best possible truth is 0: log ratios -d^2 / 2 = x1 t - t^2 / 2 are equal, and the chance
    between them is the level. Returned are d by t, and by an estimate x1 the largest t with it.
    """
    truths = np.concatenate([np.geomspace(1e-4, 0.05, 40)[:-1], np.linspace(0.05, 1.0, 80)]) * z
    reach = np.empty_like(truths)
    for i, truth in enumerate(truths):
        least, most = 0.0, z
        for _ in range(50):
            middle = (least + most) / 2
            # Twice that of a normal estimate between -(t / 2 + d^2 / 2 t) and d.
            twice = erf(middle / _ROOT) + erf((truth / 2 + middle**2 / (2 * truth)) / _ROOT)
            least, most = (middle, most) if twice < 2 * level else (least, middle)
        reach[i] = (least + most) / 2
    reach[-1] = z
    first = truths / 2 - reach**2 / (2 * truths)
    # Without a bound in sight, from an estimate of 0 on, the upper end is z above it.
    far = 1e6
    return (truths, reach), (np.append(first, far), np.append(truths, far + z))


def lower_ends(
    plain: Floats,
    error: Floats,
    reach: Curve,
    end: Callable[[Cells, Floats], Floats],
) -> Floats:
    """The lower ends of estimates that feel the bound at 0: nowhere below the `plain` ones.

    How far an end is from its estimate depends on the end. `end` gives those of some estimates for
    some reaches; at most 6 steps are taken, of those that still move. At an end of 0 the reach is
    known without looking, so most cells of a sparse table take one step.
    """
    low = plain.copy()
    moving: Cells = slice(None)
    for _ in range(6):
        before = np.maximum(low[moving], 0.0)
        above = np.flatnonzero(before)
        far = np.full(before.size, reach[1][0])
        far[above] = np.interp(before[above] / error[moving][above], *reach)
        found = np.maximum(plain[moving], end(moving, far))
        low[moving] = found
        changed = np.flatnonzero(np.maximum(found, 0.0) != before)
        if not changed.size:
            break
        moving = changed if isinstance(moving, slice) else moving[changed]
    return low


# Halvings of [0, 1] until an end is known better than anyone needs.
_HALVINGS = 30


def between_bounds(
    values: Floats, variance_at: Callable[[Floats], Floats], level: float
) -> tuple[Floats, Floats]:
    """The interval of truths in [0, 1] for each estimate, whose variance depends on the truth.

    >>> low, high = between_bounds(np.array([0.4, 3.0, -9.0]), lambda t: np.ones(3), 0.95)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.606, 0.   ]), array([1.   , 1.   , 0.117]))
    """
    best = np.clip(values, 0.0, 1.0)
    ends = []
    for bound in (0.0, 1.0):
        inner, outer = best.copy(), np.full_like(best, bound)
        if np.all(taken := _acceptance(values, outer, variance_at(outer), level)):
            ends.append(outer)
            continue
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2
            accepted = _acceptance(values, middle, variance_at(middle), level)
            inner, outer = np.where(accepted, middle, inner), np.where(accepted, outer, middle)
        ends.append(np.where(taken, bound, inner))
    return ends[0], ends[1]


def _acceptance(values: Floats, truth: Floats, variance: Floats, level: float) -> NDArray[np.bool_]:
    """Whether estimates of larger likelihood ratio have a chance of at most the level."""
    variance = np.maximum(variance, 1e-300)
    error = np.sqrt(variance)
    best = np.clip(values, 0.0, 1.0)
    ratio = ((values - best) ** 2 - (values - truth) ** 2) / (2 * variance)  # its logarithm
    reach = np.sqrt(np.maximum(-2 * ratio, 0.0)) * error
    below = _other_end(truth, reach, variance * ratio)
    above = 1.0 - _other_end(1.0 - truth, reach, variance * ratio)
    chance = _cdf((above - truth) / error) - _cdf((below - truth) / error)
    return np.asarray(chance <= level)


def _other_end(truth: Floats, reach: Floats, scaled: Floats) -> Floats:
    """The estimate below the truth with this ratio; below 0 the best possible truth is 0."""
    inside = truth - reach
    outside = truth / 2 + scaled / np.maximum(truth, 1e-12)
    return np.asarray(np.where(inside >= 0.0, inside, outside))


def _cdf(z: Floats) -> Floats:
    """The standard normal distribution function, to 1e-7."""
    return np.interp(z, *_cdf_table())


@lru_cache(maxsize=1)
def _cdf_table() -> Curve:
    points = np.linspace(-7.0, 7.0, 14_001)
    return points, np.array([_NORMAL.cdf(point) for point in points])
