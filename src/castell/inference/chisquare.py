"""The chi-square distribution, as far as tests of tables need it: whole degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import erfc, exp, fsum, lgamma, log, sqrt

import numpy as np

from castell.linear.operators import Floats


def tail(statistic: float, freedom: int) -> float:
    """How often a chi-square variable exceeds a value: its closed form for whole degrees.

    >>> round(tail(3.841458820694124, 1), 12), round(tail(2.0, 2), 6)
    (0.05, 0.367879)
    """
    half = statistic / 2
    if half <= 0:
        return 1.0
    odd = freedom % 2
    powers = (k + odd / 2 for k in range(freedom // 2))
    terms = [_poisson(power, half) for power in powers]
    return min(1.0, fsum([erfc(sqrt(half)) if odd else 0.0, *terms]))


@lru_cache(maxsize=256)
def critical(level: float, freedom: int) -> float:
    """The value that is exceeded with probability `level`.

    >>> round(critical(0.05, 1), 4), round(critical(0.05, 6), 4)
    (3.8415, 12.5916)
    """
    low, high = 0.0, freedom + 10.0
    while tail(high, freedom) > level:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle, freedom) > level else (low, middle)
    return high


def power(noncentrality: float, freedom: int, level: float = 0.05) -> float:
    """How often a test of some level rejects: the tail of the noncentral distribution.

    It is a Poisson mixture of central ones with more degrees of freedom.
    """
    bar, mean = critical(level, freedom), noncentrality / 2
    reach = int(mean + 12 * sqrt(mean) + 20)
    # Two degrees of freedom more add one term to the tail.
    above, found = tail(bar, freedom), []
    for k in range(reach):
        found.append(_poisson(k, mean) * above)
        above += _poisson(freedom / 2 + k, bar / 2)
    return fsum(found)


def _poisson(k: float, mean: float) -> float:
    """Its probability function, for halves too."""
    return exp(k * log(mean) - mean - lgamma(k + 1))


@lru_cache(maxsize=256)
def noncentrality(freedom: int, level: float = 0.05, wanted: float = 0.8) -> float:
    """How much it takes for a test to reject with some power.

    >>> round(noncentrality(1), 2), round(noncentrality(4), 2)
    (7.85, 11.94)
    """
    low, high = 1e-6, 10.0
    while power(high, freedom, level) < wanted:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle, freedom, level) < wanted else (low, middle)
    return high


def false_discovery(p: Sequence[float]) -> Floats:
    """The false discovery rate at which each of some tests would just be rejected.

    The step-up procedure of Benjamini and Hochberg (1995).

    >>> false_discovery([0.01, 0.04, 0.03, 0.5]).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    each = np.asarray(p, dtype=np.float64)
    order = np.argsort(each, kind="stable")
    steps = each[order] * len(each) / np.arange(1, len(each) + 1)
    found = np.empty(len(each))
    found[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return found


def p_text(p: float) -> str:
    """A p-value as people write it.

    >>> p_text(0.1234), p_text(0.00042), p_text(1e-9)
    ('= 0.12', '= 0.0004', '< 0.0001')
    """
    if p < 1e-4:
        return "< 0.0001"
    return f"= {p:.2f}" if p >= 0.01 else f"= {p:.4f}"
