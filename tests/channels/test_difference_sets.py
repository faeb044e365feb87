"""Difference sets, counted out difference by difference."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from castell.channels.difference_sets import (
    MOST_POINTS,
    PRIMES,
    geometries,
    overlap,
    points,
    singer,
)

# All primes in three dimensions, the small ones in more.
SPACES = [(q, 3) for q in PRIMES] + [
    (q, t) for q, most in ((2, 10), (3, 7), (5, 5), (7, 4), (11, 4)) for t in range(4, most + 1)
]


def differences(numbers: tuple[int, ...], v: int) -> list[int]:
    """How often each difference but 0 occurs, modulo v."""
    line = np.array(numbers, dtype=np.intp)
    counts = np.bincount(((line[:, None] - line) % v).ravel(), minlength=v)
    assert counts[0] == len(numbers)
    return [int(count) for count in counts[1:]]


def test_the_primes_are_the_first_ones() -> None:
    assert list(PRIMES) == [n for n in range(2, 84) if all(n % d for d in range(2, n))]


@pytest.mark.parametrize(("prime", "dimension"), SPACES)
def test_every_difference_of_a_hyperplane_occurs_equally_often(prime: int, dimension: int) -> None:
    v = (prime**dimension - 1) // (prime - 1)
    inside = (prime ** (dimension - 1) - 1) // (prime - 1)
    shared = (prime ** (dimension - 2) - 1) // (prime - 1)
    found = singer(prime, dimension)
    assert points(prime, dimension) == v
    assert len(found) == inside
    assert all(0 <= low < high < v for low, high in pairwise(found))
    assert set(differences(found, v)) == {shared}
    assert overlap(found, v) == shared


@settings(max_examples=300, deadline=None)
@given(data=st.data(), v=st.integers(2, 40))
def test_overlap_is_what_counting_says(data: st.DataObject, v: int) -> None:
    chosen = tuple(sorted(data.draw(st.sets(st.integers(0, v - 1)))))
    counted = set(differences(chosen, v))
    assert overlap(chosen, v) == (counted.pop() if len(counted) == 1 else None)


@pytest.mark.parametrize(("prime", "dimension"), [(2, 4), (3, 3), (3, 4), (5, 3), (23, 3)])
def test_one_number_off_and_it_is_no_difference_set(prime: int, dimension: int) -> None:
    v, good = points(prime, dimension), singer(prime, dimension)
    for i in range(0, len(good), 1 + len(good) // 10):
        moved = {*good[:i], *good[i + 1 :], next(d for d in range(v) if d not in good)}
        assert overlap(tuple(sorted(moved)), v) is None
        assert overlap((*good[:i], *good[i + 1 :]), v) is None
    # Shifted as a whole it still is one.
    assert overlap(tuple(sorted((d + 2) % v for d in good)), v) == points(prime, dimension - 2)


@settings(max_examples=100, deadline=None)
@given(least=st.integers(2, 2 * MOST_POINTS))
@example(least=MOST_POINTS)
@example(least=7)
@example(least=8)
def test_geometries_are_the_smallest_that_hold_all(least: int) -> None:
    found = geometries(least)
    assert max(Counter(q for q, _ in found).values(), default=1) == 1
    for prime in PRIMES:
        sizes = [(prime**t - 1) // (prime - 1) for t in range(3, 25)]
        fitting = [(v, t) for t, v in enumerate(sizes, start=3) if least <= v]
        held = [t for q, t in found if q == prime]
        assert held == ([fitting[0][1]] if fitting[0][0] <= MOST_POINTS else [])
