"""The steps after an estimate: distributions, the nearest one where that is promised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from castell.errors import OptionError
from castell.inference.postprocess import STEPS, clip, raw, simplex, step
from castell.linear.operators import Floats

TABLES = arrays(
    np.float64,
    st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    elements=st.floats(-1e3, 1e3, allow_subnormal=False),
)


@settings(max_examples=150, deadline=None)
@given(TABLES)
def test_clip_and_simplex_give_distributions(table: Floats) -> None:
    for finish in (clip, simplex):
        found = finish(table)
        assert found.shape == table.shape
        assert found.min() >= 0.0
        assert found.sum() == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_allclose(finish(found), found, atol=1e-9)


@settings(max_examples=150, deadline=None)
@given(TABLES, st.integers(0, 2**32 - 1))
def test_simplex_is_the_nearest_distribution(table: Floats, seed: int) -> None:
    found = simplex(table)
    # Nearest means: going towards any other distribution goes away from the table.
    flat, nearest = table.ravel(), found.ravel()
    others = np.random.default_rng(seed).dirichlet(np.full(flat.size, 0.3), 50)
    corners = np.eye(flat.size)
    for other in (*others, *corners):
        assert (flat - nearest) @ (other - nearest) <= 1e-6


def test_by_hand() -> None:
    table = np.array([[0.45, -0.15], [0.25, 0.45]])
    np.testing.assert_allclose(clip(table), np.array([[0.45, 0], [0.25, 0.45]]) / 1.15)
    np.testing.assert_allclose(simplex(table), [[0.4, 0.0], [0.2, 0.4]], atol=1e-15)
    assert raw(table) is table
    # Nothing to keep: everything is equally likely.
    np.testing.assert_array_equal(clip(np.full((2, 2), -1.0)), np.full((2, 2), 0.25))


@pytest.mark.parametrize("finish", [clip, simplex])
def test_a_distribution_stays_what_it_is(finish: Callable[[Floats], Floats]) -> None:
    table = np.random.default_rng(0).dirichlet(np.ones(12)).reshape(3, 4)
    before = table.copy()
    np.testing.assert_allclose(finish(table), before, atol=1e-15)
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("finish", [clip, simplex])
def test_noise_of_any_size(finish: Callable[[Floats], Floats]) -> None:
    # One report of three attributes at epsilon 1e-6 each adds 1e18 to its cell.
    table = np.array([1e18, -1e18, 2.0, 1e18 - 4096.0])
    found = finish(table)
    assert found.min() >= 0.0
    assert found.sum() == pytest.approx(1.0, abs=1e-9)


def test_steps_by_name() -> None:
    assert {name: step(name) for name in STEPS} == {"raw": raw, "clip": clip, "simplex": simplex}
    unknown: list[Any] = ["Clip", "", None]
    for name in unknown:
        with pytest.raises(OptionError, match=r"no post-processing.*Known are raw, clip, simplex"):
            step(name)
