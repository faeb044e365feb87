"""Forged reports: blocks that disagree, and what is left of a table."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import castell
from castell import Attribute, Reports, Schema, Study
from castell.errors import OptionError, QueryError
from castell.linear.operators import Floats
from castell.results.forged_reports import recover
from castell.results.model import counts_of
from castell.results.trust import agreement, signals
from castell.results.trust.agreement import agreements
from tests.populations import collect, population, schema

ASKED = schema((2, 3, 4))
PEOPLE = population((2, 3, 4), seed=4)
DRAWN = Study(ASKED, 2.0, "pairs")


def _with_forged(study: Study, n: int, forged: int, code: int, seed: int) -> Reports:
    """Reports of people, the last of them replaced by one report, again and again."""
    honest = collect(study, PEOPLE.table, n, np.random.default_rng(seed))
    column = np.asarray(honest.columns[0]).copy()
    column[n - forged :] = code
    return Reports(study, [column, *honest.columns[1:]], secure=True)


def test_honest_blocks_agree_as_often_as_the_test_says() -> None:
    """p is uniform: of 300 tests fewer than 1 in 1000 give an alarm, and a fifth is below .2."""
    found = []
    for seed in range(100):
        reports = collect(DRAWN, PEOPLE.table, 3000, np.random.default_rng(seed))
        found += [test.p for test in agreements(counts_of(reports), ASKED.names)]
    below = np.mean(np.array(found) < 0.2)
    assert abs(below - 0.2) < 5 * np.sqrt(0.2 * 0.8 / len(found))
    assert min(found) > 1e-5


def test_forged_reports_of_one_block_show() -> None:
    reports = _with_forged(DRAWN, 6000, 500, code=0, seed=1)
    signal = agreement(counts_of(reports), ASKED.names)
    assert signal.state == "look"
    assert "stands out most" in signal.text
    assert signal.numbers["p"] < 1e-6
    joint = castell.fit(reports, "castell").estimate("a")
    assert "agreement" in [one.key for one in signals(counts_of(reports), joint)]


def test_what_cannot_be_compared_is_said() -> None:
    alone = collect(Study(ASKED, 2.0, "singles"), PEOPLE.table, 900, np.random.default_rng(1))
    assert agreement(counts_of(alone), ASKED.names).state == "unknown"
    joint = castell.fit(alone, "castell").estimate("a")
    everybody = collect(Study(ASKED, 4.0), PEOPLE.table, 900, np.random.default_rng(1))
    keys = [one.key for one in signals(counts_of(everybody), joint)]
    assert "agreement" not in keys


ONE = Study(Schema([Attribute("x", [f"v{i}" for i in range(6)])]), 1.0)
TRUTH = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])


@cache
def _errors(forged: float, share: float, *, known: bool) -> tuple[float, float, float]:
    """Mean total variation distance of the plain and the recovered table, and how often the bounds
    hold all of the truth, over 15 collections of 4,000 reports that flood one value."""
    plain, better, inside = [], [], []
    for seed in range(15):
        random = np.random.default_rng(seed)
        codes = random.choice(6, 4000, p=TRUTH)
        honest = ONE.randomize({"x": [f"v{i}" for i in codes]}, seed=seed)
        column = np.asarray(honest.columns[0]).copy()
        column[: round(4000 * forged)] = 5
        reports = Reports(ONE, [column], secure=True)
        found = recover(reports, "x", share, targets={"x": "v5"} if known else None)
        raw: Floats = castell.fit(reports, "castell").estimate("x", post="simplex").probabilities
        plain.append(np.abs(raw - TRUTH).sum() / 2)
        better.append(np.abs(found.probabilities - TRUTH).sum() / 2)
        inside.append(bool(((found.lower <= TRUTH) & (found.upper >= TRUTH)).all()))
    return float(np.mean(plain)), float(np.mean(better)), float(np.mean(inside))


def test_a_flood_of_one_value_is_partly_taken_back() -> None:
    plain, better, inside = _errors(0.05, 0.05, known=True)
    assert better < 0.6 * plain
    assert inside > 0.8  # six cells at 95 % each, widened by the forged reports


def test_the_bounds_hold_and_a_wrong_share_is_no_help() -> None:
    """With nothing forged the estimate is a little worse than without; the bounds still hold."""
    plain, worse, inside = _errors(0.0, 0.05, known=True)
    assert plain < worse
    assert inside > 0.9
    _, _, inside = _errors(0.05, 0.0, known=False)
    assert inside < 0.5  # who allows for none is told wrong


def test_no_share_leaves_the_table_as_it_is() -> None:
    reports = collect(DRAWN, PEOPLE.table, 3000, np.random.default_rng(1))
    found = recover(reports, ["a", "b"], 0.0)
    expected = castell.fit(reports, "castell").estimate(["a", "b"], post="simplex").probabilities
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-12)
    assert "if 0.0% of 3,000 reports are forged" in str(found)
    wider = recover(reports, ["a", "b"], 0.02)
    assert (wider.lower <= found.lower).all()
    assert (wider.upper >= found.upper).all()
    # A block that is smaller than what may be forged tells nothing.
    nothing = recover(reports, ["a", "b"], 0.4)
    assert (nothing.lower == 0.0).all()
    assert (nothing.upper == 1.0).all()


def test_what_is_refused() -> None:
    reports = collect(DRAWN, PEOPLE.table, 3000, np.random.default_rng(1))
    for share in (0.5, -0.1, "many"):
        with pytest.raises(OptionError, match="from 0 to below a half"):
            recover(reports, "a", share)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="a value for each"):
        recover(reports, ["a", "b"], 0.05, targets={"a": "a0"})
    study = Study(schema((2, 2)), 2.0, "inpht")
    people = population((2, 2), seed=4)
    coefficients = collect(study, people.table, 900, np.random.default_rng(1))
    with pytest.raises(QueryError, match="that one block holds"):
        recover(coefficients, ["a", "b"], 0.05)
