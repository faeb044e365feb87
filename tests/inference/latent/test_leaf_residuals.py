"""Leaves that a model has not seen: associations by chance, and those of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from castell.channels import KaryResponse, PartitionResponse
from castell.inference.latent.coarse_blocks import Leaves, leaves_of_blocks
from castell.inference.latent.leaf_pairs import LeafPairs
from castell.inference.latent.leaf_residuals import leaf_blocks, leaf_residuals
from castell.inference.latent.mixture import Mixture, random_start, shrink_to_margins
from castell.inference.latent.sufficient_statistics import LeafTable
from castell.inference.model_error import NOTHING, DirectEstimate, UnbiasedPairs
from castell.linear.operators import Floats
from tests.inference.latent.leaf_examples import (
    MARGINS,
    SIZES,
    chances_of_all,
    grid_table,
    leaf_functions,
    leaf_table,
    main_effects_of,
    tree_table,
)

NAMES = ("a", "b", "c")


def test_associations_of_leaves_have_no_main_effect_and_variance_one() -> None:
    table = tree_table()
    found = Leaves((table,), MARGINS).associations
    assert found is not None
    functions = found @ leaf_functions([table])
    for function in functions:
        np.testing.assert_allclose(main_effects_of(function), 0.0, atol=1e-10)
    np.testing.assert_allclose((functions**2) @ chances_of_all(), 1.0, rtol=1e-9)


def test_leaves_that_only_part_one_attribute_show_no_association() -> None:
    boxes = tuple(PartitionResponse.grid((2, 3), ([[0, 1]], [[0], [1], [2]])))
    channel = PartitionResponse((2, 3), boxes, KaryResponse.with_epsilon(3, 1.0))
    table = leaf_table(channel, (0, 1), np.array([5.0, 5.0, 5.0]))
    assert Leaves((table,), MARGINS).associations is None


def test_residuals_of_a_true_model_are_noise_and_no_more() -> None:
    # Reports drawn from the model itself: the squares of the residuals are their variances.
    mixture = random_start(MARGINS, 4, 0.6, np.random.default_rng(5))
    table = tree_table()
    expected, leaves = table.report_probabilities(mixture), leaves_of_blocks([table], mixture)
    generator = np.random.default_rng(6)
    squares = []
    for _ in range(300):
        drawn = generator.multinomial(400, expected, 5).astype(np.float64)
        folds = [[table.with_counts(counts)] for counts in drawn]
        (places, found), *pairs = leaf_residuals(folds, [mixture] * 5, leaves)
        assert places == (0, 1, 2)
        assert {pair for pair, _ in pairs} <= {(0, 1), (0, 2), (1, 2)}
        every = [found, *(residuals for _, residuals in pairs)]
        ratios = [each.differences**2 / each.variances for each in every]
        squares.append(float(np.mean(np.concatenate(ratios))))
    # 300 means of 200 dependent squares; by their own scatter, five standard errors.
    error = np.std(squares) / np.sqrt(len(squares))
    assert abs(np.mean(squares) - 1.0) < 5.2 * error < 0.2


def test_residuals_of_a_wrong_model_show_what_it_misses() -> None:
    wrong = random_start(MARGINS, 1, 0.0, np.random.default_rng(0))
    table = tree_table()
    # Two kinds of people with the same margins together, but associated.
    right = Mixture(np.array([0.5, 0.5]), np.array([_shifted(0.25), _shifted(-0.25)]), SIZES)
    expected = table.report_probabilities(right)
    folds = [[table.with_counts(1e7 * expected)] for _ in range(5)]
    (_, found), *_ = leaf_residuals(folds, [wrong] * 5, leaves_of_blocks([table], wrong))
    assert float(np.mean(found.differences**2 / found.variances)) > 100


def _shifted(by: float) -> Floats:
    parts = [m.copy() for m in MARGINS]
    for part in parts:
        part[-1] += by * part[-1]
        part[0] -= by * part[-1] / (1 + by)
    return np.concatenate([np.maximum(p, 0.01) / np.maximum(p, 0.01).sum() for p in parts])


def test_a_pair_is_projected_onto_the_associations_of_leaves() -> None:
    """Next to least squares over all combinations of answers."""
    mixture = random_start(MARGINS, 1, 0.0, np.random.default_rng(0))
    table, chances = tree_table(), chances_of_all()
    (block,) = leaf_blocks([[table]], [mixture], leaves_of_blocks([table], mixture))
    rows, columns = np.eye(2) - MARGINS[0], (np.eye(4) - MARGINS[2])[:2]
    found, squares = block.project(0, 2, rows, columns)
    functions = leaf_functions([table])
    # Sums of leaves whose mean and main effects are all 0.
    left, sizes, _ = np.linalg.svd(np.array([main_effects_of(f) for f in functions]))
    apart = left[:, int((sizes > 1e-9).sum()) :].T @ functions
    for k in range(2):
        wanted = np.einsum("a,b,c->abc", rows[k], np.ones(3), columns[k]).ravel()
        weights = np.sqrt(chances)
        best, *_ = np.linalg.lstsq((apart * weights).T, wanted * weights, rcond=1e-10)
        np.testing.assert_allclose(found[k] @ functions, best @ apart, atol=1e-9)
        assert squares[k] == pytest.approx(float((best @ apart) ** 2 @ chances), rel=1e-9)


def _finest() -> PartitionResponse:
    """Every pair of answers of the last two attributes is a leaf: all is told."""
    boxes = tuple(PartitionResponse.grid((3, 4), ([[0], [1], [2]], [[0], [1], [2], [3]])))
    return PartitionResponse((3, 4), boxes, KaryResponse.with_epsilon(12, 3.0))


def _right() -> Mixture:
    """Two kinds of people with the same margins together, but associated."""
    return Mixture(np.array([0.5, 0.5]), np.array([_shifted(0.25), _shifted(-0.25)]), SIZES)


def test_a_model_that_keeps_half_of_an_association_is_off_by_as_much_as_it_shows() -> None:
    channel, right = _finest(), _right()
    half = shrink_to_margins(right, (1.0, 1.0, 0.5))
    shown = half.table([1, 2]) - np.outer(*(half.weights @ half.parts[a] for a in (1, 2)))
    full = right.table([1, 2]) - np.outer(*(right.weights @ right.parts[a] for a in (1, 2)))
    np.testing.assert_allclose(full, 2.0 * shown, atol=1e-12)
    table = leaf_table(channel, (1, 2), np.ones(12))
    folds = [[table.with_counts(1e7 * table.report_probabilities(right))] for _ in range(5)]
    *_, (pair, found) = leaf_residuals(folds, [half] * 5, leaves_of_blocks([table], half))
    assert pair == (1, 2)
    np.testing.assert_allclose(found.differences, found.associations, rtol=1e-6, atol=1e-9)
    assert found.weights.sum() == pytest.approx(len(found.weights) / 5)


def test_leaves_that_hardly_tell_a_pair_say_nothing_of_it() -> None:
    """One value against all others tells less than half of an association of four values."""
    boxes = tuple(PartitionResponse.grid((3, 4), ([[0], [1, 2]], [[0, 1, 2], [3]])))
    channel, right = PartitionResponse((3, 4), boxes, KaryResponse.with_epsilon(4, 3.0)), _right()
    table = leaf_table(channel, (1, 2), np.ones(4))
    folds = [[table.with_counts(1e4 * table.report_probabilities(right))] for _ in range(5)]
    far = random_start(MARGINS, 6, 0.8, np.random.default_rng(3))
    leaves = leaves_of_blocks([table], far)
    (block,) = leaf_blocks([[table]], [far], leaves)
    told = list(leaf_residuals(folds, [far] * 5, leaves))
    assert block.attributes == (1, 2)
    many = [len(found.differences) for pair, found in told[1:]]
    assert sum(many) < 10  # two functions of five models, were all of them told


def _leaf_pairs(mixture: Mixture, tables: list[LeafTable]) -> LeafPairs:
    return LeafPairs.of(NAMES, mixture, tables, leaves_of_blocks(tables, mixture), 0.04)


def _unbiased(values: Floats, variance: float) -> UnbiasedPairs:
    known = DirectEstimate(values, np.full(values.shape, variance))
    return UnbiasedPairs(lambda _, given: given or known, NOTHING.shares)


def test_leaves_and_reports_of_a_pair_are_one_estimate() -> None:
    """Where leaves tell all, it is the mean of the two with weights of one over the variances."""
    channel, right = _finest(), _right()
    wrong = random_start(
        tuple(right.weights @ p for p in right.parts), 1, 0.0, np.random.default_rng(0)
    )
    n = 5_000.0
    chances = channel.inner.forward.apply_last(right.table([1, 2]).ravel())
    table = leaf_table(channel, (1, 2), n * chances)
    pairs = _leaf_pairs(wrong, [table])
    truth = right.table([1, 2])
    nearly_alone = pairs.beside(_unbiased(np.full((3, 4), 0.7), 1e6)).table(("b", "c"), None)
    assert nearly_alone is not None
    np.testing.assert_allclose(nearly_alone.values, truth, atol=1e-9)
    inverse = table.inverse.dense()
    expected = table.report_probabilities(wrong)
    # The variance of an interaction of cells under the model, through the channel.
    first, second = (wrong.weights @ wrong.parts[a] for a in (1, 2))
    cell = np.einsum("a,b->ab", np.eye(3)[0] - first[0], np.eye(4)[1] - second[1]).ravel()
    gains = cell @ inverse
    variance = float(gains**2 @ expected - (gains @ expected) ** 2) / n
    assert nearly_alone.variance[0, 1] == pytest.approx(variance, rel=1e-6)
    both = pairs.beside(_unbiased(truth + 0.01, variance)).table(("b", "c"), None)
    assert both is not None
    assert both.values[0, 1] == pytest.approx(truth[0, 1] + 0.005, rel=1e-6)
    assert both.variance[0, 1] == pytest.approx(variance / 2, rel=1e-6)


def test_a_pair_that_leaves_do_not_hold_is_what_its_reports_say() -> None:
    pairs = _leaf_pairs(_right(), [grid_table()])
    values = np.full((2, 3), 1.0 / 6)
    found = pairs.beside(_unbiased(values, 1e-4)).table(("a", "b"), None)
    assert found is not None
    np.testing.assert_allclose(found.values, values)
    np.testing.assert_allclose(found.variance, 1e-4)
    assert pairs.beside(NOTHING).table(("b", "c"), None) is None


def test_shares_have_the_same_as_the_cells_of_the_table() -> None:
    pairs = _leaf_pairs(_right(), [grid_table(), tree_table()])
    direct = np.random.default_rng(4).dirichlet(np.ones(12)).reshape(3, 4)
    whole = pairs.beside(_unbiased(direct, 1e-3)).table(("b", "c"), None)
    cells = [(0, 1), (2, 3)]
    queries = [{"b": np.array([b]), "c": np.array([c])} for b, c in cells]
    known = DirectEstimate(np.array([direct[cell] for cell in cells]), np.diag([1e-3, 1e-3]))
    found = pairs.beside(NOTHING).shares(queries, known)
    assert whole is not None
    assert found is not None
    np.testing.assert_allclose(found.values, [whole.values[cell] for cell in cells], rtol=1e-12)
    np.testing.assert_allclose(
        np.diag(found.variance), [whole.variance[cell] for cell in cells], rtol=1e-12
    )
