"""The incomplete beta function by its continued fraction."""

from __future__ import annotations

from math import exp, lgamma, log, log1p

_TINY = 1e-300
_STEPS = 10_000


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function: how often a beta variable is at most x.

    >>> round(incomplete_beta(2.0, 3.0, 0.4), 6)
    0.5248
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    # The fraction converges fast on one side of the mean only.
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0) or _TINY)
    value = d
    for m in range(1, _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / (1.0 + term * d or _TINY)
            c = 1.0 + term / c or _TINY
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return min(1.0, front * value)
