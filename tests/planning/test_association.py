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
def test_samples_that_few_draw(people: float) -> None:
    """Next to many samples of Poisson size, parted into folds: nothing is tried on empty ones, and
    each sample counts once however many of its folds have reports."""
    noise = PairNoise(np.array([0.01]), np.array([2.0]), np.array([1.0]), 1e-3, 1.0)
    n = round(1_000 * people)
    told = noise.residuals(n, 0.5)
    folds = np.random.default_rng(7).poisson(people / FOLDS, (200_000, FOLDS))
    some = folds.sum(axis=1) > 0
    # Four standard errors of 200,000 samples, and more.
    assert told.weights[0] == pytest.approx(some.mean(), abs=0.005)
    assert noise.variances[0] / told.variances[0] == pytest.approx(
        folds[folds > 0].mean(), rel=0.01
    )


def test_as_many_samples_are_tried_as_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 495 sets of attributes 300 people draw less than half, and a model is tried on some of
    their 6 pairs each: at most `most_pairs` in all."""
    tried: list[int] = []

    def noted(found: dict[frozenset[str], list[Residuals]]) -> object:
        tried.append(sum(map(len, found.values())))
        return association_error(found)

    monkeypatch.setattr(cross_fit_error, "association_error", noted)
    names, n = [f"q{k}" for k in range(12)], 300
    schema = castell.Schema(castell.Attribute(name, ["no", "yes"]) for name in names)
    study = castell.Study(schema, 8.0, sample=4)
    answers = np.random.default_rng(3).choice(["no", "yes"], (n, len(names)))
    people = dict(zip(names, map(list, answers.T), strict=True))
    castell.fit(study.randomize(people, seed=5), "latent").estimate("q0").conf_int()
    found = Outlook(study, population_of(schema, people)).associations
    (noise, _) = found.noise("q0", "q1")
    expected = 495 * 6 * noise.drawn_by_some(n) * found.error(n).tried
    assert tried == [pytest.approx(expected, rel=0.1)]
    assert found.error(100_000).tried == pytest.approx(1 / 10)
