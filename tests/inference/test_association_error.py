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
    error_rates,
    groups_of,
    leading_functions,
)
from castell.inference.latent.cross_fit_error import mixture_error
from castell.inference.latent.model import learn
from castell.linear.operators import Floats
from tests.populations import collect, drawn_studies, population, studies


@pytest.mark.parametrize("beta", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("noise", [0.02, 0.2])
def test_beta_is_found_up_to_what_noise_leaves_open(beta: float, noise: float) -> None:
    generator = np.random.default_rng(0)
    differences = generator.normal(0.0, np.sqrt(beta**2 + noise**2), 2000)
    found = error_rates([_residuals(differences, noise)]).absolute
    # The standard error of a variance from 2000 squares, and half of it for caution.
    reach = 5 * (beta**2 + noise**2) * np.sqrt(2 / 2000)
    assert beta**2 - reach <= found <= beta**2 + reach + 1e-4


def _residuals(differences: Floats, noise: float, weight: float = 1.0) -> Residuals:
    """Of a model that shows no association."""
    ones = np.ones_like(differences)
    return Residuals(differences, noise**2 * ones, weight * ones, 0.0 * ones)


def test_without_reports_it_is_what_is_known_beforehand() -> None:
    # An exponential has a standard deviation of its mean, and half of it is added.
    assert error_rates([]).absolute == pytest.approx(1.5 * PRIOR**2, rel=0.05)
    assert error_rates([]).relative == pytest.approx(1.5 * RELATIVE_PRIOR, rel=0.05)
    nothing = association_error({})
    assert nothing.of("a", "b") == nothing.overall


def test_a_pair_that_stands_out_has_a_beta_of_its_own() -> None:
    generator = np.random.default_rng(1)

    def seen(beta: float, noise: float) -> list[Residuals]:
        differences = generator.normal(0.0, np.sqrt(beta**2 + noise**2), 200)
        return [_residuals(differences, noise, 0.2)]

    pairs = {frozenset((f"q{i}", f"q{i + 1}")): seen(0.02, 0.02) for i in range(20)}
    odd, blind = frozenset("xy"), frozenset("yz")
    found = association_error({**pairs, odd: seen(0.5, 0.02), blind: seen(0.0, 5.0)})
    assert found.of(*odd).absolute > 0.1
    assert max(found.of(*pair).absolute for pair in pairs) < 0.005
    # Of a pair whose reports say nothing, the overall one is believed.
    overall = found.overall.absolute
    assert found.of(*blind).absolute == pytest.approx(1.5 * overall, rel=0.2)


def test_a_pair_borrows_no_relative_error_from_others() -> None:
    """Of some pairs reports show that the model keeps their associations, of one they do not."""
    generator = np.random.default_rng(3)

    def seen(noise: float) -> list[Residuals]:
        shown, ones = np.full(100, 0.5), np.ones(100)
        differences = generator.normal(0.0, noise, 100)
        return [Residuals(differences, noise**2 * ones, 0.2 * ones, shown)]

    pairs = {frozenset((f"q{i}", f"q{i + 1}")): seen(0.02) for i in range(19)}
    blind = frozenset("yz")
    found = association_error({**pairs, blind: seen(20.0)})
    assert max(found.of(*pair).relative for pair in pairs) < 0.02
    assert found.overall.relative < 0.01
    assert found.of(*blind).relative == pytest.approx(1.5 * RELATIVE_PRIOR, rel=0.1)


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
    found = error_rates([Residuals(differences, 0.03**2 * ones, ones, shown)])
    assert found.absolute == pytest.approx(beta**2, rel=0.25, abs=5e-4)
    assert found.relative == pytest.approx(kappa**2, rel=0.25, abs=0.01)


def test_where_a_model_shows_no_association_nothing_is_known_of_a_relative_error() -> None:
    found = error_rates([_residuals(np.full(100, 0.1), 0.1)])
    assert found.relative == pytest.approx(1.5 * RELATIVE_PRIOR, rel=0.05)


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
            ).overall.absolute
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
