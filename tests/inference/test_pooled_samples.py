"""Reports of a pair of attributes in several samples: one estimate of how far a model is off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from castell import Attribute, Schema, Study
from castell.counting import Counts, MemoryCounts
from castell.inference.association_error import HeldOut, Residuals, groups_of, residuals
from castell.inference.inversion import observe
from castell.inference.latent import cross_fit_error
from castell.inference.latent.cross_fit_error import evenly
from castell.inference.latent.settings import SETTINGS
from castell.linear.operators import Floats
from castell.planning.population import People
from castell.planning.simulation import collect

NAMES = ("one", "two")
SCHEMA = Schema([Attribute("one", ["a", "b", "c"]), Attribute("two", ["a", "b", "c", "d"])])
APART = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])


def _people(table: Floats) -> People:
    """A population of exactly these shares."""
    cells = np.repeat(np.arange(table.size), np.rint(table.ravel() * 10_000).astype(int))
    codes = np.unravel_index(cells, table.shape)
    return People(SCHEMA, dict(zip(NAMES, map(np.asarray, codes), strict=True)))


def _counts(n: int, seed: int, epsilon: float = 2.0) -> Counts:
    return MemoryCounts(collect(Study(SCHEMA, epsilon, "joint"), _people(APART), n, seed))


def _residuals(samples: list[HeldOut], model: Floats) -> Residuals:
    generator = np.random.default_rng(0)
    groups = [groups_of(model.sum(axis=1 - k), generator) for k in (0, 1)]
    found = residuals(samples, [model], *groups)
    assert found is not None
    return found


def test_parts_of_a_sample_say_what_it_says_as_a_whole() -> None:
    """Five parts of one design, of unequal size, next to the sum of their counts."""
    views = [observe(_counts(n, n), NAMES) for n in (1, 2, 7, 40, 300)]
    whole = views[0].replace(np.sum([view.table for view in views], axis=0))
    expected = whole.expected_frequencies(APART)
    pooled = _residuals([HeldOut([view], expected) for view in views], APART)
    once = _residuals([HeldOut([whole], expected)], APART)
    for mine, theirs in zip(vars(pooled).values(), vars(once).values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_samples_count_by_what_they_know() -> None:
    """One sample with little noise and one with much: the variance is that of the better one, or
    less, and it is what differences have in mean square if the model is right."""
    squares, stated = [], []
    for seed in range(400):
        clear, noisy = (observe(_counts(30, 2 * seed + k, e), NAMES) for k, e in enumerate((4, 1)))
        samples = [HeldOut([view], view.expected_frequencies(APART)) for view in (clear, noisy)]
        pooled, best = _residuals(samples, APART), _residuals(samples[:1], APART)
        assert (pooled.variances <= best.variances).all()
        squares.append(float(np.mean(pooled.differences**2 / pooled.variances)))
        stated.append(float(np.mean(pooled.variances / best.variances)))
    assert max(stated) < 1.0
    # Five standard errors of 400 means of squares that go together.
    reach = 5 * np.std(squares) / np.sqrt(len(squares))
    assert np.mean(squares) == pytest.approx(1.0, abs=reach)


def test_a_sample_without_reports_in_a_fold_says_nothing() -> None:
    view = observe(_counts(50, 1), NAMES)
    expected = view.expected_frequencies(APART)
    empty = view.replace(np.zeros_like(view.table))
    alone = _residuals([HeldOut([view], expected)], APART)
    beside = _residuals([HeldOut([view], expected), HeldOut([None], expected)], APART)
    nobody = _residuals([HeldOut([empty], expected), HeldOut([view], expected)], APART)
    np.testing.assert_array_equal(beside.differences, alone.differences)
    np.testing.assert_array_equal(nobody.differences, alone.differences)
    generator = np.random.default_rng(0)
    groups = [groups_of(APART.sum(axis=1 - k), generator) for k in (0, 1)]
    assert residuals([HeldOut([empty], expected)], [APART], *groups) is None


def test_of_many_tables_some_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = sorted((home, one, one + 1) for one in range(6) for home in range(10 * one + 1))
    every = dict(cross_fit_error.tables_of_pairs(keys))
    assert {pair: len(homes) for pair, homes in every.items()} == {
        (one, one + 1): 10 * one + 1 for one in range(6)
    }
    few = replace(SETTINGS, most_pairs=3, most_tables_of_pairs=24)
    monkeypatch.setattr(cross_fit_error, "SETTINGS", few)
    some = dict(cross_fit_error.tables_of_pairs(keys))
    assert list(some) == [(0, 1), (2, 3), (4, 5)]
    assert [len(homes) for homes in some.values()] == [1, 8, 8]
    assert some[4, 5] == evenly(range(41), 8) == [2, 7, 12, 17, 23, 28, 33, 38]
