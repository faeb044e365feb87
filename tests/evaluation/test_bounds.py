"""The paper's bounds: numbers worked out by hand, and how they hang together."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log
from typing import Any

import numpy as np
import pytest

import castell
from castell import KaryResponse, Study
from castell.errors import QueryError
from castell.evaluation.bounds import (
    avd_castell,
    avd_independent,
    cell_range,
    epsilon_threshold,
    influence,
    inverse_entry,
    largest_inverse_entry,
    ldp_total,
    mse_independent,
    n_threshold,
    rounding_error,
    width_threshold,
)
from castell.evaluation.metrics import cramers_v
from tests.populations import reports_of, schema


def test_by_hand() -> None:
    assert ldp_total(0.5, 6) == 3.0
    assert mse_independent(0.6, 4) == pytest.approx(0.09)
    assert cell_range(0.3, 0.7, 0.2) == (0.0, 0.2)
    assert avd_independent([2, 2]) == 0.25
    assert avd_independent([4, 2, 3]) == pytest.approx(1 / 4 - 1 / 64)
    assert avd_independent([5]) == pytest.approx(1 / 5)  # one attribute: d^-w is all of 1/d
    # (1 + 2/3)^2 x 3 x 2 / 100, and with the largest d for both.
    assert rounding_error([3, 2], log(3), 100) == pytest.approx((5 / 3) ** 2 * 6 / 100)
    assert avd_castell([3, 2], 2 * log(3), 100) == pytest.approx((5 / 3) ** 2 * 9 / 100)
    assert avd_castell([2, 2, 2], 3 * log(3), 1000) == pytest.approx((4 / 3) ** 3 * 8 / 1000)


def test_the_thresholds_of_the_notes() -> None:
    # d = 16 and n = 32,561 are Adult's. The print's 0.473 is eps* at its own w*.
    assert round(n_threshold(16, 1.0, 2)) == 445_508
    assert epsilon_threshold(16, 32_561, 2) == pytest.approx(4.32, abs=0.005)
    width = width_threshold(16, 32_561)
    assert width == pytest.approx(1.374, abs=0.0005)
    assert epsilon_threshold(16, 32_561, width) == pytest.approx(0.473, abs=0.0005)
    # The print's 121,000 is not n* at w*: no epsilon makes it that large.
    assert n_threshold(16, 1e-9, width) == pytest.approx(50_500, rel=0.01)


def _random_table(generator: np.random.Generator, d: int) -> np.ndarray[Any, Any]:
    """Flat, sparse, or nearly diagonal; never an empty row or column."""
    table = generator.dirichlet(np.full(d * d, generator.choice([0.05, 1.0]))).reshape(d, d)
    table = table + generator.choice([0.0, 3.0]) * np.eye(d) + 1e-9
    return np.asarray(table / table.sum())


def test_the_squared_error_of_independence_is_within_its_bound() -> None:
    """Theorem rrind.mse with exact margins, and each step of its proof turned round."""
    generator = np.random.default_rng(0)
    ratios = []
    for _ in range(2000):
        d = int(generator.integers(2, 9))
        table = _random_table(generator, d)
        product = np.outer(table.sum(axis=1), table.sum(axis=0))
        squares = (table - product) ** 2
        bound = mse_independent(cramers_v(table), d)
        middle = (squares / product).sum() / d**2
        assert bound >= middle * (1 - 1e-12)
        assert middle >= squares.mean() * (1 - 1e-12)
        ratios.append(squares.mean() / bound)
    # It is loose: two equally likely values that always go together come nearest.
    half = np.eye(2) / 2
    assert ((half - 0.25) ** 2).mean() / mse_independent(cramers_v(half), 2) == pytest.approx(1 / 8)
    assert 0.05 < max(ratios) <= 0.5


@pytest.mark.parametrize(("size", "width"), [(2, 2), (3, 2), (16, 2), (4, 3), (2, 5)])
def test_at_a_threshold_the_bounds_are_equal(size: int, width: int) -> None:
    sizes = [size] * width
    needed = n_threshold(size, 3.0, width)
    assert avd_castell(sizes, 3.0, 1) / needed == pytest.approx(avd_independent(sizes), rel=1e-9)
    n = 4 * size ** (2 * width)
    epsilon = epsilon_threshold(size, n, width)
    assert avd_castell(sizes, epsilon, n) == pytest.approx(avd_independent(sizes), rel=1e-9)
    # From there on castell's is the smaller one: the print has this turned round.
    assert avd_castell(sizes, epsilon + 0.1, n) < avd_independent(sizes)


def test_with_too_few_reports_no_epsilon_is_enough() -> None:
    assert epsilon_threshold(16, 100, 2) == inf
    assert avd_castell([16, 16], 1000.0, 100) > avd_independent([16, 16])


@pytest.mark.parametrize("size", [2, 3, 10, 100])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_largest_entry_of_an_inverse(size: int, epsilon: float) -> None:
    inverse = KaryResponse.with_epsilon(size, epsilon).inverse.dense()
    assert np.abs(inverse).max() == pytest.approx(largest_inverse_entry(size, epsilon), rel=1e-7)
    # Lemma adj says less than that.
    assert inverse_entry(size, epsilon) == pytest.approx(1 + (size - 1) * exp(-epsilon))
    assert inverse_entry(size, epsilon) < largest_inverse_entry(size, epsilon)


def test_one_forged_report_moves_its_cell_by_its_influence() -> None:
    study = Study(schema((2, 5, 3)), shares={"a": 0.5, "b": 1.0, "c": 2.0})
    counts = np.random.default_rng(0).integers(0, 9, (2, 5, 3))
    before = (
        castell.estimate(reports_of(study, counts), study.names, "castell").probabilities
        * counts.sum()
    )
    counts[1, 4, 0] += 1
    after = (
        castell.estimate(reports_of(study, counts), study.names, "castell").probabilities
        * counts.sum()
    )
    moved = (after - before)[1, 4, 0]
    assert moved == pytest.approx(influence([2, 5, 3], [0.5, 1.0, 2.0]), rel=1e-7)


@pytest.mark.parametrize("sizes", [[], [1, 2], [0]], ids=str)
def test_sizes_that_are_none(sizes: Sequence[int]) -> None:
    with pytest.raises(QueryError, match="give two values or more"):
        avd_independent(sizes)
    with pytest.raises(QueryError, match="give two values or more"):
        avd_castell(sizes, 1.0, 10)
    with pytest.raises(QueryError, match="give two values or more"):
        rounding_error(sizes, 1.0, 10)
    with pytest.raises(QueryError, match="give two values or more"):
        influence(sizes, [1.0] * len(sizes))


def test_numbers_that_do_not_fit_together() -> None:
    with pytest.raises(ValueError, match="unpack"):
        rounding_error([2, 2, 2], 1.0, 10)  # the lemma is about two attributes
    with pytest.raises(ValueError, match="shorter"):
        influence([2, 2], [1.0])
