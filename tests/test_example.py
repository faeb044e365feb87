"""The worked example of the paper's appendix: ten people, two binary attributes."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

import castell
from castell import Attribute, KaryResponse, Reports, Schema, Study
from castell.evaluation.metrics import avd, cramers_v, mse
from castell.linear.operators import Floats

TRUTH = np.array([[4, 0], [2, 4]]) / 10
SEEN = np.array([[3, 1], [3, 3]])


def _study() -> Study:
    asked = Schema([Attribute("A", ["a1", "a2"]), Attribute("B", ["b1", "b2"])])
    return Study(asked, channels={"A": KaryResponse(2, 3, 1), "B": KaryResponse(2, 3, 1)})


def _table(method: str) -> Floats:
    a, b = np.repeat(np.indices((2, 2)).reshape(2, -1), SEEN.ravel(), axis=1)
    model = castell.fit(Reports(_study(), [a, b], secure=True), method)
    return model.estimate(["A", "B"]).probabilities


def test_the_budget() -> None:
    study = _study()
    assert study.epsilon == pytest.approx(2 * log(3), abs=1e-12)
    # The same privacy by RR-Joint: nine against one, of twelve.
    joint = KaryResponse(4, 9, 1)
    assert joint.epsilon == pytest.approx(study.epsilon, abs=1e-12)
    assert (joint.same / joint.total, joint.other / joint.total) == (9 / 12, 1 / 12)


def test_castell() -> None:
    table = _table("castell")
    np.testing.assert_allclose(table, [[0.45, -0.15], [0.25, 0.45]], atol=1e-12)
    assert mse(TRUTH, table) == pytest.approx(0.0075, abs=1e-12)
    assert avd(TRUTH, table) == pytest.approx(0.15, abs=1e-12)


def test_independent() -> None:
    table = _table("independent")
    np.testing.assert_allclose(table, np.outer([0.3, 0.7], [0.7, 0.3]), atol=1e-12)
    assert mse(TRUTH, table) == pytest.approx(0.041, abs=0.0005)  # as printed
    assert avd(TRUTH, table) == pytest.approx(0.29, abs=1e-12)


def test_truncated() -> None:
    # The print has the second margin as (.6, .4) and the MSE as .15: see the paper's notes.
    table = _table("truncated")
    np.testing.assert_allclose(table, [[0.3, 0.0], [0.25, 0.3]], atol=1e-12)
    assert mse(TRUTH, table) == pytest.approx(0.005625, abs=1e-12)
    assert avd(TRUTH, table) == pytest.approx(0.1, abs=1e-12)


def test_the_association() -> None:
    assert cramers_v(TRUTH) == pytest.approx(0.66, abs=0.01)
    assert cramers_v(SEEN) == pytest.approx(0.25, abs=0.005)
    assert cramers_v(_table("independent")) == pytest.approx(0.0, abs=1e-12)
