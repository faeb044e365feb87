"""Cramer's V without the noise: closed forms, coverage, level of the test, false discoveries."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from castell import Attribute, Reports, Schema, Study
from castell.counting import MemoryCounts
from castell.inference.chisquare import false_discovery
from castell.linear.operators import Floats
from castell.results.every_association import PairAssociation
from castell.results.every_association import _associate as association
from tests.populations import collect, schema


def _cramer(table: Floats) -> float:
    apart = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(np.sqrt(((table - apart) ** 2 / apart).sum() / (min(table.shape) - 1)))


def people(sizes: tuple[int, int], strength: float) -> Floats:
    """Unequal margins, and an association of some strength between them."""
    one, two = np.arange(1.0, sizes[0] + 1), np.arange(sizes[1] + 1.0, 1, -1)
    one, two = one / one.sum(), two / two.sum()
    apart = np.outer(one, two)
    tilt = np.outer(
        one * (np.arange(sizes[0]) - np.arange(sizes[0]) @ one),
        two * (np.arange(sizes[1]) - np.arange(sizes[1]) @ two),
    )
    table = apart + strength * tilt / _cramer(apart + tilt)
    assert (table > 0).all()
    return np.asarray(table)


def test_without_noise_it_is_bergsmas_correction() -> None:
    """phi^2 less what sampling adds: (r - 1)(c - 1) / n where nothing goes together."""
    codes = np.unravel_index(np.repeat(np.arange(12), np.arange(20, 32)), (3, 4))
    names = Schema([Attribute("a", range(3)), Attribute("b", range(4))])
    study = Study(names, 60.0)
    reports = Reports(study, [np.asarray(c) for c in codes], secure=True)
    table = np.zeros((3, 4))
    np.add.at(table, codes, 1)
    found = association(MemoryCounts(reports), ("a", "b"))
    n = len(reports)
    phi2 = 2 * _cramer(table / n) ** 2
    assert found.statistic == pytest.approx(n * phi2, rel=1e-6)  # Pearson's
    assert found.freedom == 6
    assert found.test is not None
    assert found.test.square == pytest.approx(phi2 - 6 / n, rel=0.05, abs=2e-3)


CASES = [
    ("independent", 6.0, (2, 2), 0.0),
    ("independent", 6.0, (2, 2), 0.25),
    ("independent", 8.0, (3, 4), 0.1),
    ("joint", 4.0, (3, 2), 0.15),
    ("pairs", 3.0, (3, 4), 0.0),
    ("pairs", 3.0, (3, 4), 0.12),
]
REPEATS = 250


@cache
def _found(design: str, epsilon: float, sizes: tuple[int, int], v: float) -> list[PairAssociation]:
    study = Study(schema(sizes), epsilon, design)
    table = people(sizes, v)
    each = (np.random.default_rng(k) for k in range(REPEATS))
    return [
        association(MemoryCounts(collect(study, table, 4000, generator)), ("a", "b"))
        for generator in each
    ]


@pytest.mark.parametrize("case", CASES)
def test_intervals_cover_and_the_estimate_is_unbiased(
    case: tuple[str, float, tuple[int, int], float],
) -> None:
    found = _found(*case)
    ends = [one.conf_int() for one in found]
    covered = sum(low - 1e-12 <= case[3] <= high for low, high in ends)
    # 95 % of 250 are 237; five standard deviations off are 220.
    assert covered >= 220
    values = np.array([one.test.square for one in found if one.test is not None])
    truth = case[3] ** 2 * (min(case[2]) - 1)
    error = values.std() / np.sqrt(REPEATS)
    assert abs(values.mean() - truth) < 5.5 * error + 0.03 * truth


@pytest.mark.parametrize("case", [case for case in CASES if case[3] == 0.0])
def test_nothing_is_found_as_often_as_the_level_says(
    case: tuple[str, float, tuple[int, int], float],
) -> None:
    p = np.array([one.p for one in _found(*case)])
    # 12.5 of 250 at 5 %; five standard deviations more are 30.
    assert (p < 0.05).sum() <= 30
    assert 0.38 < (p < 0.5).mean() < 0.66
    assert all(one.conf_int()[0] == 0.0 for one in _found(*case) if one.p > 0.05)


def test_levels_nest_and_hold_the_estimate() -> None:
    for one in _found(*CASES[1])[:20]:
        before = (one.value, one.value)
        for level in (0.5, 0.9, 0.99):
            low, high = one.conf_int(level)
            assert 0.0 <= low <= before[0] <= one.value <= before[1] <= high <= 1.0
            before = (low, high)


def test_nothing_is_known_of_what_nobody_reported_together() -> None:
    study = Study(schema((2, 3)), 2.0, "singles")
    reports = collect(study, people((2, 3), 0.2), 500, np.random.default_rng(0))
    found = association(MemoryCounts(reports), ("a", "b"))
    assert not found.known
    assert np.isnan(found.value)
    assert found.conf_int() == (0.0, 1.0)
    assert found.p == 1.0


def test_one_report_and_one_value_say_nothing() -> None:
    study = Study(schema((2, 2)), 8.0)
    one = Reports(study, [np.array([0]), np.array([1])], secure=True)
    assert association(MemoryCounts(one), ("a", "b")).conf_int() == (0.0, 1.0)
    same = Reports(study, [np.zeros(400, dtype=int), np.arange(400) % 2], secure=True)
    found = association(MemoryCounts(same), ("a", "b"))
    assert not found.known or found.conf_int()[0] == 0.0


def test_false_discoveries_are_controlled_as_benjamini_and_hochberg_do() -> None:
    """Against the procedure as it is written: the largest k with p_(k) <= k q / m."""
    random = np.random.default_rng(0)
    for _ in range(50):
        p = random.random(20) ** random.integers(1, 5)
        rates = false_discovery(p.tolist())
        for q in (0.01, 0.05, 0.2, 0.5):
            ordered = np.sort(p)
            passing = np.flatnonzero(ordered <= q * np.arange(1, 21) / 20)
            bar = ordered[passing[-1]] if len(passing) else -1.0
            np.testing.assert_array_equal(rates <= q, p <= bar)
