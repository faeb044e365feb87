"""Without noise shares, differences and conditional shares are the plain ones, and so are errors.

Means, quantiles, ratios, tests, weighted shares and regressions have theirs beside their own tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, MatrixResponse, Study, fit

N = 700
CHANCE = np.random.default_rng(6)
SMOKES = CHANCE.choice(["never", "before", "now"], N, p=[0.5, 0.3, 0.2])
HEALTH = CHANCE.choice(["poor", "good", "no answer"], N, p=[0.3, 0.6, 0.1])
ASKED = [
    Attribute("smokes", ["never", "before", "now"]),
    Attribute("health", ["poor", "good"], missing="category"),
]
METHODS = ["castell", "independent"]


def _model(method: str, rows: slice = slice(None)) -> castell.Model:
    sizes = {one.name: one.size for one in ASKED}
    channels = {
        name: MatrixResponse([[2**46 if i == k else 1 for k in range(size)] for i in range(size)])
        for name, size in sizes.items()
    }
    study = Study(ASKED, channels=channels)
    return fit(study.randomize({"smokes": SMOKES[rows], "health": HEALTH[rows]}), method)


def _error(share: float, many: int) -> float:
    return float(np.sqrt(share * (1 - share) / many))


@pytest.mark.parametrize("given", ["never", "before", "now"])
def test_conditional_shares_are_those_of_the_group(given: str) -> None:
    found = _model("castell").conditional("health", given={"smokes": given})
    group = HEALTH[given == SMOKES]
    for value, share, error in zip(
        ["poor", "good", "no answer"], found.probabilities, found.standard_errors, strict=True
    ):
        plain = float((group == value).mean())
        assert share == pytest.approx(plain, abs=1e-8)
        assert error == pytest.approx(_error(plain, len(group)), abs=1e-8)
    low, high = found.conf_int()
    assert ((low <= found.probabilities) & (found.probabilities <= high)).all()


def test_row_percentages_are_those_of_the_table() -> None:
    found = _model("castell").conditional("health", given="smokes")
    for row, smokes in zip(found.probabilities, ASKED[0].values, strict=True):
        group = HEALTH[smokes == SMOKES]
        plain = [(group == value).mean() for value in ASKED[1].values]
        assert row == pytest.approx(plain, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_shares_and_their_difference_among_the_same_people(method: str) -> None:
    model = _model(method)
    now, poor = np.asarray(SMOKES == "now", float), np.asarray(HEALTH == "poor", float)
    share = model.probability(smokes="now")
    assert share.value == pytest.approx(now.mean(), abs=1e-8)
    assert share.standard_error == pytest.approx(now.std() / N**0.5, abs=1e-8)
    if method == "castell":
        apart = model.difference({"smokes": "now"}, {"health": "poor"})
        assert apart.value == pytest.approx((now - poor).mean(), abs=1e-8)
        assert apart.standard_error == pytest.approx((now - poor).std() / N**0.5, abs=1e-8)


def test_shares_of_those_who_answered_and_bounds() -> None:
    found = _model("castell").answered("health")
    said = HEALTH[HEALTH != "no answer"]
    poor = float((said == "poor").mean())
    assert found.probabilities == pytest.approx([poor, 1 - poor], abs=1e-8)
    assert found.standard_errors == pytest.approx([_error(poor, len(said))] * 2, abs=1e-8)
    low, high = found.bounds(1e-9)
    least, silent = float((HEALTH == "poor").mean()), float((HEALTH == "no answer").mean())
    assert (low[0], high[0]) == pytest.approx((least, least + silent), abs=1e-3)


def test_two_waves_are_as_far_apart_as_their_shares() -> None:
    first, later = slice(0, 300), slice(300, N)
    found: Any = castell.compare(
        _model("castell", first), _model("castell", later), {"smokes": "now"}
    )
    p, q = (float((SMOKES[rows] == "now").mean()) for rows in (first, later))
    errors = _error(p, 300), _error(q, N - 300)
    assert abs(found.difference.value) == pytest.approx(abs(p - q), abs=1e-8)
    assert found.difference.standard_error == pytest.approx(np.hypot(*errors), abs=1e-8)
    odds = p / (1 - p) / (q / (1 - q))
    assert abs(np.log(found.odds_ratio.value)) == pytest.approx(abs(np.log(odds)), abs=1e-8)


def test_a_logit_of_two_groups_is_the_log_odds_ratio() -> None:
    model = _model("castell")
    found = castell.regress("health ~ smokes", model.counts)
    answered = HEALTH != "no answer"
    odds = []
    for smokes in ASKED[0].values:
        good = (HEALTH[answered & (smokes == SMOKES)] == "good").mean()
        odds.append(np.log(good / (1 - good)))
    plain = [odds[0], odds[1] - odds[0], odds[2] - odds[0]]
    assert found.params == pytest.approx(plain, abs=1e-8)
