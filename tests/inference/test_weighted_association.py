"""Tests of independence, Cramer's V and trends by a sampling design: R's survey without noise,
false alarms and coverage with it."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats

import castell
from castell import Attribute, Code, Study
from castell.errors import QueryError
from tests.inference.test_sampling_design import (
    ANSWERS,
    CLUSTER,
    LABELS,
    MARGINS,
    PUBLIC,
    WEIGHT,
    reports,
    study,
)

BOTH: dict[str, Any] = {"weights": WEIGHT, "strata": "stratum", "clusters": CLUSTER}

# R 4.2.2, survey 4.1.1, with d.csv and the designs of test_sampling_design:
#   t <- svychisq(~smokes+sick, both); c(t$statistic, t$parameter, t$p.value)   # and the others
# F, its degrees of freedom above and below, p.
INDEPENDENT: dict[str, tuple[dict[str, Any], str, list[float]]] = {
    "two values": (
        BOTH,
        "sick",
        [1.55881155298657, 1.71321385278896, 20.5585662334676, 0.234219867358437],
    ),
    "weighted": (
        {"weights": WEIGHT},
        "sick",
        [1.10696862155438, 1.99391157058889, 237.275476900078, 0.332127644643161],
    ),
    "three values": (
        BOTH,
        "region",
        [0.711314757187708, 3.50350048399552, 42.0420058079462, 0.57126970051542],
    ),
    "raked": (
        {**BOTH, "rake": MARGINS},
        "sick",
        [1.41266845090015, 1.64369810426553, 19.7243772511864, 0.26388626701753],
    ),
}


@pytest.mark.parametrize("name", INDEPENDENT)
@pytest.mark.parametrize("method", ["castell", "independent", "auto"])
def test_without_noise_the_test_is_rao_and_scotts(name: str, method: str) -> None:
    given, other, known = INDEPENDENT[name]
    found = castell.fit(reports(), method, **given).association("smokes", other)
    numbers = [found.statistic, found.freedom, found.freedom_below, found.p_value]
    assert numbers == pytest.approx(known, abs=1e-8)
    assert "(Rao and Scott)" in found.summary()
    assert found.to_dict()["freedom_below"] == pytest.approx(known[2])
    assert any(each.code is Code.DESIGN_BASED for each in found.reasons)
    if name == "two values":
        every = castell.fit(reports(), method, **given).associations(["smokes", "sick"])
        assert every["smokes", "sick"].p == found.p_value


def test_of_those_who_answered_it_is_that_of_the_domain() -> None:
    #   some <- update(subset(both, smokes!="before"), smokes=factor(smokes))
    #   svychisq(~smokes+region, some)
    def asked(name: str) -> Attribute:
        kept = [v for v in LABELS[name] if v != "before"]
        also = ["before"] if len(kept) < len(LABELS[name]) else []
        return Attribute(name, kept, also=also, public=name in PUBLIC)

    seen = Study([asked(name) for name in LABELS], 64.0).randomize(ANSWERS, seed=1)
    found = castell.fit(seen, "castell", **BOTH).association("smokes", "region")
    numbers = [found.statistic, found.freedom, found.freedom_below, found.p_value]
    known = [0.13126288759818, 1.89413395781418, 22.7296074937701, 0.867317818790606]
    assert numbers == pytest.approx(known, abs=1e-8)
    assert dict(found.left_out) == {"smokes": ("before",)}


@pytest.mark.parametrize(
    ("given", "known"),
    [
        (BOTH, [0.064425293840332, -2.15183340714487, 0.0524712284373228]),
        ({"weights": WEIGHT}, [0.0898765549765216, -1.47672379372096, 0.142391168569842]),
    ],
)
def test_without_noise_a_trend_is_that_of_weighted_means(
    given: dict[str, Any], known: list[float]
) -> None:
    # With u, v the standardised codes of smokes and sick: m <- svymean(~I(u*v), both); r <- coef(m)
    #   SE(svymean(~I(u*v - r*(u^2+v^2)/2), both)); r/SE(m); 2*pt(-abs(r/SE(m)), degf(both))
    found = castell.fit(reports(), "castell", **given).trend("smokes", "sick")
    numbers = [found.value, found.standard_error, found.statistic, found.p_value]
    assert numbers == pytest.approx([-0.133281092272169, *known], abs=1e-8)
    low, high = found.conf_int(0.95)
    freedom = 12 if "strata" in given else 119
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, freedom) * known[0])
    assert "t = " in found.summary()


def test_equal_weights_change_hardly_anything() -> None:
    seen = study(16.0).randomize(ANSWERS, seed=3)
    plain, equal = (castell.fit(seen, "castell", **w) for w in ({}, {"weights": [2.0] * 120}))
    one, two = (model.association("smokes", "sick") for model in (plain, equal))
    assert two.value == pytest.approx(one.value, abs=0.01)
    assert two.conf_int(0.95)[1] == pytest.approx(one.conf_int(0.95)[1], abs=0.03)
    assert two.p_value == pytest.approx(one.p_value, abs=0.05)
    assert two.detectable == pytest.approx(one.detectable, rel=0.1)
    assert (one.freedom_below, two.freedom_below < inf) == (inf, True)
    first, second = (model.trend("smokes", "sick") for model in (plain, equal))
    assert second.value == pytest.approx(first.value, abs=1e-9)
    assert second.standard_error == pytest.approx(first.standard_error, rel=0.01)


# -- simulated designs -----------------------------------------------------------------------------

CLUSTERS, EACH = 60, 25
SCHEMA = [
    Attribute("stratum", list("abc"), public=True),
    Attribute("meal", [0, 1, 2]),
    Attribute("sport", [0, 1, 2]),
]
SHARES = np.array([0.5, 0.3, 0.2])


def collected(seed: int, together: float) -> tuple[castell.Reports, dict[str, Any]]:
    """Villages that differ in both answers; a share of the people answers one as the other."""
    chance = np.random.default_rng(seed)
    village = np.repeat(np.arange(CLUSTERS), EACH)
    meal, sport = (
        _drawn(chance.dirichlet(8 * SHARES, CLUSTERS)[village], chance) for _ in range(2)
    )
    sport = np.where(chance.random(len(village)) < together, meal, sport)
    asked = Study(SCHEMA, 4.0)
    answers = {
        "stratum": np.array(list("abc"))[village % 3],
        "meal": meal.tolist(),
        "sport": sport.tolist(),
    }
    weights = np.array([1.0, 2.0, 4.0])[village % 3]
    return asked.randomize(answers, seed=seed), {
        "weights": weights,
        "strata": "stratum",
        "clusters": village,
    }


def _drawn(shares: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    return np.asarray((chance.random((len(shares), 1)) > shares.cumsum(axis=1)).sum(axis=1))


def test_it_raises_as_many_false_alarms_as_it_says() -> None:
    rounds, alarms = 500, np.zeros(2)
    for seed in range(rounds):
        made, given = collected(seed, 0.0)
        weighted = castell.fit(made, "castell", **given)
        tests = weighted.association("meal", "sport"), weighted.trend("meal", "sport")
        alarms += [each.p_value < 0.05 for each in tests]
    rejected = alarms / rounds
    chance = 5 * sqrt(0.05 * 0.95 / rounds)
    assert (np.abs(rejected - 0.05) < chance).all(), rejected


def test_v_and_correlations_are_covered() -> None:
    """Both are the share of the people who answer one as the other."""
    together, rounds, held = 0.3, 400, np.zeros(2)
    for seed in range(rounds):
        made, given = collected(1000 + seed, together)
        model = castell.fit(made, "castell", **given)
        for k, found in enumerate(
            (model.association("meal", "sport"), model.trend("meal", "sport"))
        ):
            low, high = found.conf_int(0.95)
            held[k] += low <= together <= high
    assert (np.abs(held / rounds - 0.95) < 5 * sqrt(0.05 * 0.95 / rounds)).all(), held / rounds


def test_what_no_report_tells_together_is_refused() -> None:
    asked = Study([Attribute("a", ["n", "y"]), Attribute("b", ["n", "y"])], 2.0, "singles")
    made = asked.randomize({"a": ["n", "y"] * 100, "b": ["y", "n"] * 100}, seed=1)
    model = castell.fit(made, "castell", weights=np.arange(1.0, 201.0))
    with pytest.raises(QueryError, match="no respondent reported a, b together"):
        model.association("a", "b")
    with pytest.raises(QueryError, match="no report tells a and b together"):
        model.trend("a", "b")


def test_a_value_that_nobody_has_leaves_no_test() -> None:
    asked = Study([Attribute("a", ["n", "y"]), Attribute("b", ["n", "y"])], 60.0)
    made = asked.randomize({"a": ["n"] * 100, "b": ["y", "n"] * 50}, seed=1)
    found = castell.fit(made, "castell", weights=np.arange(1.0, 101.0)).association("a", "b")
    assert (found.test, found.conf_int()) == (None, (0.0, 1.0))
    assert found.freedom_below == inf
