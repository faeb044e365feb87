"""Maximum likelihood: against closed forms, a general optimiser, and plain EM run for very long."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from castell import KaryResponse, Study
from castell.inference.inversion import Observed, parts_of
from castell.inference.likelihood import DirichletPrior, GammaPrior, Likelihood, Prior, margin
from castell.linear.operators import Floats
from tests.populations import schema

ASYMMETRIC = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]]
WIDE = [[0.6, 0.1, 0.1, 0.2], [0.1, 0.6, 0.2, 0.1]]


def observed(study: Study, counts: Floats) -> Observed:
    parts = parts_of(study, study.names)
    return Observed(study, study.schema.attributes, parts, counts, round(counts.sum()))


def plain_em(likelihood: Likelihood, start: Floats, prior: Prior, steps: int) -> Floats:
    pi = start
    for _ in range(steps):
        pi = likelihood.step(pi, prior)
    return pi


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_closed_form_is_the_maximum(size: int, epsilon: float) -> None:
    generator = np.random.default_rng(size)
    study = Study(schema((size,)), epsilon)
    for _ in range(20):
        counts = generator.multinomial(60, generator.dirichlet(np.full(size, 0.5)))
        seen = observed(study, counts.astype(np.float64))
        found, likelihood = margin(seen), Likelihood.of(seen)
        assert found.sum() == pytest.approx(1.0)
        assert found.min() >= 0.0
        # The gradient is one number where there is mass, and no larger where there is none.
        channel = KaryResponse.with_epsilon(size, epsilon)
        matrix = np.array(channel.weights()) / channel.total
        slope = matrix @ (counts / (found @ matrix))
        top = slope.max()
        np.testing.assert_allclose(slope[found > 1e-9], top, rtol=1e-9)
        longer = plain_em(likelihood, np.full(size, 1 / size), DirichletPrior(np.zeros(size)), 3000)
        assert likelihood.log(found) >= likelihood.log(longer) - 1e-9


@pytest.mark.parametrize("matrix", [ASYMMETRIC, WIDE], ids=["asymmetric", "rectangular"])
def test_any_matrix_by_a_general_optimiser(matrix: list[list[float]]) -> None:
    size = len(matrix)
    study = Study(schema((size,)), channels={"a": matrix})
    counts = np.array([30.0, 9.0, 16.0, 5.0])[: len(matrix[0])]
    likelihood = Likelihood.of(observed(study, counts))

    def loss(free: Floats) -> float:
        pi = np.exp(free - free.max())
        return -likelihood.log(pi / pi.sum())

    best = minimize(loss, np.zeros(size), method="Nelder-Mead", options={"fatol": 1e-12})
    assert likelihood.log(margin(observed(study, counts))) == pytest.approx(-best.fun, abs=1e-6)


def test_a_step_is_never_less_likely() -> None:
    generator = np.random.default_rng(3)
    study = Study(schema((2, 3, 4)), 3.0)
    counts = generator.multinomial(200, generator.dirichlet(np.ones(24))).reshape(2, 3, 4)
    likelihood = Likelihood.of(observed(study, counts.astype(np.float64)))
    pi = generator.dirichlet(np.ones(24)).reshape(2, 3, 4)
    for _ in range(50):
        after = likelihood.step(pi, DirichletPrior(np.zeros((2, 3, 4))))
        assert likelihood.log(after) >= likelihood.log(pi) - 1e-9
        pi = after


@pytest.mark.parametrize("concentration", [0.0, 0.02, 1.0])
def test_the_fast_search_finds_what_the_slow_one_does_from_anywhere(concentration: float) -> None:
    generator = np.random.default_rng(4)
    study = Study(schema((3, 4)), 2.0)
    truth = generator.dirichlet(np.full(12, 0.4)).reshape(3, 4)
    seen = observed(study, np.zeros((3, 4)))
    chances = seen.expected_frequencies(truth)
    counts = generator.multinomial(4000, (chances / chances.sum()).ravel()).reshape(3, 4)
    likelihood = Likelihood.of(seen.replace(counts.astype(np.float64)))
    prior = concentration * 4000 * np.outer(truth.sum(axis=1), truth.sum(axis=0))

    def height(pi: Floats) -> float:
        return likelihood.log(pi) + float((prior * np.log(np.maximum(pi, 1e-300))).sum())

    slow = plain_em(likelihood, np.full((3, 4), 1 / 12), DirichletPrior(prior), 30_000)
    for start in (np.full((3, 4), 1 / 12), generator.dirichlet(np.ones(12)).reshape(3, 4)):
        fast = likelihood.fit(start, DirichletPrior(prior), 1e-6)
        assert height(fast) >= height(slow) - 1e-4
        np.testing.assert_allclose(fast, slow, atol=2e-3)


def test_without_noise_it_is_what_was_seen() -> None:
    study = Study(schema((2, 3)), 50.0)
    counts = np.array([[5.0, 0.0, 3.0], [1.0, 11.0, 0.0]])
    likelihood = Likelihood.of(observed(study, counts))
    found = likelihood.fit(np.full((2, 3), 1 / 6), DirichletPrior(np.zeros((2, 3))))
    np.testing.assert_allclose(found, counts / 20, atol=1e-5)


# -- what is believed beforehand -------------------------------------------------------------------


def noisy(n: int = 4000) -> tuple[Likelihood, Floats]:
    """Reports through noise, and a model that is not the truth."""
    generator = np.random.default_rng(4)
    truth = generator.dirichlet(np.full(12, 0.4)).reshape(3, 4)
    model = generator.dirichlet(np.full(12, 2.0)).reshape(3, 4)
    seen = observed(Study(schema((3, 4)), 3.0), np.zeros((3, 4)))
    chances = seen.expected_frequencies(truth)
    counts = generator.multinomial(n, (chances / chances.sum()).ravel()).reshape(3, 4)
    return Likelihood.of(seen.replace(counts.astype(np.float64))), model


def expected(likelihood: Likelihood, pi: Floats) -> Floats:
    """Where the reports come from if answers are like this: a step without a prior."""
    return likelihood.n * likelihood.step(pi, DirichletPrior(np.zeros_like(pi)))


def test_pseudo_respondents_count_like_real_ones() -> None:
    likelihood, model = noisy()
    found = likelihood.fit(np.full((3, 4), 1 / 12), DirichletPrior(800.0 * model), 1e-8)
    wanted = (expected(likelihood, found) + 800.0 * model) / 4800.0
    np.testing.assert_allclose(found, wanted, atol=1e-8)


@pytest.mark.parametrize("weight", [0.3, 10.0, 1000.0])
def test_nearby_is_a_gamma_prior_in_each_cell_wherever_it_starts(weight: float) -> None:
    likelihood, model = noisy()
    prior = GammaPrior(model, weight, likelihood.n)
    found = [
        likelihood.fit(start, prior, 1e-8)
        for start in (model, np.full((3, 4), 1 / 12), np.eye(3, 4) / 3 * 0.9 + 0.1 / 12)
    ]
    for pi in found:
        assert pi.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(pi, found[0], atol=1e-6)
        # The slopes of the likelihood and of the prior are in balance, up to the sum of one.
        up = expected(likelihood, pi) / pi + weight / pi
        down = likelihood.n + weight / model
        np.testing.assert_allclose(up / down, (up / down).mean(), rtol=1e-5)


def test_nearby_leads_from_the_model_to_the_most_likely() -> None:
    likelihood, model = noisy()
    best = likelihood.fit(model, DirichletPrior(np.zeros((3, 4))), 1e-8)
    found = [
        likelihood.fit(model, GammaPrior(model, weight, likelihood.n), 1e-8)
        for weight in (0.0, 1.0, 30.0, 1000.0, 1e9)
    ]
    np.testing.assert_allclose(found[0], best, atol=1e-6)
    np.testing.assert_allclose(found[-1], model, atol=1e-5)
    logs = [likelihood.log(pi) for pi in found]
    assert logs == sorted(logs, reverse=True)
    gaps = [float(np.abs(np.log(np.maximum(pi, 1e-9) / model)).sum()) for pi in found]
    assert gaps == sorted(gaps, reverse=True)


def test_nearby_believes_large_cells_and_the_model_for_small_ones() -> None:
    # Without noise. As many respondents in a cell as the weight: halfway, as harmonic means are.
    model, n = np.array([0.2, 0.2, 0.2, 0.4]), 1000.0
    drawn = GammaPrior(model, 100.0, n).m_step(np.array([100.0, 0.0, 700.0, 200.0]))
    assert drawn[0] == pytest.approx(2 / (1 / 0.1 + 1 / 0.2))
    # However much it is believed, it bounds a cell: nobody seen is not nobody there.
    assert 0.0 < drawn[1] < 0.2
    factors = [
        GammaPrior(np.array([share]), 10.0, n).m_step(np.array([2 * share * n]))[0] / share
        for share in (0.0001, 0.001, 0.01, 0.1, 0.9)
    ]
    # Twice what the model says: all of it in a large cell, next to nothing in a small one.
    assert factors == sorted(factors)
    assert factors[0] < 1.02
    assert factors[-1] > 1.97
