"""Maximum likelihood and corrected scores, by oracles that share no code with them."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.optimize import minimize

import castell
from castell import Attribute, Schema, Study
from castell.counting import MemoryCounts
from castell.errors import CastellError, MethodError, OptionError, QueryError, ReportError
from castell.inference.regression.design_matrix import design_matrix
from castell.inference.regression.formula import parse
from castell.inference.regression.information import covariance
from castell.inference.regression.logit import curvature, probabilities, score, slopes
from castell.inference.regression.maximum_likelihood import Problem, maximize
from castell.inference.regression.views import views_of
from castell.linear.operators import Floats
from tests.populations import ASYMMETRIC, collect, whole_matrix

SCHEMA = Schema(
    [Attribute("y", ["n", "m", "p"]), Attribute("a", ["u", "v"]), Attribute("b", [0, 1, 3])]
)
TRUE = np.array([[-0.5, 0.3], [0.8, -0.4], [0.2, 0.5]])
DESIGN = design_matrix(SCHEMA, parse("y ~ a + b"))


def _people() -> Floats:
    """A table of all answers in the schema's order, for which the logit is right."""
    covariates = np.array([0.2, 0.1, 0.15, 0.05, 0.3, 0.2])
    joint = covariates[:, None] * probabilities(DESIGN.matrix, TRUE)
    return np.moveaxis(joint.reshape(2, 3, 3), -1, 0)


PEOPLE = _people()
STUDIES = {
    "independent": Study(SCHEMA, 9.0),
    "asymmetric": Study(SCHEMA, shares={"a": 2.5, "b": 3.0}, channels={"y": ASYMMETRIC}),
    "joint": Study(SCHEMA, 4.0, "joint"),
    "pairs": Study(SCHEMA, 4.0, "pairs"),
    "cover": Study(SCHEMA, 4.0, "cover"),
}


def _problem(study: Study, n: int, seed: int) -> tuple[Problem, MemoryCounts]:
    counts = MemoryCounts(collect(study, PEOPLE, n, np.random.default_rng(seed)))
    names = ("a", "b", "y")
    return Problem(tuple(views_of(counts, names)), names, (2, 3, 3), DESIGN.matrix), counts


def test_slopes_and_curvature_of_the_logit_are_its_derivatives() -> None:
    generator = np.random.default_rng(0)
    answers = generator.uniform(1, 5, (6, 3))

    def log(t: Floats) -> float:
        return float((answers * np.log(probabilities(DESIGN.matrix, t.reshape(3, 2)))).sum())

    at, step = TRUE.ravel(), 1e-5 * np.eye(6)
    chances = probabilities(DESIGN.matrix, TRUE)
    first = [(log(at + s) - log(at - s)) / 2e-5 for s in step]
    np.testing.assert_allclose(score(DESIGN.matrix, chances, answers), first, atol=1e-7)
    second = [
        [
            (log(at + s + t) - log(at + s - t) - log(at - s + t) + log(at - s - t)) / 4e-10
            for s in step
        ]
        for t in step
    ]
    bend = curvature(DESIGN.matrix, chances, answers.sum(axis=1))
    np.testing.assert_allclose(-bend, second, atol=1e-3)
    moved = [
        (probabilities(DESIGN.matrix, (at + s).reshape(3, 2))
         - probabilities(DESIGN.matrix, (at - s).reshape(3, 2))) / 2e-5
        for s in step
    ]  # fmt: skip
    np.testing.assert_allclose(slopes(DESIGN.matrix, chances), moved, atol=1e-9)


def _log_likelihood(study: Study, reports: Floats, parameters: Floats) -> float:
    """Of all reports, through the dense matrix of the whole design."""
    weights = np.exp(np.append(parameters[6:], 0.0))
    covariates = weights / weights.sum()
    joint = covariates[:, None] * probabilities(DESIGN.matrix, parameters[:6].reshape(3, 2))
    table = np.moveaxis(joint.reshape(2, 3, 3), -1, 0)
    return float(reports @ np.log(table.ravel() @ whole_matrix(study)))


@pytest.mark.parametrize("design", ["independent", "asymmetric", "joint", "pairs"])
def test_em_finds_the_maximum_that_a_direct_search_finds(design: str) -> None:
    """And the observed information is the profile likelihood's own curvature."""
    study = STUDIES[design]
    problem, counts = _problem(study, 4000, 1)
    state, log, converged = maximize(problem)
    assert converged
    if study.design.draw:
        reports = np.bincount(
            np.asarray(counts.reports.columns[0]), minlength=study.design.widths[0]
        ).astype(float)
    else:
        columns = [np.asarray(column) for column in counts.reports.columns]
        keys = np.ravel_multi_index(columns, study.design.widths)
        reports = np.bincount(keys, minlength=int(np.prod(study.design.widths))).astype(float)
    start = np.concatenate([state.coefficients.ravel(), np.zeros(5)])
    found = minimize(
        lambda p: -_log_likelihood(study, reports, p),
        start,
        method="BFGS",
        options={"gtol": 1e-4, "maxiter": 500},
    )
    best = found.x
    # The search leaves the last digits open; the likelihood is flat there.
    np.testing.assert_allclose(state.coefficients.ravel(), best[:6], atol=2e-3)
    assert log >= -found.fun - study.design.draw * 4000 * np.log(1 / 3) - 1e-5 or not (
        study.design.draw
    )
    step = 2e-3
    size = len(best)
    eye = step * np.eye(size)
    base = {}

    def at(i: int, k: int, one: int, two: int) -> float:
        key = (i, k, one, two)
        if key not in base:
            base[key] = _log_likelihood(study, reports, best + one * eye[i] + two * eye[k])
        return base[key]

    bend = np.array(
        [
            [
                (at(i, k, 1, 1) - at(i, k, 1, -1) - at(i, k, -1, 1) + at(i, k, -1, -1))
                / (4 * step**2)
                for k in range(size)
            ]
            for i in range(size)
        ]
    )
    oracle = np.sqrt(np.diag(np.linalg.inv(-bend))[:6])
    mine = np.sqrt(np.diag(covariance(problem, state).information))
    np.testing.assert_allclose(mine, oracle, rtol=0.02)


@pytest.mark.parametrize("design", STUDIES)
@pytest.mark.parametrize("method", ["likelihood", "corrected"])
def test_coefficients_are_covered(design: str, method: str) -> None:
    if method == "corrected" and design == "pairs":
        pytest.skip("no block holds all three")
    generator, rounds = np.random.default_rng(7), 100
    truth, held = TRUE.T.ravel(), np.zeros((2, 6))
    for _ in range(rounds):
        reports = collect(STUDIES[design], PEOPLE, 4000, generator)
        for k, errors in enumerate(("sandwich", "information")):
            if method == "corrected" and errors == "information":
                continue
            fit = castell.regress("y ~ a + b", reports, method=method, errors=errors)
            low, high = fit.conf_int()
            held[k] += (low <= truth) & (truth <= high)
    shown = held[: 1 if method == "corrected" else 2] / rounds
    assert shown.min() > 0.95 - 5 * sqrt(0.05 * 0.95 / rounds)
    # All six together, which go along with one another.
    assert 0.90 < shown.mean() < 0.99


def test_linear_coefficients_are_covered_from_pairs_alone() -> None:
    numbers = np.array([0.0, 1.0, 4.0])
    flat = np.moveaxis(PEOPLE, 0, -1).reshape(6, 3)
    weights = flat.sum(axis=1)
    inner = (DESIGN.matrix * weights[:, None]).T @ DESIGN.matrix
    truth = np.linalg.solve(inner, DESIGN.matrix.T @ (flat @ numbers))
    generator, held = np.random.default_rng(8), np.zeros(3)
    for _ in range(150):
        reports = collect(STUDIES["pairs"], PEOPLE, 4000, generator)
        fit = castell.regress("y ~ a + b", reports, family="linear", scores={"y": [0, 1, 4]})
        low, high = fit.conf_int()
        held += (low <= truth) & (truth <= high)
    assert (held / 150).min() > 0.861
    assert (held / 150).mean() < 0.995


def test_where_the_formula_is_wrong_corrected_scores_find_what_a_fit_to_answers_would() -> None:
    """An interaction is left out: maximum likelihood through noise then tends elsewhere."""
    schema = Schema([Attribute(name, ["n", "y"]) for name in "zxw"])
    table = np.array([0.32, 0.02, 0.06, 0.02, 0.08, 0.08, 0.04, 0.38]).reshape(2, 2, 2)
    study = Study(schema, 9.0)
    design = design_matrix(schema, parse("z ~ x + w"))
    answers = np.moveaxis(table, 0, -1).reshape(4, 2)
    from castell.inference.regression.logit import newton

    truth = newton(design.matrix, answers, np.zeros((3, 1)))[0].ravel()
    reports = collect(study, table, 2_000_000, np.random.default_rng(1))
    fit = castell.regress("z ~ x + w", reports, method="corrected")
    np.testing.assert_array_less(np.abs(fit.params - truth), 5 * fit.standard_errors)


def test_what_cannot_be_fitted_is_refused() -> None:
    reports = collect(STUDIES["independent"], PEOPLE, 300, np.random.default_rng(1))
    with pytest.raises(QueryError, match="has 3 values, and a logistic regression is of two"):
        castell.regress("y ~ a", reports, family="logistic")
    with pytest.raises(OptionError, match="family is 'probit'"):
        castell.regress("y ~ a", reports, family="probit")
    with pytest.raises(OptionError, match="method is 'ols'"):
        castell.regress("y ~ a", reports, method="ols")
    with pytest.raises(OptionError, match="errors is 'HC3'"):
        castell.regress("y ~ a", reports, errors="HC3")
    with pytest.raises(OptionError, match="corrected scores have no information"):
        castell.regress("y ~ a", reports, method="corrected", errors="information")
    with pytest.raises(OptionError, match="least squares is no likelihood"):
        castell.regress("b ~ a", reports, family="linear", method="likelihood")
    singles = collect(Study(SCHEMA, 3.0, "singles"), PEOPLE, 300, np.random.default_rng(1))
    with pytest.raises(QueryError, match="no respondent reported y and a together"):
        castell.regress("y ~ a", singles)
    with pytest.raises(QueryError, match="no respondent reported"):
        castell.regress("b ~ a", singles)
    bloom = collect(Study(SCHEMA, 9.0, "bloom"), PEOPLE, 30, np.random.default_rng(1))
    with pytest.raises(MethodError, match="Bloom filters"):
        castell.regress("y ~ a", bloom)
    nobody = castell.Reports(STUDIES["joint"], [np.zeros(0, dtype=np.uint8)], secure=True)
    with pytest.raises(ReportError):
        castell.regress("y ~ a", nobody)
    with pytest.raises(CastellError, match="holds no reports"):
        castell.regress("y ~ a", "reports.parquet")  # type: ignore[arg-type]


def test_so_much_noise_that_nothing_is_told_says_so() -> None:
    noisy = Study(SCHEMA, 0.3)
    for seed in range(4):
        reports = collect(noisy, PEOPLE, 40, np.random.default_rng(seed))
        fit = castell.regress("y ~ a + b", reports)
        low, high = fit.conf_int()
        assert (low <= fit.params).all()
        assert (fit.params <= high).all()


def test_corrected_equations_without_a_root_are_refused() -> None:
    """A seed at which the unbiased table of the covariates is no table."""
    reports = collect(Study(SCHEMA, 0.3), PEOPLE, 40, np.random.default_rng(0))
    with pytest.raises(QueryError, match="have no solution: the noise outweighs"):
        castell.regress("y ~ a + b", reports, method="corrected")
    with pytest.raises(QueryError, match="have no solution: the noise outweighs"):
        castell.regress("y ~ a + b", reports, family="linear")


def test_covariates_with_too_many_combinations_are_refused_before_any_work() -> None:
    wide = Schema([Attribute(f"x{k}", list(range(12))) for k in range(5)])
    study = Study(wide, 40.0)
    reports = study.randomize({name: ["1", "2"] for name in wide.names}, seed=1)
    with pytest.raises(CastellError, match="too many to estimate"):
        castell.regress("x0 ~ x1 + x2 + x3 + x4", reports, family="multinomial")
