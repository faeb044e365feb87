"""The smallest number of respondents, or the smallest epsilon, that reaches an error.

A half-width falls about as a power of either, so the secant method is run on logarithms, inside a
bracket that halves if it stalls.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, inf, isfinite, log

from castell.channels.budget import MAX_EPSILON

# Fewer respondents than these are no survey; more than these there are none.
FEWEST, MOST = 10, 10**9
# Where to look for an epsilon.
LEAST_EPSILON, MOST_EPSILON = 0.05, float(MAX_EPSILON) / 2
_CLOSE = 0.004
_ROUNDS = 40


def smallest(
    error: Callable[[float], float], wanted: float, least: float, most: float, close: float = _CLOSE
) -> float:
    """The least x between two with error(x) <= wanted, to a share of `close`; infinite if none.

    >>> 10_000 <= smallest(lambda n: n**-0.5, 0.01, 10, 1e9) < 10_040
    True
    """
    if error(least) <= wanted:
        return least
    if not error(most) <= wanted:
        return inf
    low, high = log(least), log(most)
    at_low, at_high = _gap(error(least), wanted), _gap(error(most), wanted)
    for turn in range(_ROUNDS):
        if high - low <= close:
            break
        middle = (low + high) / 2
        if turn % 3 != 2 and isfinite(at_low):
            along = at_low / (at_low - at_high)
            # Not so near an end that the other one stays where it is.
            inside = min(max(along, 0.02), 0.98)
            middle = low + inside * (high - low)
            # A little beyond, towards the end that is further away, to close the bracket.
            reach = min(close, 0.2 * (high - low))
            middle += 0.5 * reach if along < 0.5 else -0.5 * reach
        gap = _gap(error(exp(middle)), wanted)
        if gap <= 0.0:
            high, at_high = middle, gap
        else:
            low, at_low = middle, gap
    return exp(high)


def _gap(error: float, wanted: float) -> float:
    return log(error / wanted) if 0.0 < error < inf else (inf if error else -inf)


def smallest_n(error: Callable[[int], float], wanted: float) -> int | None:
    """The least number of reports that reaches an error, in three digits; None if none does."""
    found = smallest(lambda n: error(round(n)), wanted, FEWEST, MOST)
    return three_digits(found) if isfinite(found) else None


def three_digits(n: float) -> int:
    """Rounded up."""
    scale = int(10 ** max(len(str(int(n))) - 3, 0))
    return int(ceil(n / scale) * scale)


def smallest_epsilon(error: Callable[[float], float], wanted: float) -> float | None:
    """The least epsilon that reaches an error, in three digits; None if none does."""
    found = smallest(error, wanted, LEAST_EPSILON, MOST_EPSILON, close=0.002)
    if not isfinite(found):
        return None
    digits = 3 if found < 1 else 2
    return float(min(round(found + 0.5 * 10.0**-digits, digits), MOST_EPSILON))
