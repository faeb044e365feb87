"""Margins from blocks that ask coarsely: unbiased, with the variance they say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from castell import Design, KaryResponse, Reports, Study
from castell.channels import PartitionResponse
from castell.counting import MemoryCounts, join_stages
from castell.inference.latent.coarse_blocks import LeafMargins, Leaves, leaf_tables
from castell.inference.latent.mixture import Mixture
from castell.inference.latent.sufficient_statistics import sufficient_statistics
from castell.inference.margins import Margins
from castell.linear.operators import Floats
from castell.study.design import Block
from tests.inference.latent.leaf_examples import leaf_table
from tests.populations import collect, product, schema

SIZES = (2, 3, 4)
PEOPLE = product({"a": [0.3, 0.7], "b": [0.15, 0.25, 0.6], "c": [0.4, 0.3, 0.2, 0.1]})
FIRST = Study(PEOPLE.schema, 3.0, "pairs", name="first")


def _second() -> Study:
    grid = tuple(PartitionResponse.grid((3, 4), ([[0, 1], [2]], [[0], [1], [2, 3]])))
    tree = (
        *(((0,), (b,), c) for b in range(3) for c in ((0, 1), (2, 3))),
        *(((1,), b, c) for b in ((0, 1), (2,)) for c in ((0,), (1,), (2, 3))),
    )
    blocks = (
        Block(
            ("b", "c"), (3, 4), PartitionResponse((3, 4), grid, KaryResponse.with_epsilon(6, 3.0))
        ),
        Block(
            ("a", "b", "c"),
            SIZES,
            PartitionResponse(SIZES, tree, KaryResponse.with_epsilon(12, 3.0)),
        ),
    )
    return Study(schema(SIZES), design=Design(blocks, draw=True, weights=(1, 2)), name="second")


SECOND = _second()


# A model whose margins are off, as those of every fit are.
WRONG = (np.array([0.35, 0.65]), np.array([0.2, 0.2, 0.6]), np.array([0.37, 0.33, 0.17, 0.13]))


def _margins(
    seed: int,
    table: Floats = PEOPLE.table,
    of_model: Sequence[Floats] = WRONG,
) -> LeafMargins:
    generator = np.random.default_rng(seed)
    reports: list[Reports] = [
        collect(FIRST, table, 600, generator),
        collect(SECOND, table, 3000, generator),
    ]
    counts = join_stages([MemoryCounts(each) for each in reports])
    mixture = Mixture(np.ones(1), np.concatenate(of_model)[None], SIZES)
    tables = leaf_tables(sufficient_statistics(counts))
    assert len(tables) == 2
    return LeafMargins(counts, mixture, Leaves(tables, tuple(of_model)))


@pytest.fixture(scope="module")
def collections() -> list[LeafMargins]:
    return [_margins(seed) for seed in range(200)]


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_they_are_unbiased_and_scatter_as_they_say(
    collections: list[LeafMargins], name: str
) -> None:
    truth = PEOPLE.margin([name])
    errors = np.array([margins.table(name) - truth for margins in collections])
    said = np.mean([margins.variances(name) for margins in collections], axis=0)
    # Means of 200 by their standard errors. Main effects are of first order in the margins' error,
    # so a little bias of second order is left.
    assert np.all(np.abs(errors.mean(axis=0)) < 5.2 * np.sqrt(said / 200) + 0.15 * np.sqrt(said))
    ratio = (errors**2).mean(axis=0) / said
    assert np.all(np.abs(ratio - 1.0) < 5.2 * np.sqrt(2 / 200))
    np.testing.assert_allclose(errors.sum(axis=1), 0.0, atol=1e-9)


def test_they_are_surer_than_those_of_the_first_stage(collections: list[LeafMargins]) -> None:
    margins = collections[0]
    alone = Margins(margins.counts)
    for name in PEOPLE.schema.names:
        assert np.all(margins.variances(name) < alone.variances(name))
    # c2 and c3 are one group in the second stage; the others are told apart.
    assert np.all(margins.variances("c")[:2] < 0.2 * alone.variances("c")[:2])
    assert np.all(margins.variances("a") < 0.4 * alone.variances("a"))


def _rare_together() -> Floats:
    """Few have the first value of b, fewer that of c, and nearly all of these have both."""
    of_b = np.array([0.05, 0.35, 0.6])
    of_c = np.array([[0.7, 0.1, 0.1, 0.1], [0.0, 0.5, 0.3, 0.2], [0.0, 0.3, 0.4, 0.3]])
    table: Floats = np.einsum("a,b,bc->abc", [0.3, 0.7], of_b, of_c)
    return table


def test_associations_that_the_model_has_not_found_do_not_mislead_them() -> None:
    table = _rare_together()
    true = (table.sum(axis=(1, 2)), table.sum(axis=(0, 2)), table.sum(axis=(0, 1)))
    every = [_margins(seed, table, true) for seed in range(200)]
    for name, margin in zip(PEOPLE.schema.names, true, strict=True):
        errors = np.array([margins.table(name) - margin for margins in every])
        said = np.mean([margins.variances(name) for margins in every], axis=0)
        # The model is right in all but associations, so nothing of second order is left.
        assert np.all(np.abs(errors.mean(axis=0)) < 5.2 * np.sqrt(said / 200))
        assert np.all(np.abs((errors**2).mean(axis=0) / said - 1.0) < 5.2 * np.sqrt(2 / 200))


def test_only_sums_of_leaves_that_tell_attributes_one_by_one_count() -> None:
    """Of three boxes two part c within a value of a; together with the third they tell a."""
    boxes = (((0,), (0, 1)), ((0,), (2, 3)), ((1,), (0, 1, 2, 3)))
    table = leaf_table(
        PartitionResponse((2, 4), boxes, KaryResponse.with_epsilon(3, 3.0)), (0, 2), np.ones(3)
    )
    sums = Leaves((table,), WRONG).additive
    assert sums.shape == (3, 2)  # the whole, and a
    np.testing.assert_allclose(sums[0], sums[1], atol=1e-12)


def test_groups_of_values_err_as_their_covariance_says() -> None:
    margins = _margins(1)
    group, rest = np.array([0, 2]), np.array([1, 3])
    one = margins.group_spread("c", group)
    two = margins.group_spread("c", rest)
    assert float(one.variance) == pytest.approx(float(two.variance), rel=1e-6)
    assert margins.covariance("c", group, rest) == pytest.approx(-float(one.variance), rel=1e-6)
    assert float(one.variance) == pytest.approx(
        sum(margins.covariance("c", np.array([i]), np.array([k])) for i in group for k in group)
    )
    each = margins.spread("c")
    np.testing.assert_allclose(each.variance, margins.variances("c"))
