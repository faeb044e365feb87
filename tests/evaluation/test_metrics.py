"""Distances by hand, Cramer's V by scipy, and what is left of V when noise is taken out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats.contingency import association

import castell
from castell import Study
from castell.evaluation.metrics import (
    METRICS,
    attribute_sets,
    avd,
    cramers_v,
    mae,
    mse,
    over_sets,
    tvd,
)
from tests.populations import Population, collect, product, schema


def test_by_hand() -> None:
    truth, guess = [[0.5, 0.25], [0.25, 0.0]], [[0.4, 0.45], [0.25, -0.1]]
    assert avd(truth, guess) == pytest.approx(0.2)
    assert mae(truth, guess) == pytest.approx(0.1)
    assert mse(truth, guess) == pytest.approx(0.06 / 4)
    assert tvd(truth, guess) == pytest.approx(0.2)
    for metric in METRICS.values():
        assert metric(truth, truth) == 0.0
        assert metric(guess, truth) == metric(truth, guess)


@pytest.mark.parametrize("name", METRICS)
def test_tables_of_different_shapes_are_not_compared(name: str) -> None:
    # numpy would stretch one over the other.
    with pytest.raises(ValueError, match=r"shapes \(2, 2\) and \(2,\)"):
        METRICS[name](np.ones((2, 2)), np.ones(2))


@pytest.mark.parametrize("shape", [(2, 2), (2, 5), (4, 3), (7, 7)])
def test_cramers_v_is_scipys(shape: tuple[int, int]) -> None:
    counts = np.random.default_rng(sum(shape)).integers(1, 50, shape)
    expected = association(counts, method="cramer")
    assert cramers_v(counts) == pytest.approx(expected, rel=1e-12)
    assert cramers_v(counts / counts.sum()) == pytest.approx(expected, rel=1e-12)
    assert cramers_v(counts.T) == pytest.approx(expected, rel=1e-12)


def test_cramers_v_at_its_ends() -> None:
    assert cramers_v(np.eye(4)) == pytest.approx(1.0)
    assert cramers_v(np.outer([0.2, 0.8], [0.5, 0.3, 0.2])) == pytest.approx(0.0, abs=1e-12)
    # A value that nobody has says nothing of dependence.
    assert cramers_v([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]]) == pytest.approx(1.0)
    # More noise than there is difference.
    assert cramers_v([[0.3, 0.2], [0.2, 0.3]], noise=np.full((2, 2), 0.1)) == 0.0


@pytest.mark.parametrize("table", [[0.5, 0.5], [[0.5, 0.5]], np.ones((2, 2, 2))], ids=str)
def test_cramers_v_is_of_two_attributes(table: object) -> None:
    with pytest.raises(ValueError, match="two attributes of two values"):
        cramers_v(np.asarray(table))


def test_noise_is_taken_out_of_v() -> None:
    free = product({"a": [0.5, 0.3, 0.2], "b": [0.4, 0.4, 0.2]})
    tied = Population(
        schema((3, 3)), np.array([[0.3, 0.05, 0.05], [0.05, 0.2, 0.05], [0.05, 0.05, 0.2]])
    )
    generator = np.random.default_rng(5)
    for people, true_v in ((free, 0.0), (tied, cramers_v(tied.table))):
        study = Study(people.schema, 2.0)
        plain, cleaned = [], []
        for _ in range(100):
            joint = castell.estimate(
                collect(study, people.table, 3000, generator), ["a", "b"], "castell"
            )
            table, errors = joint.probabilities, joint.standard_errors
            plain.append(cramers_v(table) ** 2)
            cleaned.append(cramers_v(table, noise=errors**2) ** 2)
        # V^2 is what the noise adds to; it is cut at 0, so its mean stays a little above.
        assert abs(np.mean(cleaned) - true_v**2) < 0.4 * (np.mean(plain) - true_v**2)
        if not true_v:
            assert np.median(cleaned) < 0.01


def test_sets_of_attributes() -> None:
    names = ["a", "b", "c", "d", "e"]
    assert len(attribute_sets(names, 3)) == 10
    assert attribute_sets(names, 6) == []
    some = attribute_sets(names, 3, most=4, seed=1)
    assert len(set(some)) == 4
    assert set(some) <= set(attribute_sets(names, 3))
    assert some == attribute_sets(names, 3, most=4, seed=1)
    assert some != attribute_sets(names, 3, most=4, seed=2)
    assert attribute_sets(names, 3, most=10) == attribute_sets(names, 3)


def test_means_over_sets() -> None:
    truth: dict[tuple[str, ...], list[float]] = {("a",): [0.5, 0.5], ("b",): [1.0, 0.0]}
    guess: dict[tuple[str, ...], list[float]] = {("a",): [0.4, 0.6], ("b",): [0.7, 0.2]}
    found = over_sets(truth.__getitem__, guess.__getitem__, truth, ["avd", "tvd", "mse"])
    assert found["avd"][0] == pytest.approx(0.2)
    assert found["avd"][1] == pytest.approx([0.1, 0.3])
    assert found["tvd"][1] == pytest.approx([0.1, 0.25])
    assert found["mse"][0] == pytest.approx((0.01 + 0.065) / 2)
