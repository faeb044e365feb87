"""Intervals of corrected coefficients: every value that the score test does not reject."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest

import castell
from castell import Attribute, Schema, Study
from castell.inference.intervals import quantile
from castell.inference.inversion import observe
from castell.inference.regression.score_error import ScoreError
from castell.linear.operators import Floats
from castell.results.model import counts_of
from tests.populations import collect, matrix

SCHEMA = Schema([Attribute("y", [0, 1, 2]), Attribute("x", [0, 1, 3])])
PEOPLE = np.array([[0.2, 0.1, 0.05], [0.1, 0.15, 0.1], [0.05, 0.1, 0.15]])
NUMBERS = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0])
MEANS = NUMBERS[0] @ PEOPLE.sum(axis=1), NUMBERS[1] @ PEOPLE.sum(axis=0)
COVARIANCE = NUMBERS[0] @ PEOPLE @ NUMBERS[1] - MEANS[0] * MEANS[1]
TRUTH = float(COVARIANCE / (PEOPLE.sum(axis=0) @ NUMBERS[1] ** 2 - MEANS[1] ** 2))


def _noise(study: Study, table: Floats, function: Floats) -> float:
    """How much a report's function varies about the answer's own: a sum over answers of the sum
    over reports, weighted by the unbiased table."""
    one, two = (matrix(block) for block in study.design.blocks)
    gains = np.linalg.inv(one) @ function @ np.linalg.inv(two).T
    return float((table * (one @ gains**2 @ two.T - function**2)).sum())


def test_ends_are_where_the_score_test_just_rejects() -> None:
    """One slope through the origin, a ratio of two means: Fieller's interval, worked out anew."""
    study = Study(SCHEMA, shares={"y": 1.0, "x": 0.8})
    reports = collect(study, PEOPLE, 1000, np.random.default_rng(1))
    fit = castell.regress("y ~ x - 1", reports)
    view = observe(counts_of(reports), ("y", "x"))
    table = view.invert()
    y, x = (each.reshape(shape) for each, shape in zip(NUMBERS, ((3, 1), (1, 3)), strict=True))
    slope = float((table * x**2).sum())

    def variance(at: float) -> float:
        """Of the equation at some slope; what respondents themselves vary by is that at the fit."""
        function, here = x * (y - x * at), x * (y - x * fit.params[0])
        return (_noise(study, table, function) + float((table * here**2).sum())) / view.n

    assert fit.standard_errors[0] == pytest.approx(sqrt(variance(fit.params[0])) / slope)
    for level in (0.5, 0.95):
        for end in np.concatenate(fit.conf_int(level)):
            at_end = slope * (fit.params[0] - end) / sqrt(variance(float(end)))
            assert abs(at_end) == pytest.approx(quantile(level))
    assert fit.zvalues[0] == pytest.approx(slope * fit.params[0] / sqrt(variance(0.0)))
    low, high = fit.conf_int()
    reach = 1.96 * fit.standard_errors[0]
    assert abs((high[0] - low[0]) / (2 * reach) - 1.0) > 0.01  # it is not Wald's


def test_they_hold_as_often_as_they_say_where_the_slope_is_noisy() -> None:
    """Estimate +- z errors held the truth 98.3 % of the time here."""
    generator, rounds, reach = np.random.default_rng(2), 3000, quantile(0.95)
    study = Study(SCHEMA, shares={"y": 1.0, "x": 0.3})
    held = wald = fits = 0
    for _ in range(rounds):
        try:
            fit = castell.regress("y ~ x", collect(study, PEOPLE, 1000, generator))
        except castell.CastellError:
            continue  # no solution
        low, high = fit.conf_int()
        fits += 1
        held += bool(low[1] <= TRUTH <= high[1])
        wald += bool(abs(fit.params[1] - TRUTH) <= reach * fit.standard_errors[1])
    assert fits > 0.9 * rounds
    assert abs(held / fits - 0.95) < 5 * sqrt(0.05 * 0.95 / fits)
    assert wald / fits > 0.97


def test_where_no_value_is_rejected_nothing_is_known() -> None:
    none = ScoreError(np.array([[1.0]]), np.array([0.0]), np.array([0.3]))
    low, high = none.interval(np.array([2.0]), 1.96)
    assert (low[0], high[0]) == (-inf, inf)
    low, high = none.interval(np.array([2.0]), 1.0)
    assert (low[0], high[0]) == pytest.approx((2.0 - sqrt(1 / 0.7), 2.0 + sqrt(1 / 0.7)))
    unknown = ScoreError.constant(np.array([[np.nan]]))
    assert unknown.interval(np.array([2.0]), 1.96)[1][0] == inf
