"""Weighted regressions: svyglm of R's survey without noise, coverage with it, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, Study
from castell.errors import OptionError, QueryError
from tests.inference.test_sampling_design import (
    ANSWERS,
    CLUSTER,
    MARGINS,
    NAMED,
    WEIGHT,
    collected,
    reports,
    study,
)

BOTH: dict[str, Any] = {"weights": WEIGHT, "strata": "stratum", "clusters": CLUSTER}

# R 4.2.2, survey 4.1.1, with d.csv and the designs of test_sampling_design; d$hours is the code of
# smokes:
#   f <- svyglm(sick=="yes" ~ smokes + sex, both, family=quasibinomial(), epsilon=1e-14, maxit=100)
#   coef(f); SE(f); summary(f)$coefficients[,4]; confint(f)[,1]
#   svyglm(hours ~ sex + region, both)
WEIGHTED = [0.01115167668814, -0.48965304493284, -0.77075503455802, -0.53168615465270]
PEERS: dict[str, tuple[str, dict[str, Any], list[list[float]]]] = {
    "both": (
        "sick ~ smokes + sex",
        BOTH,
        [
            WEIGHTED,
            [0.3568917871878, 0.3970768525797, 0.3813720317196, 0.3905994007035],
            [0.97575479311406, 0.24875833926340, 0.07400173787082, 0.20655166106298],
            [-0.7961936360427, -1.3879032911773, -1.6334785078034, -1.4152833867389],
        ],
    ),
    "weighted": (
        "sick ~ smokes + sex",
        {"weights": WEIGHT},
        [
            WEIGHTED,
            [0.4020485306068, 0.5118646278155, 0.4661261055829, 0.4017480788997],
            [0.9779194635837, 0.3407553079813, 0.1009261894027, 0.1882943326652],
            [-0.7851560972822, -1.5034654365232, -1.6939765197004, -1.3273988461595],
        ],
    ),
    "raked": (
        "sick ~ smokes + sex",
        {**BOTH, "rake": MARGINS},
        [
            [0.03074593158198, -0.37650635045464, -0.78951261376909, -0.54647153660685],
            [0.3828951926309, 0.3932835586749, 0.3980492876920, 0.4282019636681],
            [0.93775702721649, 0.36340355607650, 0.07862111716264, 0.23383260908893],
            [-0.8354231710291, -1.2661755697219, -1.6899626610683, -1.5151316758429],
        ],
    ),
    "linear": (
        "smokes ~ sex + region",
        BOTH,
        [
            [1.23044563946387, -0.23859936672889, -0.06247511186182, 0.01842306531073],
            [0.1702554777019, 0.1381604627605, 0.2162173264685, 0.2028820732360],
            [4.936809810544e-05, 1.182454208448e-01, 7.791678141819e-01, 9.296350433233e-01],
            [0.8453009910749, -0.5511400471781, -0.5515926856535, -0.4405280698634],
        ],
    ),
}


@pytest.mark.parametrize("name", PEERS)
def test_without_noise_it_is_svyglm(name: str) -> None:
    formula, given, (coefficients, errors, tails, lower) = PEERS[name]
    family = "linear" if name == "linear" else None
    found = castell.regress(formula, reports(), family=family, **given)
    assert found.method == "corrected"
    assert found.params == pytest.approx(coefficients, abs=1e-8)
    assert found.standard_errors == pytest.approx(errors, abs=1e-8)
    assert found.pvalues == pytest.approx(tails, abs=1e-8)
    assert found.conf_int()[0] == pytest.approx(lower, abs=1e-8)
    assert "degrees of freedom" in found.summary()
    assert "P>|t|" in found.summary()


def test_equal_weights_change_hardly_anything() -> None:
    seen = study(20.0).randomize(ANSWERS, seed=3)
    for formula, family in (("sick ~ sex + smokes", None), ("smokes ~ sex", "linear")):
        plain = castell.regress(formula, seen, family=family, method="corrected")
        equal = castell.regress(formula, seen, family=family, weights=[2.0] * 120)
        assert equal.params == pytest.approx(plain.params, abs=1e-9)
        larger = np.sqrt(120 / 119)
        assert equal.standard_errors == pytest.approx(plain.standard_errors * larger, abs=1e-9)


@pytest.mark.parametrize("family", ["linear", "logistic"])
def test_coefficients_of_a_stratified_cluster_sample_are_covered(family: str) -> None:
    """700 collections; by chance a share of .95 is off by .008 (one standard error)."""
    odds = np.log(np.array([0.2, 0.7]) / np.array([0.8, 0.3]))
    truth = {"linear": [0.2, 0.5], "logistic": [odds[0], odds[1] - odds[0]]}[family]
    held, unsolved = [], 0
    for seed in range(700):
        made, given = collected(seed)
        try:
            found = castell.regress("drinks ~ sick", made, family=family, **given)
        except QueryError:
            unsolved += 1
            continue
        low, high = found.conf_int(0.95)
        held.append((low <= truth) & (truth <= high))
    assert unsolved < 20
    assert np.all(np.abs(np.mean(held, axis=0) - 0.955) < 0.025), np.mean(held, axis=0)


def test_drawn_blocks_are_weighted_each_by_itself() -> None:
    """A regression on what some block holds; its errors are the spread of its estimates."""
    chance = np.random.default_rng(4)
    asked = [Attribute(name, ["no", "yes"]) for name in ("a", "b", "c")]
    made = Study(asked, 6.0, "pairs")
    found = []
    for seed in range(200):
        a, b, c = chance.random((3, 800)) < np.array([[0.4], [0.5], [0.3]])
        heavy = a | b
        people = {"a": a, "b": np.where(a, chance.random(800) < 0.7, b), "c": c}
        answers = {name: np.where(yes, "yes", "no") for name, yes in people.items()}
        seen = made.randomize(answers, seed=seed)
        fit = castell.regress("b ~ a", seen, family="linear", weights=np.where(heavy, 2.0, 1.0))
        found.append((fit.params, fit.standard_errors))
    params, errors = np.array(found).transpose(1, 0, 2)
    assert np.median(errors, axis=0) == pytest.approx(params.std(axis=0), rel=0.2)
    with pytest.raises(QueryError, match="no report holds a, c, b together"):
        castell.regress("b ~ a + c", seen, weights=[1.0] * 800)


@pytest.mark.parametrize(
    ("more", "error", "problem"),
    [
        ({"method": "likelihood"}, OptionError, "by corrected scores"),
        ({"errors": "information"}, OptionError, "by corrected scores"),
        ({"weights": [1.0]}, OptionError, "1 entries for 120 reports"),
        (
            {"strata": None, "clusters": [name[0] for name in NAMED]},
            QueryError,
            "4 columns and 2 degrees of freedom",
        ),
    ],
)
def test_what_is_no_weighted_regression_is_refused(
    more: dict[str, Any], error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        castell.regress("sick ~ smokes + sex", reports(), **{**BOTH, **more})
