"""Leaves as functions of the answers, next to all combinations written out."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from castell.channels import CyclicResponse, KaryResponse, MatrixResponse, PartitionResponse
from castell.channels.difference_sets import singer
from castell.channels.partition import Box, Inner
from castell.inference.latent.coarse_blocks import Leaves, _associations, leaf_residuals
from castell.inference.latent.em import e_step
from castell.inference.latent.mixture import Mixture, random_start
from castell.inference.latent.sufficient_statistics import BlockTable, LeafTable
from castell.linear.operators import Floats

SIZES = (2, 3, 4)
MARGINS = (np.array([0.3, 0.7]), np.array([0.1, 0.3, 0.6]), np.array([0.4, 0.3, 0.2, 0.1]))
# Boxes over all three, and a grid over the last two in another order.
TREE: tuple[Box, ...] = (
    *(((0,), (b,), c) for b in range(3) for c in ((0, 1), (2, 3))),
    *(((1,), b, c) for b in ((0, 1), (2,)) for c in ((0,), (1,), (2, 3))),
)
INNERS: dict[str, Inner] = {
    "kary": KaryResponse.with_epsilon(12, 2.0),
    "cyclic": CyclicResponse.with_epsilon(12, 13, singer(3, 2), 1.0),
    "matrix": MatrixResponse(
        [[200 - 11 * x if x == y else x for y in range(1, 13)] for x in range(1, 13)]
    ),
}


def _table(channel: PartitionResponse, places: tuple[int, ...], counts: Floats) -> LeafTable:
    members = tuple(channel.members(k) for k in range(len(places)))
    return LeafTable(places, channel.inner.forward, counts, members, channel.inner.inverse)


def _tree(kind: str = "kary") -> LeafTable:
    channel = PartitionResponse(SIZES, TREE, INNERS[kind])
    counts = np.random.default_rng(3).integers(20, 90, channel.outputs).astype(np.float64)
    return _table(channel, (0, 1, 2), counts)


def _grid() -> LeafTable:
    boxes = tuple(PartitionResponse.grid((4, 3), ([[0], [1, 2], [3]], [[0, 1], [2]])))
    channel = PartitionResponse((4, 3), boxes, KaryResponse.with_epsilon(6, 1.0))
    return _table(channel, (2, 1), np.array([30.0, 10.0, 20.0, 50.0, 40.0, 10.0]))


def _functions(tables: list[LeafTable]) -> Floats:
    """The indicator of each leaf over all combinations of answers."""
    rows = []
    for table in tables:
        held = dict(zip(table.attributes, table.members, strict=True))
        for leaf in range(len(table.members[0])):
            row = np.ones(SIZES)
            for a in held:
                row *= held[a][leaf].reshape([-1 if k == a else 1 for k in range(3)])
            rows.append(row.ravel())
    return np.array(rows)


def _chances() -> Floats:
    chances: Floats = np.einsum("a,b,c->abc", *MARGINS).ravel()
    return chances


def _main(function: Floats) -> Floats:
    """The mean and the main effects of a function, by summing."""
    chances, cube = _chances().reshape(SIZES), function.reshape(SIZES)
    mean = (cube * chances).sum()
    found = np.full(SIZES, mean)
    for a in range(3):
        others = tuple(k for k in range(3) if k != a)
        effect = (cube * chances).sum(axis=others) / MARGINS[a] - mean
        found += effect.reshape([-1 if k == a else 1 for k in range(3)])
    return found.ravel()


@pytest.mark.parametrize("kind", INNERS)
def test_an_e_step_is_that_of_all_combinations(kind: str) -> None:
    table = _tree(kind)
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
    tables = [_tree(), _grid()]
    leaves = Leaves(tuple(tables), MARGINS)
    functions, chances = _functions(tables), _chances()
    apart = np.array([f - _main(f) for f in functions])
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


def test_associations_of_leaves_have_no_main_effect_and_variance_one() -> None:
    table = _tree()
    found = _associations(Leaves((table,), MARGINS), np.random.default_rng(0))
    assert found is not None
    functions = found @ _functions([table])
    for function in functions:
        np.testing.assert_allclose(_main(function), 0.0, atol=1e-10)
    np.testing.assert_allclose((functions**2) @ _chances(), 1.0, rtol=1e-9)


def test_leaves_that_only_part_one_attribute_show_no_association() -> None:
    boxes = tuple(PartitionResponse.grid((2, 3), ([[0, 1]], [[0], [1], [2]])))
    channel = PartitionResponse((2, 3), boxes, KaryResponse.with_epsilon(3, 1.0))
    table = _table(channel, (0, 1), np.array([5.0, 5.0, 5.0]))
    assert _associations(Leaves((table,), MARGINS), np.random.default_rng(0)) is None


def test_residuals_of_a_true_model_are_noise_and_no_more() -> None:
    # Reports drawn from the model itself: the squares of the residuals are their variances.
    mixture = random_start(MARGINS, 4, 0.6, np.random.default_rng(5))
    table = _tree()
    expected = table.report_probabilities(mixture)
    generator = np.random.default_rng(6)
    squares = []
    for _ in range(300):
        drawn = generator.multinomial(400, expected, 5).astype(np.float64)
        folds = [[table.with_counts(counts)] for counts in drawn]
        ((places, found),) = leaf_residuals(folds, [mixture] * 5, mixture)
        assert places == (0, 1, 2)
        squares.append(float(np.mean(found.differences**2 / found.variances)))
    # 300 means of 200 dependent squares; by their own scatter, five standard errors.
    error = np.std(squares) / np.sqrt(len(squares))
    assert abs(np.mean(squares) - 1.0) < 5.2 * error < 0.2


def test_residuals_of_a_wrong_model_show_what_it_misses() -> None:
    wrong = random_start(MARGINS, 1, 0.0, np.random.default_rng(0))
    table = _tree()
    # Two kinds of people with the same margins together, but associated.
    right = Mixture(np.array([0.5, 0.5]), np.array([_shifted(0.25), _shifted(-0.25)]), SIZES)
    expected = table.report_probabilities(right)
    folds = [[table.with_counts(1e7 * expected)] for _ in range(5)]
    ((_, found),) = leaf_residuals(folds, [wrong] * 5, wrong)
    assert float(np.mean(found.differences**2 / found.variances)) > 100


def _shifted(by: float) -> Floats:
    parts = [m.copy() for m in MARGINS]
    for part in parts:
        part[-1] += by * part[-1]
        part[0] -= by * part[-1] / (1 + by)
    return np.concatenate([np.maximum(p, 0.01) / np.maximum(p, 0.01).sum() for p in parts])


def test_the_boxes_here_hold_everything() -> None:
    assert sum(prod(map(len, box)) for box in TREE) == prod(SIZES)
