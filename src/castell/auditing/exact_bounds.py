"""Bounds on chances that hold whatever the chances are (Clopper and Pearson 1934), and on epsilon.

A binomial tail is an incomplete beta function, which is turned round by bisection.
"""

from __future__ import annotations

from math import log

from castell.inference.incomplete_beta import incomplete_beta


def at_least(hits: int, trials: int, alpha: float) -> float:
    """The chance of a hit is not below this, but for a chance of `alpha`.

    >>> round(at_least(10, 10, 0.05), 4), at_least(0, 10, 0.05)
    (0.7411, 0.0)
    """
    if hits <= 0:
        return 0.0
    return _solve(hits, trials - hits + 1, alpha)[0]


def at_most(hits: int, trials: int, alpha: float) -> float:
    """The chance of a hit is not above this, but for a chance of `alpha`.

    >>> round(at_most(0, 10, 0.05), 4), at_most(10, 10, 0.05)
    (0.2589, 1.0)
    """
    if hits >= trials:
        return 1.0
    return _solve(hits + 1, trials - hits, 1.0 - alpha)[1]


def epsilon_at_least(
    hits: int, trials: int, other_hits: int, other_trials: int, alpha: float
) -> float:
    """Epsilon is not below this, given how often an event was seen under two answers.

    >>> round(epsilon_at_least(7_500, 10_000, 2_500, 10_000, 0.05), 3)  # ln 3 = 1.099
    1.053
    """
    low = at_least(hits, trials, alpha / 2)
    high = at_most(other_hits, other_trials, alpha / 2)
    return max(0.0, log(low / high)) if low > 0.0 else 0.0


def _solve(a: float, b: float, wanted: float) -> tuple[float, float]:
    """The ends of the short interval in which a beta variable's quantile lies."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if incomplete_beta(a, b, middle) < wanted:
            low = middle
        else:
            high = middle
    return low, high
