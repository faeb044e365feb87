"""Sums of floating-point numbers without rounding: the same whatever the order and the parts.

A number is a whole number of 54 bits times a power of two. Those of one exponent are added up as
whole numbers, in three pieces of 18 bits, so that up to 2^35 of them stay exact on the way. What
comes out is the true sum, rounded once.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats

Integers = NDArray[np.int64]

# Exponents of floating-point numbers run from -1073 to 1024.
_LOWEST, _MANY = -1080, 2112
_PIECE = 18
_MASK = (1 << _PIECE) - 1


def nothing(sums: int) -> Integers:
    """Where some sums begin: for each the pieces by exponent, then how many were no numbers."""
    return np.zeros((sums, 3 * _MANY + 1), dtype=np.int64)


def add(total: Integers, values: Floats, times: Integers | None = None) -> None:
    """Add some numbers to one sum, each so many `times`."""
    finite = np.isfinite(values)
    if not finite.all():
        total[-1] += np.count_nonzero(~finite)
        values = np.where(finite, values, 0.0)
    mantissa, exponent = np.frexp(values)
    places = exponent.astype(np.intp) - _LOWEST
    whole = (mantissa * 2.0 ** (3 * _PIECE)).astype(np.int64)
    pieces = (whole >> 2 * _PIECE, (whole >> _PIECE) & _MASK, whole & _MASK)
    for i, piece in enumerate(pieces):
        weights = piece.astype(np.float64) if times is None else piece.astype(np.float64) * times
        found = np.bincount(places, weights=weights, minlength=_MANY)
        total[i * _MANY : (i + 1) * _MANY] += found.astype(np.int64)


def mean(total: Integers, n: int) -> float:
    """The sum over n, correctly rounded; not a number if one of the numbers was none.

    >>> total = nothing(1)[0]
    >>> add(total, np.array([1e16, 1.0, -1e16]))
    >>> mean(total, 1)
    1.0
    """
    if total[-1]:
        return float("nan")
    pieces = total[:-1].reshape(3, _MANY)
    summed = 0
    for place in np.flatnonzero(pieces.any(axis=0)):
        high, middle, low = (int(piece) for piece in pieces[:, place])
        summed += ((high << 2 * _PIECE) + (middle << _PIECE) + low) << int(place)
    return float(Fraction(summed, n) / Fraction(2) ** (3 * _PIECE - _LOWEST))
