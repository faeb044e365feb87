"""Intervals of biased estimates: they contain them, cover, and are no longer than need be."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from castell.inference.intervals import Normal
from castell.inference.shares import Shares, Unbiased
from castell.inference.shorter_interval import AsUnbiased, ShorterInterval, lengthen_to_contain
from castell.inference.sum_interval import sum_interval

MANY = 200_000
LEVELS = (0.3, 0.5, 0.6, 2 / 3, 0.7, 0.8, 0.9, 0.95, 0.99)


def test_where_a_model_is_believed_no_interval_is_longer_than_the_unbiased_one() -> None:
    values, unbiased = np.array([0.3, 0.3, 0.3]), np.array([0.32, 0.32, 0.5])
    model = Normal(np.array([0.01, 1e-4, 0.01]))
    both = ShorterInterval(model, unbiased, Normal(np.array([1e-4, 0.01, 1e-4])))
    low, high = both.interval(values, 0.95)
    # Down to the estimate, and up to the one-sided limit, 1.645 standard errors; the model's own.
    assert (low[0], high[0]) == pytest.approx((0.3, 0.3364), abs=1e-4)
    assert (low[1], high[1]) == pytest.approx((0.2804, 0.3196), abs=1e-4)
    assert (low[2], high[2]) == pytest.approx((0.3, 0.5164), abs=1e-4)
    np.testing.assert_allclose(both.errors, 0.01)


@pytest.mark.parametrize("level", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("bias", [-8.0, -4.0, -2.5, -1.0, 0.0, 1.5, 3.0, 3.7, 6.0])
@pytest.mark.parametrize(("scatter", "along"), [(0.0, 0.0), (0.3, 0.0), (0.5, 0.9), (0.7, 1.0)])
def test_truth_is_covered_whatever_the_bias(
    level: float, bias: float, scatter: float, along: float
) -> None:
    """The biased estimate scatters less than the unbiased one, and more or less along with it."""
    generator = np.random.default_rng(5)
    noise, own = generator.standard_normal((2, MANY))
    error = 0.01
    unbiased = 0.4 + error * noise
    estimate = 0.4 + error * (bias + scatter * (along * noise + np.sqrt(1 - along**2) * own))
    low, high = AsUnbiased(unbiased, Normal(np.full(MANY, error**2))).interval(estimate, level)
    assert ((low <= estimate) & (estimate <= high)).all()
    covered = ((low <= 0.4) & (high >= 0.4)).mean()
    assert covered >= level - 5 * np.sqrt(level * (1 - level) / MANY)


@pytest.mark.parametrize("bias", [1.0, 1.5, 2.0, 2.5, 3.0])
def test_at_worst_an_estimate_shifted_from_the_unbiased_one_costs_2_points(bias: float) -> None:
    """It has all of the other's noise and a bias beside, which no estimate is made for."""
    noise = np.random.default_rng(7).standard_normal(MANY)
    low, high = AsUnbiased(noise, Normal(np.ones(MANY))).plain(noise + bias, 0.95)
    assert ((low <= 0.0) & (high >= 0.0)).mean() > 0.925


@pytest.mark.parametrize("truth", [0.0, 0.005, 0.02])
@pytest.mark.parametrize("bias", [0.0, 0.02, 0.05])
def test_so_it_is_beside_a_bound(truth: float, bias: float) -> None:
    error = 0.01
    unbiased = truth + error * np.random.default_rng(6).standard_normal(MANY)
    estimate = np.full(MANY, truth + bias)
    spread = AsUnbiased(unbiased, Normal(np.full(MANY, error**2)))
    low, high = spread.interval(estimate, 0.95)
    assert low.min() >= 0.0
    covered = ((low <= truth + 1e-15) & (truth - 1e-15 <= high)).mean()
    assert covered >= 0.95 - 5 * np.sqrt(0.05 * 0.95 / MANY)


def test_it_is_longer_only_where_the_estimate_is_far_outside() -> None:
    """Up to 2 * 1.960 - 1.645 = 2.275 standard errors from the unbiased estimate it is not."""
    apart = np.linspace(-4.0, 4.0, 801)
    spread = AsUnbiased(np.zeros(801), Normal(np.ones(801)))
    low, high = spread.plain(apart, 0.95)
    longer = high - low > 2 * 1.959964 + 1e-5
    np.testing.assert_array_equal(longer, np.abs(apart) > 2.2751)


def test_intervals_of_higher_levels_contain_those_of_lower_ones() -> None:
    apart = np.linspace(-4.0, 4.0, 81)
    shown = AsUnbiased(np.zeros(81), Normal(np.ones(81)))
    ends = [shown.plain(apart, level) for level in LEVELS]
    for (low, high), (lower, higher) in pairwise(ends):
        assert (lower <= low + 1e-12).all()
        assert (high <= higher + 1e-12).all()


def test_an_estimate_inside_changes_nothing() -> None:
    plain = Normal(np.array([1.0])).plain(np.array([0.0]), 0.95)
    for inside in (-1.9, 0.0, 1.9):
        assert lengthen_to_contain(np.array([inside]), plain, pytest.fail) == plain


def test_sums_and_ratios_of_shares_have_the_same_rule() -> None:
    variance = np.diag([1e-4, 0.0])
    # A model that is worth nothing, so that the unbiased interval is the shorter one.
    shares = Shares(
        np.array([0.26, 1.0]),
        Normal(np.ones(2)),
        (np.eye(2),),
        unbiased=Unbiased(np.array([0.3, 1.0]), variance),
    )
    assert sum_interval(shares, np.array([1.0, 0.0]), 0.95) == pytest.approx(
        (0.26, 0.3 + 0.01 * 1.644854), abs=1e-6
    )
    assert shares.ratio_interval(0.95) == pytest.approx((0.26, 0.3 + 0.01 * 1.644854), abs=1e-6)
