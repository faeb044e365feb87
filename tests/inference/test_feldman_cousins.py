"""Intervals of bounded truths: against brute force, and as often right as they say."""

from __future__ import annotations

from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

from castell.inference.feldman_cousins import between_bounds
from castell.inference.intervals import TOLD, Normal

STEP = 0.004


def _brute_force(value: float, error: float, level: float) -> tuple[float, float]:
    """Every truth on a grid ranks all estimates by their likelihood ratio and takes the first."""
    estimates = np.arange(-6.0 * error, 1.0 + 6.0 * error, STEP)
    best = np.clip(estimates, 0.0, 1.0)
    accepted = []
    for truth in np.linspace(0.0, 1.0, 101):
        density = np.exp(-0.5 * ((estimates - truth) / error) ** 2)
        ratio = density / np.exp(-0.5 * ((estimates - best) / error) ** 2)
        order = np.lexsort((-density, -ratio))
        total = np.cumsum(density[order]) / density.sum()
        taken = estimates[order][: np.searchsorted(total, level) + 1]
        if taken.min() <= value <= taken.max():
            accepted.append(truth)
    return min(accepted), max(accepted)


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("error", [0.3, 1.0])
@pytest.mark.parametrize("value", [-0.2, 0.3, 1.6])
def test_it_is_the_ranking_by_likelihood_ratio(value: float, error: float, level: float) -> None:
    low, high = between_bounds(np.array([value]), lambda _: np.full(1, error**2), level)
    assert (low[0], high[0]) == pytest.approx(_brute_force(value, error, level), abs=0.02)


@pytest.mark.parametrize("error", [0.2, 0.26, 0.5, 1.0])
@pytest.mark.parametrize("truth", [0.0, 0.03, 0.4, 1.0])
def test_it_covers_at_its_level(truth: float, error: float) -> None:
    many = 40_000
    values = truth + error * np.random.default_rng(3).standard_normal(many)
    low, high = Normal(np.full(many, error**2)).interval(values, 0.95)
    covered = np.mean((low <= truth) & (truth <= high))
    # Five standard errors to each side, and a little for the curves of a single bound.
    assert abs(covered - 0.95) < 5 * np.sqrt(0.95 * 0.05 / many) + 0.001


def test_one_bound_and_two_agree_where_the_far_one_is_not_felt() -> None:
    error = 0.999 / (2 * NormalDist().inv_cdf(0.975))
    values = np.linspace(-0.5, 1.5, 41)
    spread = Normal(np.full(41, error**2))
    both = between_bounds(values, lambda _: spread.variance, 0.95)
    for one, two in zip(spread.interval(values, 0.95), both, strict=True):
        assert one == pytest.approx(two, abs=2e-3)


def test_higher_levels_hold_lower_ones() -> None:
    values = np.linspace(-2.0, 3.0, 101)
    spread = Normal(np.full(101, 0.4**2), 0.1)
    ends = [spread.interval(values, level) for level in (0.5, 0.8, 0.9, 0.95, 0.99)]
    for (low, high), (lower, higher) in pairwise(ends):
        assert (lower <= low + 1e-3).all()
        assert (high <= higher + 1e-3).all()


@pytest.mark.parametrize("level", [0.05, 0.5, 0.95])
def test_where_reports_say_nothing_neither_does_the_interval(level: float) -> None:
    values = np.array([-40.0, -1.0, 0.3, 2.0, 60.0])
    low, high = Normal(np.full(5, (TOLD * 1.001) ** 2)).interval(values, level)
    assert (low == 0.0).all()
    assert (high == 1.0).all()
    told = Normal(np.full(5, (TOLD * 0.999) ** 2)).interval(values, level)
    assert (told[1] - told[0]).min() < 0.1


def test_a_variance_that_grows_with_the_truth_moves_the_upper_end_alone() -> None:
    values = np.array([0.4])
    low, high = between_bounds(values, lambda _: np.full(1, 0.09), 0.95)
    grown = between_bounds(values, lambda truth: 0.09 + np.maximum(truth - 0.4, 0.0), 0.95)
    assert grown[0] == pytest.approx(low)
    assert grown[1] > high + 0.01


def test_one_variance_for_several_estimates() -> None:
    values = np.array([[0.1, 0.5], [0.9, 1.4]])
    one = Normal(np.array([0.16, 0.0001])).interval(values, 0.95)
    every = Normal(np.broadcast_to([0.16, 0.0001], (2, 2)).copy()).interval(values, 0.95)
    assert np.array_equal(one, every)
