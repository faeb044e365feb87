"""Values that are no answer are left out of a formula: regressions are of those who answered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, Schema, Study
from castell.errors import QueryError

DECLINED = "prefer not to say"
KINDS: list[dict[str, Any]] = [
    {},
    {"errors": "information"},
    {"method": "corrected"},
    {"family": "linear", "scores": {"ill": [0, 1]}},
]


def _people(n: int, seed: int) -> tuple[Any, Any, Any]:
    """Whether ill, an age, a place; the sicker are older."""
    generator = np.random.default_rng(seed)
    age = generator.integers(0, 3, n)
    place = generator.choice(["x", "y"], n)
    ill = generator.random(n) < 1 / (1 + np.exp(1.0 - 0.8 * age + 0.5 * (place == "y")))
    return np.where(ill, "yes", "no").astype(object), age.astype(object), place.astype(object)


def _schema(missing: str) -> Schema:
    more: dict[str, Any] = {"missing": missing} if missing != "refuse" else {}
    return Schema(
        [
            Attribute("ill", ["no", "yes"], **more),
            Attribute("age", [0, 1, 2], **more),
            Attribute("place", ["x", "y"], **more),
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", ["category", "skip"])
def test_without_noise_it_is_the_fit_to_complete_cases(missing: str, kind: dict[str, Any]) -> None:
    columns = list(_people(3000, seed=1))
    generator = np.random.default_rng(2)
    gone = np.array([generator.random(3000) < share for share in (0.2, 0.1, 0.3)])
    complete = ~gone.any(axis=0)
    names = ("ill", "age", "place")
    whole = {name: column[complete] for name, column in zip(names, columns, strict=True)}
    shares = dict.fromkeys(names, 30.0)
    plain = castell.regress(
        "ill ~ age + place", Study(_schema("refuse"), shares=shares).randomize(whole), **kind
    )
    for column, away in zip(columns, gone, strict=True):
        column[away] = None
    asked = Study(_schema(missing), shares=shares)
    found = castell.regress(
        "ill ~ age + place",
        asked.randomize(dict(zip(names, columns, strict=True))),
        **kind,
    )
    assert found.names == plain.names
    assert np.allclose(found.params, plain.params, atol=2e-5)
    assert np.allclose(found.standard_errors, plain.standard_errors, rtol=1e-3)


@pytest.mark.parametrize("kind", KINDS[:3])
@pytest.mark.parametrize("missing", ["category", "skip"])
def test_through_noise_it_finds_what_is_there(missing: str, kind: dict[str, Any]) -> None:
    columns = list(_people(40_000, seed=3))
    generator = np.random.default_rng(4)
    for column, share in zip(columns, (0.2, 0.1, 0.0), strict=True):
        column[generator.random(40_000) < share] = None
    study = Study(_schema(missing), epsilon=7.5)
    answers = dict(zip(("ill", "age", "place"), columns, strict=True))
    found = castell.regress("ill ~ age + place", study.randomize(answers, seed=5), **kind)
    away = np.abs(found.params - [-1.0, 0.8, -0.5]) / found.standard_errors
    assert away.max() < 5.2
    assert found.standard_errors.max() < 0.12


def test_a_value_that_nobody_chose_leaves_errors_known() -> None:
    """Its share is estimated as 0, on the edge of what is possible, and is of no interest."""
    ill, age, place = _people(8000, seed=6)
    asked = [
        Attribute("ill", ["no", "yes", DECLINED]),
        Attribute("age", [0, 1, 2], also=[DECLINED]),
        Attribute("place", ["x", "y"]),
    ]
    answers = {"ill": ill, "age": age, "place": place}
    reports = Study(asked, epsilon=6.0).randomize(answers, seed=7)
    for formula in ("ill ~ age", "ill ~ age + place", "place ~ ill + C(age)"):
        found = castell.regress(formula, reports)
        assert np.isfinite(found.standard_errors).all()
        assert not any(DECLINED in name for name in found.names)
        assert found.title.startswith("logistic")
    assert found.names == ("Intercept", "ill[T.yes]", "age[T.1]", "age[T.2]")


def test_intervals_hold_the_coefficients() -> None:
    """40 collections, two coefficients: fewer than 62 of 80 come less than once in a million."""
    schema = _schema("category")
    study = Study(Schema([schema["ill"], schema["age"]]), epsilon=4.0)
    held = 0
    for seed in range(40):
        generator = np.random.default_rng(100 + seed)
        age = generator.integers(0, 3, 2000)
        ill = np.where(generator.random(2000) < 1 / (1 + np.exp(1.0 - 0.8 * age)), "yes", "no")
        said, ages = ill.astype(object), age.astype(object)
        said[generator.random(2000) < 0.1] = None
        ages[generator.random(2000) < 0.1] = None
        found = castell.regress("ill ~ age", study.randomize({"ill": said, "age": ages}, seed=seed))
        low, high = found.conf_int()
        held += int(((low <= [-1.0, 0.8]) & (high >= [-1.0, 0.8])).sum())
    assert held >= 62


def test_scores_are_of_the_values_that_answer() -> None:
    asked = [
        Attribute("ill", ["no", "yes"]),
        Attribute("health", ["bad", "fair", "good", DECLINED]),
    ]
    answers = {"ill": ["no", "yes"] * 600, "health": ["bad", "fair", "good", "good"] * 300}
    reports = Study(asked, epsilon=8.0).randomize(answers, seed=1)
    given = castell.regress("ill ~ health", reports, scores={"health": [0, 1, 2]})
    places = castell.regress("ill ~ score(health)", reports)
    assert np.allclose(given.params, places.params, atol=1e-8)
    with pytest.raises(QueryError, match="a number for each of its 3 values"):
        castell.regress("ill ~ health", reports, scores={"health": [0, 1, 2, 3]})


def test_what_has_no_two_answers_is_refused() -> None:
    asked = [Attribute("ill", ["no", "yes"]), Attribute("odd", ["yes", "no answer", DECLINED])]
    reports = Study(asked, epsilon=8.0).randomize({"ill": ["no"], "odd": ["yes"]}, seed=1)
    with pytest.raises(QueryError, match="fewer than two values that answer it"):
        castell.regress("ill ~ odd", reports)
    with pytest.raises(QueryError, match="fewer than two values that answer it"):
        castell.regress("odd ~ ill", reports)
