"""The paper's theorems, lemmas and thresholds as functions, to the letter of the print.

They are here to be compared with, not to be relied on: the paper's error model is that counts are
rounded to whole numbers, not that respondents draw at random, so real errors fall as 1/sqrt(n) and
may exceed these bounds. What this package promises is in the standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log, prod

from castell.errors import QueryError


def _sizes(sizes: Sequence[int]) -> list[int]:
    sizes = [int(size) for size in sizes]
    if not sizes or min(sizes) < 2:
        raise QueryError(f"domain sizes {sizes}", "give two values or more for each attribute")
    return sizes


def ldp_total(epsilon: float, attributes: int) -> float:
    """Theorem ldp: m attributes randomised with epsilon each are (m epsilon, 0)-LDP.

    >>> ldp_total(1.0, 8)
    8.0
    """
    return epsilon * attributes


def mse_independent(v: float, size: int) -> float:
    """Theorem rrind.mse: the MSE of RR-Independent is less than V^2 / d, both domains of size d.

    Both inequalities of the printed proof are reversed. Turned round they prove it, at most instead
    of less than, where the margins are exact: V^2 / d is a sum of (o - e)^2 / e over d (d - 1), at
    least the same sum over d^2, and e is at most one.

    >>> mse_independent(0.5, 2)
    0.125
    """
    return v**2 / size


def cell_range(*margins: float) -> tuple[float, float]:
    """Lemma marginal: a joint probability lies between 0 and the smallest of its margins.

    >>> cell_range(0.3, 0.7)
    (0.0, 0.3)
    """
    return 0.0, min(margins)


def avd_independent(sizes: Sequence[int]) -> float:
    """Theorem rrind: RR-Independent errs by less than max(d^-w, 1/d - d^-w), d the largest size.

    It supposes margins that are uniform and known.

    >>> avd_independent([2, 2])
    0.25
    """
    d, w = max(_sizes(sizes)), len(sizes)
    return float(max(d**-w, 1 / d - d**-w))


def inverse_entry(size: int, epsilon: float) -> float:
    """Lemma adj: an element of the inverse is at most 1/p.

    The print is off: the diagonal is (e^eps + d - 2) / (e^eps - 1), larger than 1/p =
    1 + (d - 1) / e^eps. `largest_inverse_entry` is the true one.

    >>> round(inverse_entry(2, log(3)), 6), round(largest_inverse_entry(2, log(3)), 6)
    (1.333333, 1.5)
    """
    return 1 + (size - 1) / exp(epsilon)


def largest_inverse_entry(size: int, epsilon: float) -> float:
    """The largest element of the inverse of k-ary response; ours, not the paper's."""
    return (exp(epsilon) + size - 2) / (exp(epsilon) - 1)


def rounding_error(sizes: Sequence[int], epsilon: float, n: int) -> float:
    """Lemma inv: the rounding error of two attributes, epsilon for each.

    >>> round(rounding_error([2, 2], log(3), 10), 6)
    0.711111
    """
    one, two = _sizes(sizes)
    return (1 + (max(one, two) - 1) / exp(epsilon)) ** 2 * one * two / n


def avd_castell(sizes: Sequence[int], epsilon: float, n: int) -> float:
    """Theorem avd: RR-Ind-Joint errs by at most (1 + (d-1)/e^(eps/w))^w d^w / n.

    `epsilon` is the total of the w attributes. It rests on Lemma adj and on rounding as the only
    error, so real errors can be larger. (The proof prints d^(eps/w) once for e^(eps/w).)

    >>> round(avd_castell([2, 2], 2 * log(3), 10), 6)
    0.711111
    """
    d, w = max(_sizes(sizes)), len(sizes)
    return float((1 + (d - 1) / exp(epsilon / w)) ** w * d**w / n)


def n_threshold(size: int, epsilon: float, width: float) -> float:
    """n*: with at least this many respondents RR-Ind-Joint has the smaller bound.

    The print's Table crossover (121,000 for Adult) follows from no width and epsilon tried: width
    2 and epsilon 1 give 445,508, and at width w* = 1.3739 it is never above some 50,500.

    >>> round(n_threshold(16, 1.0, 2))
    445508
    """
    worst = max(size**-width, 1 / size - size**-width)
    return float((1 + (size - 1) / exp(epsilon / width)) ** width * size**width / worst)


def epsilon_threshold(size: int, n: int, width: float) -> float:
    """eps*: from this total on RR-Ind-Joint has the smaller bound; infinite if it never has.

    The print's "if eps < eps*" has the inequality turned round. Its table's 0.473 follows with the
    width w* of the same table, which is no number of attributes; width 2 gives 4.32 for Adult.

    >>> round(epsilon_threshold(16, 32561, width_threshold(16, 32561)), 3)
    0.473
    >>> round(epsilon_threshold(16, 32561, 2), 2)
    4.32
    """
    room = (1 / size - size**-width) ** (1 / width) * n ** (1 / width) / size - 1
    return width * log((size - 1) / room) if room > 0 else inf


def width_threshold(size: int, n: int) -> float:
    """w*: up to this many attributes RR-Ind-Joint has the smaller bound.

    >>> round(width_threshold(16, 32561), 3)
    1.374
    """
    return (log(n) - log(size)) / log(size**2)


def influence(sizes: Sequence[int], epsilons: Sequence[float]) -> float:
    """By how many whole respondents one forged report can move its own cell; ours.

    >>> round(influence([2, 2], [log(3), log(3)]), 6)
    2.25
    """
    pairs = zip(_sizes(sizes), epsilons, strict=True)
    return prod(largest_inverse_entry(size, epsilon) for size, epsilon in pairs)
