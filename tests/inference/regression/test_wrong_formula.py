"""A formula that is not right: the coefficients are still those of a fit to the answers."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.optimize import minimize

import castell
from castell import Attribute, Schema, Study
from castell.linear.operators import Floats
from tests.populations import collect

SCHEMA = Schema([Attribute("y", ["no", "yes"]), Attribute("x", list(range(8)))])
# The chance goes up, then stays: no line in the log odds.
CHANCES = np.array([0.5, 0.27, 0.65, 0.88, 0.92, 0.94, 0.87, 0.95])
SHARES = np.array([0.02, 0.2, 0.26, 0.19, 0.15, 0.1, 0.04, 0.04])
PEOPLE = np.array([(1 - CHANCES) * SHARES, CHANCES * SHARES])
STUDY = Study(SCHEMA, 9.0)


def _fit_to_answers() -> Floats:
    """By direct search, of the population itself."""

    def lost(t: Floats) -> float:
        odds = t[0] + t[1] * np.arange(8)
        return float(-(PEOPLE[1] * odds).sum() + (SHARES * np.logaddexp(0.0, odds)).sum())

    return np.asarray(minimize(lost, [0.0, 0.0], method="BFGS", tol=1e-12).x)


def _covered(method: str | None, rounds: int) -> Floats:
    generator, truth, held = np.random.default_rng(6), _fit_to_answers(), np.zeros(2)
    for _ in range(rounds):
        fit = castell.regress("y ~ x", collect(STUDY, PEOPLE, 3000, generator), method=method)
        low, high = fit.conf_int()
        held += (low <= truth) & (truth <= high)
    return held / rounds


def test_intervals_hold_what_a_fit_to_the_answers_would_give() -> None:
    rounds = 150
    assert _covered(None, rounds).min() > 0.95 - 5 * sqrt(0.05 * 0.95 / rounds)


def test_maximum_likelihood_tends_to_other_coefficients() -> None:
    """Why it is not the default."""
    assert _covered("likelihood", 30).max() < 0.5


def test_the_default_says_when_it_supposes_that_the_formula_is_right() -> None:
    reports = collect(STUDY, PEOPLE, 3000, np.random.default_rng(1))
    found = castell.regress("y ~ x", reports)
    assert (found.method, found.reasons[0].code) == ("corrected", "reports")
    # Information is the likelihood's, asked for by name.
    named = castell.regress("y ~ x", reports, errors="information")
    assert named.method == "likelihood"
    assert all(each.code != "supposes_formula" for each in named.reasons)


@pytest.mark.parametrize(("epsilon", "design"), [(0.3, "independent"), (6.0, "pairs")])
def test_without_a_solution_it_is_maximum_likelihood_and_says_so(
    epsilon: float, design: str
) -> None:
    """Noise that outweighs the covariates, or nobody who reported all of them together."""
    schema = Schema([*SCHEMA, Attribute("z", ["u", "v"])])
    people = np.stack([PEOPLE, PEOPLE], axis=-1) / 2
    n = 60 if design == "independent" else 3000
    study = Study(schema, epsilon, design)
    found = castell.regress("y ~ x + z", collect(study, people, n, np.random.default_rng(2)))
    assert found.method == "likelihood"
    assert found.reasons[0].code == "supposes_formula"
    assert "if it is not, a fit to the answers would give others" in found.notes[0]
