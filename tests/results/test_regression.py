"""Regression as people use it: the plain one without noise, a summary, pictures, programs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import castell
from castell import Attribute, Checked, MatrixResponse, Reports, Schema, Study
from castell.linear.operators import Floats
from castell.population import SCHEMA, health_survey
from tests.peer_statistics import statsmodels

PEOPLE = health_survey(1200, seed=4)


def _certain() -> Reports:
    return Study(SCHEMA, 30.0 * len(SCHEMA)).randomize(PEOPLE, seed=1)


def _codes(name: str) -> Any:
    return np.array([SCHEMA[name].code(value) for value in PEOPLE[name]])


def _matrix() -> Floats:
    age, exercise = _codes("age"), _codes("exercise")
    return np.column_stack(
        [np.ones(1200), age, exercise == 1, exercise == 2, age * (exercise == 1),
         age * (exercise == 2)]
    ).astype(float)  # fmt: skip


FORMULA = "score(age) * exercise"


@pytest.mark.parametrize("method", ["likelihood", "corrected"])
def test_without_noise_a_multinomial_regression_is_that_of_statsmodels(method: str) -> None:
    found = castell.regress(f"smokes ~ {FORMULA}", _certain(), method=method)
    assert (found.family, found.method) == ("multinomial", method)
    model = statsmodels().MNLogit(_codes("smokes"), _matrix())
    peer = model.fit(disp=0, method="newton", tol=1e-12, cov_type="HC0", use_t=False)
    np.testing.assert_allclose(found.params, np.asarray(peer.params).T.ravel(), atol=1e-8)
    # statsmodels' sandwich; the scores of the logit, and so of the reports.
    np.testing.assert_allclose(
        found.standard_errors, np.asarray(peer.bse).T.ravel(), rtol=1e-6, atol=1e-8
    )


def test_without_noise_a_logistic_regression_is_that_of_statsmodels() -> None:
    people = {**PEOPLE, "sick": np.where(_codes("health") == 0, "yes", "no")}
    schema = Schema([*SCHEMA, Attribute("sick", ["no", "yes"])])
    reports = Study(schema, 30.0 * len(schema)).randomize(people, seed=1)
    sick, sm = np.asarray(people["sick"]) == "yes", statsmodels()
    model = sm.Logit(sick.astype(float), _matrix())
    plain = model.fit(disp=0, method="newton", tol=1e-12)
    found = castell.regress(f"sick ~ {FORMULA}", reports, errors="information")
    np.testing.assert_allclose(found.params, plain.params, atol=1e-8)
    np.testing.assert_allclose(found.standard_errors, plain.bse, atol=1e-8)
    np.testing.assert_allclose(found.pvalues, plain.pvalues, atol=1e-8)
    np.testing.assert_allclose(np.column_stack(found.conf_int()), plain.conf_int(), atol=1e-5)
    robust = model.fit(disp=0, method="newton", tol=1e-12, cov_type="HC0")
    for method in ("likelihood", "corrected"):
        mine = castell.regress(f"sick ~ {FORMULA}", reports, method=method)
        np.testing.assert_allclose(mine.standard_errors, robust.bse, atol=1e-8)


def test_without_noise_a_linear_regression_is_that_of_statsmodels() -> None:
    found = castell.regress(f"health ~ {FORMULA}", _certain(), family="linear")
    peer = statsmodels().OLS(_codes("health"), _matrix()).fit(cov_type="HC0")
    np.testing.assert_allclose(found.params, peer.params, atol=1e-8)
    np.testing.assert_allclose(found.standard_errors, peer.bse, atol=1e-8)


def test_forced_response_is_what_direct_maximisation_finds() -> None:
    """The outcome by a die (forced yes or no), the covariate plain: RRreg's RRlog, by hand."""
    schema = Schema([Attribute("x", [0, 1, 2, 3]), Attribute("dope", ["no", "yes"])])
    # Of twelve sides one forces yes and two force no.
    die = MatrixResponse([[11, 1], [2, 10]])
    study = Study(schema, channels={"dope": die}, shares={"x": 30.0})
    generator = np.random.default_rng(3)
    x = generator.integers(0, 4, 3000)
    dope = generator.random(3000) < 1 / (1 + np.exp(2.0 - 0.7 * x))
    answers = {"x": x.tolist(), "dope": ["yes" if d else "no" for d in dope]}
    reports = study.randomize(answers, seed=5)
    said = np.asarray(reports.columns[1]).astype(float)

    def log_likelihood(t: Floats) -> float:
        yes = 1 / 12 + (9 / 12) / (1 + np.exp(-t[0] - t[1] * x))
        return float((said * np.log(yes) + (1 - said) * np.log(1 - yes)).sum())

    best = minimize(lambda t: -log_likelihood(t), [0.0, 0.0], method="BFGS", tol=1e-10).x
    found = castell.regress("dope ~ x", reports, errors="information")
    np.testing.assert_allclose(found.params, best, atol=1e-5)
    step = 1e-3
    bend = np.array(
        [
            [
                sum(
                    i * k * log_likelihood(best + step * (i * np.eye(2)[a] + k * np.eye(2)[b]))
                    for i in (-1, 1)
                    for k in (-1, 1)
                )
                / (4 * step**2)
                for a in range(2)
            ]
            for b in range(2)
        ]
    )
    errors = np.sqrt(np.diag(np.linalg.inv(-bend)))
    np.testing.assert_allclose(found.standard_errors, errors, rtol=1e-4)
    # What ignores the die is far off.
    plain = statsmodels().Logit(said, np.column_stack([np.ones(3000), x])).fit(disp=0)
    assert abs(plain.params[1] - found.params[1]) > 2 * found.standard_errors[1]


def _example() -> castell.Regression:
    reports = Study(SCHEMA, 12.0, name="health").randomize(PEOPLE, seed=2)
    return castell.regress("smokes ~  score(age) + exercise", reports)


def test_a_regression_shows_itself() -> None:
    found = _example()
    assert found.names[0] == "smokes = before: Intercept"
    assert len(found.names) == len(found.params) == len(found.pvalues) == 8
    assert found.checked is Checked.WHOLE
    assert found.covariance.shape == (8, 8)
    assert repr(found).startswith("<Regression smokes ~ score(age) + exercise: 8 coefficients")
    text = found.summary(0.9)
    assert text.splitlines()[0] == "Multinomial regression of smokes"
    assert "[0.05" in text
    assert "P>|z|" in text
    assert "INSECURE" in text
    assert "smokes = now: exercise[T.daily]" in found._repr_html_()
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["kind"] == "regression"
    assert document["params"] == found.params.tolist()
    frame = found.to_frame("pyarrow")
    assert frame.column_names == [
        "name",
        "coef",
        "standard_error",
        "z",
        "p_value",
        "lower",
        "upper",
    ]
    with pytest.raises(ValueError, match="read-only"):
        found.params[0] = 1.0


def test_a_picture_has_no_intercepts() -> None:
    pytest.importorskip("altair")
    chart = _example().plot().to_dict()
    names = [row["name"] for layer in chart["layer"] for row in layer["data"].get("values", [])
             if "name" in row]  # fmt: skip
    assert "smokes = now: score(age)" in names
    assert not any("Intercept" in name for name in names)


def test_stages_are_regressed_together_and_an_intercept_alone_is_the_margin() -> None:
    one = Study(SCHEMA, 18.0).randomize(health_survey(2000, seed=1), seed=1)
    two = Study(SCHEMA, 4.0, "cover").randomize(health_survey(3000, seed=2), seed=2)
    found = castell.regress("exercise ~ 1", [one, two])
    assert found.n == 5000
    assert found.to_dict()["digests"] == [one.study.digest, two.study.digest]
    chances = np.exp(np.append(0.0, found.params))
    margin = castell.fit([one, two], "castell").estimate("exercise")
    apart = chances / chances.sum() - margin.probabilities
    assert np.abs(apart).max() < 0.03


def test_a_coefficient_that_is_infinite_is_said_not_to_be_known() -> None:
    schema = Schema([Attribute("y", ["n", "y"]), Attribute("x", ["n", "y"])])
    answers = {"x": ["n"] * 50 + ["y"] * 50, "y": ["n", "y"] * 25 + ["y"] * 50}
    reports = Study(schema, 60.0).randomize(answers, seed=1)
    found = castell.regress("y ~ x", reports)
    assert not found.converged
    assert any("may be infinite" in note for note in found.notes)


@pytest.mark.parametrize("public", [["age", "exercise"], ["outcome"], ["age"]])
@pytest.mark.parametrize("family", ["logistic", "multinomial", "linear"])
def test_without_noise_it_does_not_matter_what_is_randomised(
    family: str, public: list[str]
) -> None:
    """Covariates, the outcome or one covariate are public, the others randomised hardly at all."""
    now, health = _codes("smokes") == 2, _codes("health")
    outcome = np.where(now, 1, 0) if family == "logistic" else health
    said = {**PEOPLE, "outcome": outcome}
    values = {name: SCHEMA[name].values for name in ("age", "exercise")}
    values["outcome"] = tuple(str(k) for k in range(int(outcome.max()) + 1))
    schema = Schema([Attribute(name, v, public=name in public) for name, v in values.items()])
    study = Study(schema, 30.0 * len(schema.hidden))
    reports = study.randomize({name: said[name] for name in schema.names}, seed=1)
    found = castell.regress(f"outcome ~ {FORMULA}", reports, family=family)
    sm = statsmodels()
    kinds = {"logistic": sm.Logit, "multinomial": sm.MNLogit, "linear": sm.OLS}
    exact = {} if family == "linear" else {"disp": 0, "method": "newton", "tol": 1e-12}
    peer = kinds[family](outcome.astype(float), _matrix()).fit(**exact)
    np.testing.assert_allclose(found.params, np.asarray(peer.params).T.ravel(), atol=1e-8)
