"""Margins of independence, and unbiased ones: compared, combined, and no worse for it."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

import castell
from castell import Study
from castell.counting import Counts, MemoryCounts
from castell.counting.folds import folds_of
from castell.inference.latent import model, stein_margins
from castell.inference.latent.cross_validation import fit_margins
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.stein_margins import UnbiasedMargins
from castell.inference.latent.sufficient_statistics import sufficient_statistics
from castell.inference.margins import Margins
from tests.coarse_studies import coarse_studies
from tests.populations import (
    Population,
    collect,
    drawn_studies,
    own_cluster,
    population,
    schema,
    studies,
)

RARE = (0.01, 0.02, 0.015, 0.06, 0.02)


def _alone(counts: Counts) -> stein_margins.Margins:
    sizes = counts.study.schema.sizes
    return fit_margins(sufficient_statistics(counts), sizes)[0]


def _apart() -> Population:
    """Five rare answers that have nothing to do with each other."""
    table = reduce(np.multiply.outer, [np.array([1.0 - share, share]) for share in RARE])
    return Population(schema((2,) * len(RARE)), table)


def _together() -> Population:
    """The same people, but that a hundredth more have all of them."""
    apart = _apart()
    table = 0.99 * apart.table
    table[(1,) * len(RARE)] += 0.01
    return Population(apart.schema, table)


def _counts(people: Population, n: int, seed: int) -> Counts:
    study = Study(people.schema, 4.0, "joint")
    reports = collect(study, people.table, n, np.random.default_rng(seed))
    return MemoryCounts(reports)


DESIGNS = {
    **{name: study for name, study in drawn_studies().items() if name != "singles"},
    "joint": studies()["joint"],
}


@pytest.mark.parametrize("design", DESIGNS)
def test_what_blocks_add_up_to_are_the_unbiased_margins(design: str) -> None:
    study = DESIGNS[design]
    people = population(study.schema.sizes, seed=3)
    counts = MemoryCounts(collect(study, people.table, 500, np.random.default_rng(4)))
    wanted = [Margins(counts).table(name) for name in study.names]
    tables = [table.counts for table in sufficient_statistics(counts)]
    found = UnbiasedMargins.of(counts).margins(tables)
    np.testing.assert_allclose(found, np.concatenate(wanted), atol=1e-12)


@pytest.mark.parametrize("design", DESIGNS)
def test_the_distance_from_the_truth_is_chi_squared(design: str) -> None:
    """As D is the covariance of unbiased margins, where attributes are independent."""
    study = DESIGNS[design]
    people = population(study.schema.sizes, seed=3)
    margins = tuple(people.margin([name]) for name in study.names)
    table = reduce(np.multiply.outer, margins)
    squares, many = [], 400
    for seed in range(many):
        counts = MemoryCounts(collect(study, table, 4000, np.random.default_rng(seed)))
        unbiased = UnbiasedMargins.of(counts)
        square, numbers = unbiased.distance(sufficient_statistics(counts), margins)
        assert numbers == sum(study.schema.sizes) - len(study.names)
        squares.append(square)
    # Mean and variance of chi-squared; five standard errors.
    assert np.mean(squares) == pytest.approx(numbers, abs=5 * np.sqrt(2 * numbers / many))
    assert np.var(squares) == pytest.approx(2 * numbers, rel=5 * np.sqrt((2 + 12 / numbers) / many))


@pytest.mark.parametrize(
    ("people", "of_unbiased", "of_independent"), [(_apart(), 0.8, 1.4), (_together(), 1.3, 0.5)]
)
def test_margins_are_nearly_as_good_as_the_better_of_the_two(
    people: Population, of_unbiased: float, of_independent: float
) -> None:
    """Independent, they gain much on the unbiased ones; associated, they lose next to nothing."""
    errors = []
    for seed in range(60):
        counts = _counts(people, 20_000, seed)
        alone = _alone(counts)
        (found,) = stein_margins.stein_margins(counts, sufficient_statistics(counts), alone)
        unbiased = [Margins(counts).table(name) for name in people.schema.names]
        true = [people.margin([name]) for name in people.schema.names]
        errors.append(
            [
                sum(float(np.abs(a - t).sum()) for a, t in zip(some, true, strict=True))
                for some in (found, unbiased, alone)
            ]
        )
        assert all(margin.sum() == pytest.approx(1.0) and margin.min() >= 0.0 for margin in found)
    ours, theirs, independent = np.mean(errors, axis=0)
    assert ours < of_unbiased * theirs
    assert ours < of_independent * independent


def test_a_model_without_associations_has_them_and_so_have_its_folds() -> None:
    counts = _counts(_together(), 2000, 0)
    alone = _alone(counts)
    (combined,) = stein_margins.stein_margins(counts, sufficient_statistics(counts), alone)
    unbiased = [Margins(counts).table(name) for name in counts.study.names]
    # The attribute with the largest share: none of its unbiased shares is below zero.
    at, name = 3, counts.study.names[3]
    weight = (combined[at] - alone[at])[1] / (unbiased[at] - alone[at])[1]
    assert 0.2 < weight < 0.8
    found = model.learn(counts, None, None, 1)
    assert not found.associated
    for place, margin in enumerate(combined):
        np.testing.assert_allclose(found.mixture.table([place]), margin, atol=1e-6)
    # Each fold's are between the two kinds of margins of its own reports, as far as all reports'.
    for fold, trained in zip(folds_of(counts), found.fold_models, strict=True):
        own, theirs = _alone(fold.training)[at], Margins(fold.training).table(name)
        np.testing.assert_allclose(trained.table([at]), own + weight * (theirs - own), atol=1e-3)


def test_stein_weight() -> None:
    assert stein_margins.stein_weight(6.0, 5) == pytest.approx(0.5)
    assert stein_margins.stein_weight(3.0, 5) == 0.0  # less apart than chance has it
    assert stein_margins.stein_weight(0.0, 5) == 0.0
    assert stein_margins.stein_weight(100.0, 2) == 0.0  # too few numbers to shrink


def _kept(study: Study, n: int = 400) -> bool:
    generator = np.random.default_rng(5)
    answers = {a.name: generator.choice(list(a.values), n) for a in study.schema}
    counts = MemoryCounts(study.randomize(answers, seed=6))
    alone = tuple(np.full(size, 1.0 / size) for size in study.schema.sizes)
    (found,) = stein_margins.stein_margins(counts, sufficient_statistics(counts), alone)
    return all(a is b for a, b in zip(alone, found, strict=True))


def test_margins_that_cannot_be_compared_are_kept() -> None:
    assert not _kept(studies()["joint"])
    assert not _kept(drawn_studies()["pairs"])
    assert _kept(drawn_studies()["pairs"], 1)  # no report of most blocks
    # Several blocks from each respondent.
    assert _kept(studies()["independent"])
    assert _kept(studies()["clusters"])
    assert _kept(own_cluster())
    coarse = coarse_studies(schema((2, 3, 4)))
    assert all(_kept(study) for name, study in coarse.items() if name != "fine, unequal")


def test_rules_public_attributes_and_wide_blocks_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [
        castell.Attribute("a", ["x", "y"]),
        castell.Attribute("b", ["x", "y", "z"]),
        castell.Attribute("c", ["x", "y"]),
    ]
    impossible = castell.Schema(asked, impossible=[{"a": ["x"], "b": ["z"]}])
    assert _kept(Study(impossible, 4.0, "joint"))
    assert not _kept(Study(castell.Schema(asked), 4.0, "joint"))
    shown = castell.Attribute("d", ["x", "y"], public=True)
    assert _kept(Study(castell.Schema([*asked, shown]), 4.0, "pairs"))
    # Seven shares of twelve reports: 84 numbers.
    for few, kept in (
        (replace(SETTINGS, most_table_cells=8), True),
        (replace(SETTINGS, most_numbers=83), True),
        (replace(SETTINGS, most_numbers=84), False),
    ):
        monkeypatch.setattr(stein_margins, "SETTINGS", few)
        assert _kept(Study(castell.Schema(asked), 4.0, "joint")) == kept
