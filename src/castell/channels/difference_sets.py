"""Cyclic difference sets: from a few numbers, many sets of reports that overlap evenly.

A set D of s numbers modulo v in which every difference but 0 occurs equally often. Its v shifts are
then v sets, any two of which share equally many elements. That is what a good channel for large
domains needs: each answer has a set of likely reports, and no two answers are harder to tell apart
than any other two.

Here are Singer's: for a prime q and a dimension t, v = (q^t - 1) / (q - 1) points of a projective
space, and the points of a hyperplane as D. With q = 2 they are the rows of a Hadamard matrix, which
gives Hadamard response; with larger q, projective geometry response (Feldman, Nelson, Nguyen and
Talwar 2022). D = {0} is k-ary response.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count

import numpy as np

# Reports stay small integers.
MOST_POINTS = 1 << 17
# A prime larger than any of those below, so that it has no divisor in common with their powers.
STRIDE = 982_451_653
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)


def points(prime: int, dimension: int) -> int:
    """How many points a projective space has.

    >>> points(2, 3), points(3, 3)
    (7, 13)
    """
    return sum(prime**i for i in range(dimension))


def geometries(least: int) -> list[tuple[int, int]]:
    """For each prime the smallest space of at least some number of points, as (prime, dimension).

    Two dimensions are left out: there a hyperplane is a point, which is k-ary response.
    """
    found = []
    for prime in PRIMES:
        dimension = next(t for t in count(3) if points(prime, t) >= least)
        if points(prime, dimension) <= MOST_POINTS:
            found.append((prime, dimension))
    return found


@lru_cache(maxsize=256)
def singer(prime: int, dimension: int) -> tuple[int, ...]:
    """A hyperplane of the projective space, as numbers modulo its points.

    The powers of a generator of the field of q^t elements run through all points of the space; the
    powers that have no highest coefficient are a hyperplane. A generator is found by trying one
    polynomial after another; whether one is, is seen by running through its powers.

    >>> len(singer(2, 3)), overlap(singer(2, 3), 7)
    (3, 1)
    """
    v, polynomials = points(prime, dimension), prime**dimension
    for i in range(polynomials):
        # Neighbours fail together; a stride that visits all of them far apart meets one soon.
        number = i * STRIDE % polynomials
        constants = tuple(number // prime**k % prime for k in range(dimension))
        # x^t = sum of constants[k] x^k; without a constant term x would divide it.
        found = _zeros(prime, constants, v) if constants[0] else None
        if found is not None:
            return found
    raise AssertionError("every finite field has a generator")


def _zeros(prime: int, constants: tuple[int, ...], v: int) -> tuple[int, ...] | None:
    """Which powers of x have no highest coefficient, or None if they come round before v."""
    power = [1, *[0] * (len(constants) - 1)]
    zeros = []
    for i in range(v):
        if i and not any(power[1:]):
            return None
        top = power[-1]
        if not top:
            zeros.append(i)
        power = [
            (below + top * constant) % prime
            for below, constant in zip([0, *power[:-1]], constants, strict=True)
        ]
    return tuple(zeros) if not any(power[1:]) else None


def overlap(shifts: tuple[int, ...], v: int) -> int | None:
    """How many elements any two shifts of a set share, or None if that differs.

    >>> overlap((0, 1, 3), 7), overlap((0, 1, 2), 7)
    (1, None)
    """
    member = np.zeros(v)
    member[list(shifts)] = 1.0
    # Circular autocorrelation; the counts are whole numbers far below where rounding would show.
    shared = np.rint(np.fft.irfft(np.abs(np.fft.rfft(member)) ** 2, v)).astype(int)[1:]
    return int(shared[0]) if (shared == shared[0]).all() else None
