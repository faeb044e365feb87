"""Leaves as functions of the answers, next to all combinations written out."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from castell.channels import PartitionResponse
from castell.inference.latent.coarse_blocks import Leaves
from castell.inference.latent.em import e_step
from castell.inference.latent.mixture import random_start
from castell.inference.latent.sufficient_statistics import BlockTable
from tests.inference.latent.leaf_examples import (
    INNERS,
    MARGINS,
    SIZES,
    TREE,
    chances_of_all,
    grid_table,
    leaf_functions,
    main_effects_of,
    tree_table,
)


@pytest.mark.parametrize("kind", INNERS)
def test_an_e_step_is_that_of_all_combinations(kind: str) -> None:
    table = tree_table(kind)
    channel = PartitionResponse(SIZES, TREE, INNERS[kind])
    mixture = random_start(MARGINS, 5, 0.8, np.random.default_rng(1))
    plain = BlockTable((0, 1, 2), channel.forward, table.counts)
    one, two = e_step(mixture, [table]), e_step(mixture, [plain])
    np.testing.assert_allclose(one.classes, two.classes, rtol=1e-11)
    np.testing.assert_allclose(one.values, two.values, rtol=1e-10, atol=1e-12)
    assert one.log_likelihood == pytest.approx(two.log_likelihood, rel=1e-13)
    np.testing.assert_allclose(
        table.report_probabilities(mixture), plain.report_probabilities(mixture), rtol=1e-12
    )
    low, high = (random_start(MARGINS, 2, 0.5, np.random.default_rng(k)) for k in (2, 3))
    shares = np.array([0.0, 0.3, 1.0])
    np.testing.assert_allclose(
        table.log_likelihood_between(1, low, high, shares),
        plain.log_likelihood_between(1, low, high, shares),
        rtol=1e-12,
    )


def test_main_effects_and_associations_are_those_of_the_functions() -> None:
    tables = [tree_table(), grid_table()]
    leaves = Leaves(tuple(tables), MARGINS)
    functions, chances = leaf_functions(tables), chances_of_all()
    apart = np.array([f - main_effects_of(f) for f in functions])
    np.testing.assert_allclose(leaves.association_products, (apart * chances) @ apart.T, atol=1e-13)
    # How the share of a leaf changes when some of one value become another.
    step, column = 1e-6, 0
    for a, size in enumerate(SIZES):
        for value in range(size - 1):
            changed = [m.copy() for m in MARGINS]
            changed[a][value] += step
            changed[a][size - 1] -= step
            moved = functions @ (np.einsum("a,b,c->abc", *changed).ravel() - chances) / step
            effect = leaves.main_effects[:, column + value]
            last = leaves.main_effects[:, column + size - 1]
            np.testing.assert_allclose(effect - last, moved, atol=1e-8)
        column += size


def test_the_boxes_here_hold_everything() -> None:
    assert sum(prod(map(len, box)) for box in TREE) == prod(SIZES)
