"""Of a group that nobody is in, or too few, nothing is known: no answer says that it is."""

from __future__ import annotations

import json
from math import isnan

import numpy as np
import pytest

import castell
from castell import Attribute, Model, Study

# Nobody lives in the west, and everybody can see that.
ASKED = [
    Attribute("region", ["north", "south", "west"], public=True),
    Attribute("smokes", ["no", "yes"]),
    Attribute("age", ["0", "1", "2"]),
]
WEST, NORTH = {"region": "west"}, {"region": "north"}
METHODS = ("castell", "auto", "latent", "em", "independent")


def fitted(design: str, method: str) -> Model:
    generator, n = np.random.default_rng(1), 2000
    answers = {
        "region": np.array(["north", "south"])[generator.integers(0, 2, n)],
        "smokes": np.array(["no", "yes"])[generator.integers(0, 2, n)],
        "age": np.array(["0", "1", "2"])[generator.integers(0, 3, n)],
    }
    return castell.fit(Study(ASKED, 6.0, design).randomize(answers, seed=3), method)


@pytest.mark.parametrize("design", ["independent", "cover"])
@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_known_of_nobody(design: str, method: str) -> None:
    model = fitted(design, method)
    among = model.conditional("smokes", given=WEST)
    low, high = among.conf_int()
    assert (low == 0.0).all()
    assert (high == 1.0).all()
    assert np.isnan(among.standard_errors).all()
    rows = model.conditional("smokes", given="region").standard_errors
    assert np.isnan(rows[2]).all()
    assert np.isfinite(rows[:2]).all()
    mean = model.mean("age", given=WEST)
    assert isnan(mean.standard_error)
    assert mean.conf_int() == (0.0, 2.0)
    compared = model.compare({"smokes": "yes"}, given=WEST, versus=NORTH)
    assert [isnan(error) for error in compared.standard_errors] == [True, False]
    for contrast in compared.contrasts:
        assert isnan(contrast.standard_error)
        assert isnan(contrast.p_value)
    assert "not known" in compared.summary()
    # What is not known is null in JSON, not 0.
    told = json.loads(json.dumps(among.to_dict(), allow_nan=False))
    assert told["standard_errors"] == [None, None]


def test_a_quantile_of_nobody_is_not_known() -> None:
    median = fitted("independent", "castell").quantile("age", given=WEST)
    assert isinstance(median.value, float)
    assert isnan(median.value)
    assert median.label == ""
    assert not median.is_known
    assert median.bounds == median.conf_int() == (0.0, 2.0)
    assert "not known" in median.summary()
    assert median.to_dict()["value"] is None


def test_an_error_that_goes_with_its_interval_is_said() -> None:
    # Three of the west: hardly anything is known, and the error says how little.
    study = Study(ASKED[:2], 2.0)
    answers = {"region": ["west"] * 3 + ["north"] * 997, "smokes": ["no", "yes"] * 500}
    model = castell.fit(study.randomize(answers, seed=5), "castell")
    for given in (WEST, NORTH):
        found = model.conditional({"smokes": "yes"}, given=given)
        low, high = (float(end[0]) for end in found.conf_int())
        assert 2 * 1.96 * float(found.standard_errors[0]) >= 0.9 * (high - low)
    everybody = castell.fit(Study(ASKED[2:], 0.01).randomize({"age": ["0", "1"] * 5}, seed=1))
    assert everybody.mean("age").standard_error > 1.0  # no group: it is what it is
