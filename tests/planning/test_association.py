"""What held-out reports are expected to tell of a model's associations, next to what they told."""

from __future__ import annotations

import numpy as np
import pytest

import castell
from castell.counting.folds import FOLDS
from castell.inference.association_error import Residuals, association_error
from castell.inference.latent import cross_fit_error
from castell.planning.association import PairNoise
from castell.planning.forecast import Outlook
from castell.planning.population import population_of


@pytest.mark.parametrize("people", [0.2, 1.4, 10.0, 400.0])
def test_pairs_that_few_report(people: float) -> None:
    """Next to many samples of Poisson size, parted into folds: nothing is tried on empty ones, and
    each pair counts once however many of its folds have reports."""
    one = np.ones((1, 1))
    noise = PairNoise(one[0], one, one, np.inf, np.array([2.0]), np.array([1.0]), 1e-3)
    n = round(1_000 * people)
    told = noise.residuals(n, one[0], 0.5 * one[0])
    folds = np.random.default_rng(7).poisson(people / FOLDS, (200_000, FOLDS))
    some = folds.sum(axis=1) > 0
    # Four standard errors of 200,000 samples, and more.
    assert told.weights[0] == pytest.approx(some.mean(), abs=0.005)
    assert noise.variances[0] / told.variances[0] == pytest.approx(
        folds[folds > 0].mean(), rel=0.01
    )


def _schema(many: int) -> tuple[castell.Schema, dict[str, list[str]]]:
    """Questions, and unassociated answers of 300 people."""
    names = [f"q{k}" for k in range(many)]
    schema = castell.Schema(castell.Attribute(name, ["no", "yes"]) for name in names)
    answers = np.random.default_rng(3).choice(["no", "yes"], (300, many))
    return schema, dict(zip(names, map(list, answers.T), strict=True))


def test_samples_of_a_pair_are_one_estimate_as_noisy_as_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 495 sets of attributes 300 people draw less than half; 45 hold a pair. Each pair is tried
    once, on the reports of all of them, and what these are worth is predicted."""
    tried: list[Residuals] = []

    def noted(found: dict[frozenset[str], list[Residuals]]) -> object:
        tried.extend(each for several in found.values() for each in several)
        return association_error(found)

    monkeypatch.setattr(cross_fit_error, "association_error", noted)
    schema, people = _schema(12)
    study = castell.Study(schema, 8.0, sample=4)
    castell.fit(study.randomize(people, seed=5), "latent").estimate("q0").conf_int()
    found = Outlook(study, population_of(schema, people)).associations
    noise = found.noise("q0", "q1")
    assert noise is not None
    assert noise.reports == pytest.approx(1 / 11, rel=1e-6)
    assert noise.tried == 1.0
    assert len(tried) == found.pairs_tried == 66
    variances = np.concatenate([each.variances for each in tried])
    sizes = found.factors.sizes
    expected = noise.residuals(300, sizes, np.zeros_like(sizes)).variances
    assert 1 / np.mean(1 / variances) == pytest.approx(1 / np.mean(1 / expected), rel=0.1)


def test_of_many_pairs_and_samples_some_are_tried() -> None:
    schema, people = _schema(26)
    like = population_of(schema, people)
    wide = Outlook(castell.Study(schema, 26.0), like).associations
    assert wide.pairs_tried == 163  # of 325, every second one
    assert wide.error(1_000).of("q0", "q1") == wide.error(1_000).overall
    few = castell.Schema(list(schema)[:20])
    drawn = Outlook(castell.Study(few, 8.0, sample=3), population_of(few, people)).associations
    assert drawn.pairs_tried == 190
    noise = drawn.noise("q3", "q9")
    assert noise is not None
    # Eighteen samples hold a pair, and 3,000 tables of 190 pairs are 15 of each.
    assert noise.tried == pytest.approx(15 / 18)
