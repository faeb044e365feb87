"""How wrong a model is about associations: beta^2 and kappa^2 from reports that it has not seen."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from castell.counting import MemoryCounts
from castell.inference.association_error import (
    PRIOR,
    RELATIVE_PRIOR,
    Residuals,
    association_error,
    groups_of,
    leading_functions,
    overall_errors,
    squared_error,
)
from castell.inference.latent.cross_fit_error import mixture_error
from castell.inference.latent.model import learn
from tests.populations import collect, drawn_studies, population, studies


@pytest.mark.parametrize("beta", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("noise", [0.02, 0.2])
def test_beta_is_found_up_to_what_noise_leaves_open(beta: float, noise: float) -> None:
    generator = np.random.default_rng(0)
    variances = np.full(2000, noise**2)
    differences = generator.normal(0.0, np.sqrt(beta**2 + noise**2), 2000)
    found = squared_error(
        [Residuals(differences, variances, np.ones(2000), np.zeros(2000))], PRIOR**2, 0.0
    )
    # The standard error of a variance from 2000 squares, and half of it for caution.
    reach = 5 * (beta**2 + noise**2) * np.sqrt(2 / 2000)
    assert beta**2 - reach <= found <= beta**2 + reach + 1e-4


def test_without_reports_it_is_what_is_known_beforehand() -> None:
    # An exponential has a standard deviation of its mean, and half of it is added.
    assert squared_error([], PRIOR**2, 0.0) == pytest.approx(1.5 * PRIOR**2, rel=0.05)
    nothing = association_error({})
    assert nothing.of("a", "b") == nothing.overall


def test_a_pair_that_stands_out_has_a_beta_of_its_own() -> None:
    generator = np.random.default_rng(1)

    def seen(beta: float, noise: float) -> list[Residuals]:
        differences = generator.normal(0.0, np.sqrt(beta**2 + noise**2), 200)
        return [Residuals(differences, np.full(200, noise**2), np.full(200, 0.2), np.zeros(200))]

    pairs = {frozenset((f"q{i}", f"q{i + 1}")): seen(0.02, 0.02) for i in range(20)}
    odd, blind = frozenset("xy"), frozenset("yz")
    found = association_error({**pairs, odd: seen(0.5, 0.02), blind: seen(0.0, 5.0)})
    assert found.pairs[odd] > 0.1
    assert max(found.pairs[pair] for pair in pairs) < 0.005
    # Of a pair whose reports say nothing, the overall one is believed.
    assert found.pairs[blind] == pytest.approx(1.5 * found.overall, rel=0.2)


def test_groups_have_mean_zero_and_variance_one() -> None:
    generator = np.random.default_rng(0)
    for margin in ([0.5, 0.5], [0.7, 0.2, 0.1], [0.97, 0.01, 0.01, 0.01], [0.1] * 10):
        groups = groups_of(np.array(margin), generator)
        np.testing.assert_allclose(groups @ margin, 0.0, atol=1e-12)
        np.testing.assert_allclose(groups**2 @ margin, 1.0, atol=1e-9)


@pytest.mark.parametrize("beta", [0.0, 0.1])
@pytest.mark.parametrize("kappa", [0.1, 0.5, 1.5])
def test_errors_that_go_along_with_what_is_shown_are_told_from_the_others(
    beta: float, kappa: float
) -> None:
    generator = np.random.default_rng(0)
    shown = np.where(np.arange(4000) % 2, generator.uniform(0.2, 0.8, 4000), 0.0)
    total = beta**2 + kappa**2 * shown**2 + 0.03**2
    differences = generator.normal(0.0, np.sqrt(total))
    ones = np.ones(4000)
    found = overall_errors([Residuals(differences, 0.03**2 * ones, ones, shown)])
    assert found[0] == pytest.approx(beta**2, rel=0.25, abs=5e-4)
    assert found[1] == pytest.approx(kappa**2, rel=0.25, abs=0.01)


def test_where_a_model_shows_no_association_nothing_is_known_of_a_relative_error() -> None:
    ones = np.ones(100)
    for found in ([], [Residuals(0.1 * ones, 0.01 * ones, ones, 0.0 * ones)]):
        assert overall_errors(found)[1] == pytest.approx(1.5 * RELATIVE_PRIOR, rel=0.05)


def test_leading_functions_go_together_most() -> None:
    generator = np.random.default_rng(2)
    table = generator.dirichlet(np.ones(20)).reshape(4, 5)
    one, two = leading_functions(table)
    for functions, margin in ((one, table.sum(axis=1)), (two, table.sum(axis=0))):
        np.testing.assert_allclose(functions @ margin, 0.0, atol=1e-9)
        np.testing.assert_allclose((functions * margin) @ functions.T, np.eye(2), atol=1e-9)
    most = float(one[0] @ table @ two[0])
    for _ in range(200):
        u, v = (groups_of(table.sum(axis=k), generator)[:1] for k in (1, 0))
        assert abs((u @ table @ v.T).item()) <= most + 1e-9


def test_independent_attributes_and_a_single_value_have_no_leading_functions() -> None:
    apart = np.outer([0.2, 0.8], [0.5, 0.3, 0.2])
    assert [len(functions) for functions in leading_functions(apart)] == [0, 0]
    assert [len(functions) for functions in leading_functions(np.array([[0.4, 0.6]]))] == [0, 0]


@pytest.mark.parametrize("design", ["independent", "pairs", "joint", "clusters", "cover", "cyclic"])
def test_beta_of_a_model_is_how_far_it_is_off(design: str) -> None:
    """A model that is stopped early misses associations; beta tells how much, without the truth."""
    study = {**studies(2.0), **drawn_studies()}[design]
    people = population(study.schema.sizes, seed=4, sharpness=2.0)
    found, truth = [], []
    for seed in range(3):
        counts = MemoryCounts(collect(study, people.table, 30_000, np.random.default_rng(seed)))
        fitted = learn(counts, 3, None, 1)
        found.append(
            mixture_error(
                counts, fitted.mixture, fitted.hyperparameters, fitted.fold_models
            ).overall
        )
        off = []
        generator = np.random.default_rng(9)
        for one, two in combinations(range(3), 2):
            mine = fitted.mixture.table([one, two])
            gap = people.margin([study.names[one], study.names[two]]) - mine
            u, v = (groups_of(mine.sum(axis=1 - k), generator) for k in (0, 1))
            off.append(np.einsum("ka,ab,kb->k", u, gap, v))
        truth.append(float((np.concatenate(off) ** 2).mean()))
    # Within a factor of two of what it is, or above it: it is cautious, and knows noise.
    assert np.mean(found) >= 0.5 * np.mean(truth)
    assert np.sqrt(np.mean(found)) <= 4 * np.sqrt(np.mean(truth)) + 0.05
