"""The estimator `em`: what its penalty does, how it is chosen, and that it pays."""

from __future__ import annotations

import numpy as np
import pytest

import castell
from castell import Reports, Study
from castell.counting import MemoryCounts
from castell.errors import OptionError
from castell.estimators import em
from castell.inference.inversion import observe
from castell.linear.operators import Floats
from tests.populations import collect, population, schema


def _independent() -> Floats:
    return np.outer([0.2, 0.5, 0.3], [0.4, 0.1, 0.25, 0.25])


def test_the_concentration_leads_from_the_most_likely_table_to_independence() -> None:
    people = population((3, 4), seed=8)
    reports = collect(Study(people.schema, 3.0), people.table, 2000, np.random.default_rng(0))
    observed = observe(MemoryCounts(reports), reports.study.names)
    plain = em.independent(observed)
    gaps = []
    for concentration in (0.0, 0.01, 0.1, 1.0, 1e6):
        table = castell.estimate(
            reports, ["a", "b"], "em", concentration=concentration
        ).probabilities
        assert table.min() >= 0.0
        assert table.sum() == pytest.approx(1.0)
        gaps.append(np.abs(table - plain).sum())
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-4


def _chosen(reports: Reports) -> float:
    observed = observe(MemoryCounts(reports), ["a", "b"])
    return em.choose(observed, em.folds(observed))


@pytest.mark.parametrize("seed", range(5))
def test_held_out_reports_ask_for_independence_where_it_holds(seed: int) -> None:
    study = Study(schema((3, 4)), 2.0)
    reports = collect(study, _independent(), 3000, np.random.default_rng(seed))
    assert _chosen(reports) >= 0.03


@pytest.mark.parametrize("seed", range(5))
def test_and_for_the_table_where_it_does_not(seed: int) -> None:
    diagonal = np.diag([0.3, 0.3, 0.4]) * 0.9 + 0.1 / 9
    study = Study(schema((3, 3)), 6.0)
    reports = collect(study, diagonal / diagonal.sum(), 5000, np.random.default_rng(seed))
    assert _chosen(reports) <= 0.01


@pytest.mark.parametrize(
    ("n", "epsilon", "of_castell", "of_independent"),
    # With next to no signal independence is hard to beat; it must not be lost sight of.
    [(2000, 2.0, 0.02, 3.0), (20_000, 3.0, 0.2, 1.0), (20_000, 9.0, 1.2, 0.3)],
)
def test_it_errs_less_than_inversion_and_than_independence(
    n: int, epsilon: float, of_castell: float, of_independent: float
) -> None:
    people = population((3, 5, 4), seed=2)
    study = Study(people.schema, epsilon)
    squares: dict[str, list[float]] = {"castell": [], "independent": [], "em": []}
    for seed in range(12):
        reports = collect(study, people.table, n, np.random.default_rng(seed))
        for method, found in squares.items():
            table = castell.estimate(reports, study.names, method).probabilities
            found.append(float(((table - people.table) ** 2).sum()))
    mean = {method: np.mean(found) for method, found in squares.items()}
    assert mean["em"] < of_castell * mean["castell"]
    assert mean["em"] < of_independent * mean["independent"]


@pytest.mark.parametrize("concentration", [-1.0, float("inf"), float("nan"), "1", True])
def test_a_concentration_is_a_number_from_0_up(concentration: object) -> None:
    study = Study(schema((2,)), 1.0)
    reports = study.randomize({"a": ["a0"]})
    with pytest.raises(OptionError, match="concentration is"):
        castell.fit(reports, "em", concentration=concentration)


def test_the_note_says_how_far_it_was_drawn() -> None:
    people = population((3, 4), seed=8)
    reports = collect(Study(people.schema, 3.0), people.table, 500, np.random.default_rng(0))
    joint = castell.estimate(reports, ["a", "b"], "em", concentration=0.1)
    assert "0.1 pseudo-respondents" in joint.summary()


@pytest.mark.parametrize("n", [5_000, 5_000_000])
def test_far_from_the_edges_its_errors_are_those_of_inversion(n: int) -> None:
    # There the most likely table is the unbiased one, so a search that stops short shows.
    truth = np.full((2, 3), 1 / 6)
    study = Study(schema((2, 3)), 2.0)
    reports = collect(study, truth, n, np.random.default_rng(1))
    likely = castell.estimate(reports, ["a", "b"], "em", concentration=0.0)
    unbiased = castell.estimate(reports, ["a", "b"], "castell")
    np.testing.assert_allclose(likely.probabilities, unbiased.probabilities, atol=1e-4)
    ratio = likely.standard_errors / unbiased.standard_errors
    np.testing.assert_allclose(ratio, 1.0, atol=0.25)
