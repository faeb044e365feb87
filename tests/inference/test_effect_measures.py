"""Quotients of shares: values, delta method, Fieller's sets, bounds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import inf, isnan, log, sqrt

import numpy as np
import pytest

from castell.inference.effect_measures import DIFFERENCE, ODDS_RATIO, RELATIVE_RISK, EffectMeasure
from castell.inference.intervals import Bounds, Normal
from castell.inference.shares import Shares, Unbiased
from castell.linear.operators import Floats

FUNCTIONS: dict[str, tuple[EffectMeasure, Callable[..., float]]] = {
    "difference": (DIFFERENCE, lambda a, b, c, d: a / b - c / d),
    "relative risk": (RELATIVE_RISK, lambda a, b, c, d: (a / b) / (c / d)),
    "odds ratio": (ODDS_RATIO, lambda a, b, c, d: a / (b - a) / (c / (d - c))),
}
each = pytest.mark.parametrize("name", FUNCTIONS)
FAR = np.array([0.15, 0.35, 0.05, 0.3])


def _covariance(scale: float) -> Floats:
    root = np.random.default_rng(2).normal(size=(4, 6)) * np.array([[1.0], [2.0], [0.7], [1.5]])
    return np.asarray(scale**2 * root @ root.T)


def _shares(values: Floats, covariance: Floats) -> Shares:
    return Shares(values, Normal(np.diag(covariance).copy()), (covariance,))


@each
def test_value_and_error_are_those_of_the_function_by_finite_differences(name: str) -> None:
    quotient, function = FUNCTIONS[name]
    covariance = _covariance(1e-3)
    shares = _shares(FAR, covariance)
    step = 1e-6 * np.eye(4)
    slopes = np.array([(function(*(FAR + s)) - function(*(FAR - s))) / 2e-6 for s in step])
    assert quotient.value(shares) == pytest.approx(function(*FAR), abs=1e-12)
    error = sqrt(slopes @ covariance @ slopes)
    assert quotient.standard_error(shares) == pytest.approx(error, rel=1e-6)
    low, high = quotient.interval(shares, 0.95)
    if quotient.is_ratio:
        reach = 1.959964 * error / function(*FAR)
        assert log(high) - log(low) == pytest.approx(2 * reach, rel=1e-5)
    else:
        assert high - low == pytest.approx(2 * 1.959964 * error, rel=1e-5)


def _inside(quotient: EffectMeasure, values: Floats, covariance: Floats, t: float) -> bool:
    """Whether Fieller's set holds t, from its definition."""
    slopes = quotient.top.slopes(values) - t * quotient.bottom.slopes(values)
    apart = quotient.top.value(values) - t * quotient.bottom.value(values)
    return bool(apart**2 <= 1.959964**2 * (slopes @ covariance @ slopes))


@each
@pytest.mark.parametrize("scale", [0.05, 0.1, 0.3])
def test_near_zero_the_interval_is_the_hull_of_fiellers_set(name: str, scale: float) -> None:
    quotient, _ = FUNCTIONS[name]
    values = np.array([0.12, 0.3, 0.02, 0.25])
    covariance = _covariance(scale)
    low, high = quotient.interval(_shares(values, covariance), 0.95)
    grid = np.concatenate([np.linspace(-1, 1, 401), np.geomspace(1, 1e5, 400)])
    grid = grid[(grid >= quotient.least) & (grid <= quotient.most)]
    held = [t for t in grid if _inside(quotient, values, covariance, float(t))]
    assert held
    for t in held:
        assert low - 1e-9 <= t <= high + 1e-9
    # Nothing is added: the ends are in the set, or ends of what is possible.
    for end in (low, high):
        if end not in (quotient.least, quotient.most):
            assert _inside(quotient, values, covariance, end * (1 - 1e-6)) or _inside(
                quotient, values, covariance, end * (1 + 1e-6)
            )


def test_a_ratio_to_what_may_be_nothing_has_no_upper_end_but_keeps_its_lower_one() -> None:
    covariance = np.diag([1e-6, 1e-6, 4e-4, 1e-6])
    shares = _shares(np.array([0.2, 0.4, 0.01, 0.4]), covariance)
    low, high = RELATIVE_RISK.interval(shares, 0.95)
    assert high == inf
    assert 2.0 < low < 20.0
    assert DIFFERENCE.interval(shares, 0.95)[1] < 1.0


def test_a_group_that_seems_empty_tells_nothing() -> None:
    shares = _shares(np.array([0.1, 0.3, 0.01, -0.02]), _covariance(0.02))
    assert isnan(DIFFERENCE.value(shares))
    assert isnan(DIFFERENCE.standard_error(shares))
    assert DIFFERENCE.interval(shares, 0.95) == (-1.0, 1.0)
    assert ODDS_RATIO.interval(shares, 0.95) == (0.0, inf)


@each
def test_intervals_of_higher_levels_contain_those_of_lower_ones(name: str) -> None:
    quotient, _ = FUNCTIONS[name]
    for scale in (1e-3, 1e-2, 1e-1):
        last = (0.0, 0.0)
        for level in (0.99, 0.95, 0.8, 0.5):
            ends = quotient.interval(_shares(FAR, _covariance(scale)), level)
            assert level == 0.99 or (last[0] <= ends[0] <= ends[1] <= last[1])
            last = ends


@each
def test_without_covariances_the_ends_are_all_that_bounds_leave_open(name: str) -> None:
    quotient, function = FUNCTIONS[name]
    low, high = np.array([0.05, 0.3, 0.02, 0.2]), np.array([0.2, 0.4, 0.1, 0.3])
    shares = Shares((low + high) / 2, Bounds(lambda _: (low, high)), ())
    ends = quotient.interval(shares, 0.95)
    corners = [function(*corner) for corner in product(*zip(low, high, strict=True))]
    assert ends == pytest.approx((min(corners), max(corners)))
    assert isnan(quotient.p_value(shares))


@each
def test_the_unbiased_interval_is_used_where_it_is_shorter(name: str) -> None:
    quotient, _ = FUNCTIONS[name]
    far, near = _covariance(1e-2), _covariance(1e-4)
    other = Unbiased(FAR * 1.01, near, 0.0, Normal(np.diag(near).copy()))
    both = Shares(FAR, Normal(np.diag(far).copy()), (far,), unbiased=other)
    alone = _shares(FAR * 1.01, near)
    low, high = quotient.interval(both, 0.95)
    least, most = quotient.interval(alone, 0.95)
    value = quotient.value(both)
    assert (low, high) == pytest.approx((min(least, value), max(most, value)))
    assert quotient.p_value(both) == pytest.approx(quotient.p_value(alone))
