"""Quantiles and tails of Student's t distribution, for any degrees of freedom."""

from __future__ import annotations

from functools import lru_cache
from math import atan2, cos, erfc, inf, pi, sin, sqrt

from castell.inference.incomplete_beta import incomplete_beta
from castell.inference.intervals import quantile

# Formulas are those of Abramowitz and Stegun. With more degrees the expansion about the normal
# quantile is exact to about twelve digits.
_MANY = 2000


@lru_cache(maxsize=256)
def student_quantile(level: float, freedom: float) -> float:
    """How many standard errors an interval of some level reaches to each side.

    >>> round(student_quantile(0.95, 1), 4), round(student_quantile(0.95, 10), 4)
    (12.7062, 2.2281)
    >>> round(student_quantile(0.95, 2.5), 4)
    3.5747
    >>> student_quantile(0.95, float("inf")) == quantile(0.95)
    True
    """
    z = quantile(level)
    if freedom == inf:
        return z
    if freedom > _MANY:
        # Cornish and Fisher's expansion (26.7.5).
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + first / freedom + second / freedom**2 + third / freedom**3
    inside = _inside if freedom == int(freedom) else _inside_of_any
    low, high = z, z
    while inside(high, freedom) < level:
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if inside(middle, freedom) < level else (low, middle)
    return high


def student_tail(t: float, freedom: float) -> float:
    """How often Student's t is farther from zero than a value, to either side.

    >>> round(student_tail(2.2281388519862735, 10), 12), round(student_tail(1.96, inf), 3)
    (0.05, 0.05)
    """
    if freedom == inf:
        return erfc(abs(t) / sqrt(2.0))
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _inside_of_any(t: float, freedom: float) -> float:
    """The chance between -t and t, an incomplete beta function (26.7.1)."""
    return 1.0 - student_tail(t, freedom)


def _inside(t: float, degrees: float) -> float:
    """The same of whole degrees of freedom, a finite sum (26.7.3 and 26.7.4)."""
    freedom = int(degrees)
    angle = atan2(t, sqrt(freedom))
    square = cos(angle) ** 2
    if freedom % 2:
        term, total = cos(angle), 0.0
        for k in range(1, freedom, 2):
            total += term
            term *= square * (k + 1) / (k + 2)
        return 2.0 / pi * (angle + sin(angle) * total)
    term, total = 1.0, 0.0
    for k in range(0, freedom, 2):
        total += term
        term *= square * (k + 1) / (k + 2)
    return sin(angle) * total
