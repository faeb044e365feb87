"""Sums of products of overlapping tables: against the table of everything."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from castell.linear.elimination import Factor, eliminate, elimination_order, multiply
from castell.linear.operators import Floats

SIZES = {"a": 2, "b": 3, "c": 4, "d": 2, "e": 3}
SETS = [("a", "b"), ("b", "c"), ("c", "d", "a"), ("e",), ("e", "d")]


def factors(seed: int, cases: int = 3) -> list[Factor]:
    generator = np.random.default_rng(seed)
    shapes = [[SIZES[name] for name in names] for names in SETS]
    # One that is alike in all cases.
    firsts = [cases, 1, cases, cases, cases]
    both = zip(SETS, firsts, shapes, strict=True)
    return [Factor(names, generator.random((first, *shape))) for names, first, shape in both]


def whole(of: list[Factor]) -> Floats:
    values = [factor.values for factor in broadcast(of)]
    return np.asarray(np.einsum("zab,zbc,zcda,ze,zed->zabcde", *values))


def broadcast(of: list[Factor]) -> list[Factor]:
    most = max(len(f.values) for f in of)
    return [Factor(f.names, np.broadcast_to(f.values, (most, *f.values.shape[1:]))) for f in of]


@pytest.mark.parametrize("kept", ["", "a", "db", "cae", "abcde"])
@pytest.mark.parametrize("any_of", [False, True])
def test_what_is_left_is_the_table_summed(kept: str, any_of: bool) -> None:
    given = factors(len(kept))
    order, _ = elimination_order([f.names for f in given], SIZES, kept)
    found = multiply(eliminate(given, order, any_of=any_of).left, tuple(kept))
    gone = tuple(1 + "abcde".index(name) for name in "abcde" if name not in kept)
    every = whole(given)
    table = (every.max(axis=gone) if any_of else every.sum(axis=gone)) if gone else every
    left = sorted(kept)
    np.testing.assert_allclose(found, table.transpose([0, *(1 + left.index(n) for n in kept)]))


def test_each_step_is_a_conditional_distribution() -> None:
    given = factors(7)
    order, _ = elimination_order([f.names for f in given], SIZES)
    summed = eliminate(given, order)
    every = whole(given)
    np.testing.assert_allclose(summed.total(), every.sum(axis=(1, 2, 3, 4, 5)))
    # The last name summed out depends on the case alone.
    last = summed.steps[-1]
    gone = tuple(1 + "abcde".index(name) for name in "abcde" if name != last.names[-1])
    margin = every.sum(axis=gone)
    rest = [f for f in summed.left if f.names == ()]
    assert last.names[:-1] == ()
    np.testing.assert_allclose(
        last.values / last.values.sum(axis=1, keepdims=True),
        margin / margin.sum(axis=1, keepdims=True),
    )
    assert rest


def test_a_chain_is_never_a_large_table() -> None:
    names = [f"x{i}" for i in range(40)]
    order, cells = elimination_order(pairwise(names), dict.fromkeys(names, 5))
    assert len(order) == 40
    assert cells <= 25
    # All together they are one.
    _, cells = elimination_order([names[:6]], dict.fromkeys(names, 5))
    assert cells == 5**6
