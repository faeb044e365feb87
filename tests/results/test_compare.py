"""Comparisons of groups and of waves: the plain ones without noise, covered with it."""

from __future__ import annotations

import json
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest

import castell
from castell import Checked, Comparison, Study
from castell.errors import QueryError
from castell.population import SCHEMA, health_survey
from tests.peer_statistics import statsmodels
from tests.populations import ASYMMETRIC, collect, population

PEOPLE = population((2, 3, 4), seed=4, sharpness=2.0)
STUDIES = {
    "independent": Study(PEOPLE.schema, 9.0),
    "noisy": Study(PEOPLE.schema, 4.5),
    "asymmetric": Study(PEOPLE.schema, shares={"a": 3.0, "c": 3.0}, channels={"b": ASYMMETRIC}),
    "joint": Study(PEOPLE.schema, 5.0, "joint"),
    "pairs": Study(PEOPLE.schema, 4.0, "pairs"),
    "cover": Study(PEOPLE.schema, 4.0, "cover"),
}
ASKED, GIVEN, VERSUS = {"a": "a1"}, {"c": ["c0", "c1"]}, {"c": "c2"}
ROUNDS = 200


def _truth() -> dict[str, float]:
    table = PEOPLE.margin(["a", "c"])
    p = table[1, :2].sum() / table[:, :2].sum()
    q = table[1, 2] / table[:, 2].sum()
    return {
        "difference": p - q,
        "relative_risk": p / q,
        "odds_ratio": p / (1 - p) / (q / (1 - q)),
    }


def _two_by_two() -> tuple[castell.Model, Any]:
    """A model without noise, and the table of the answers behind it."""
    people = health_survey(900, seed=3)
    reports = Study(SCHEMA, 30.0 * len(SCHEMA)).randomize(people, seed=1)
    poor = np.asarray(people["health"]) == "poor"
    groups = [np.asarray(people["smokes"]) == value for value in ("now", "never")]
    rows = [[int((poor & g).sum()), int((~poor & g).sum())] for g in groups]
    return castell.fit(reports, "castell"), np.array(rows)


def test_without_noise_ratios_are_those_of_statsmodels() -> None:
    model, table = _two_by_two()
    found = model.compare({"health": "poor"}, given={"smokes": "now"}, versus={"smokes": "never"})
    peer = statsmodels().stats.Table2x2(table)
    for mine, value, error, ends, p in (
        (found.odds_ratio, peer.oddsratio, peer.log_oddsratio_se, peer.oddsratio_confint(),
         peer.oddsratio_pvalue()),
        (found.relative_risk, peer.riskratio, peer.log_riskratio_se, peer.riskratio_confint(),
         peer.riskratio_pvalue()),
    ):  # fmt: skip
        assert mine.value == pytest.approx(value, abs=1e-8)
        assert mine.log_value == pytest.approx(np.log(value), abs=1e-8)
        assert mine.log_standard_error == pytest.approx(error, abs=1e-8)
        assert mine.conf_int() == pytest.approx(ends, abs=1e-7)
        assert mine.p_value == pytest.approx(p, abs=1e-8)


def test_without_noise_a_difference_is_the_plain_one() -> None:
    model, table = _two_by_two()
    found = model.compare(
        {"health": "poor"}, given={"smokes": "now"}, versus={"smokes": "never"}
    ).difference
    counts, totals = table[:, 0], table.sum(axis=1)
    peer = statsmodels("stats.proportion").confint_proportions_2indep(
        counts[0], totals[0], counts[1], totals[1], method="wald", compare="diff"
    )
    p, q = counts / totals
    assert found.value == pytest.approx(p - q, abs=1e-8)
    error = sqrt(p * (1 - p) / totals[0] + q * (1 - q) / totals[1])
    assert found.standard_error == pytest.approx(error, abs=1e-8)
    assert found.conf_int() == pytest.approx(peer, abs=1e-8)


@pytest.mark.parametrize("design", STUDIES)
@pytest.mark.parametrize("n", [500, 5000])
def test_all_three_are_covered(design: str, n: int) -> None:
    generator, truth = np.random.default_rng(5), _truth()
    held = dict.fromkeys(truth, 0)
    for _ in range(ROUNDS):
        model = castell.fit(collect(STUDIES[design], PEOPLE.table, n, generator), "castell")
        for contrast in model.compare(ASKED, given=GIVEN, versus=VERSUS).contrasts:
            low, high = contrast.conf_int()
            held[contrast.kind.value] += low <= truth[contrast.kind.value] <= high
    for name, many in held.items():
        # 5 standard errors below 95 % of so many rounds.
        assert many / ROUNDS > 0.95 - 5 * sqrt(0.05 * 0.95 / ROUNDS), name
        assert many / ROUNDS < 1.0 or n == 500


def test_two_waves_are_covered_and_p_values_are_uniform_where_nothing_changed() -> None:
    generator = np.random.default_rng(6)
    held, surprised = 0, 0
    for _ in range(ROUNDS):
        one, other = (
            castell.fit(collect(STUDIES[name], PEOPLE.table, 3000, generator), "castell")
            for name in ("independent", "cover")
        )
        found = castell.compare(one, other, ASKED, given=GIVEN)
        low, high = found.difference.conf_int()
        held += low <= 0.0 <= high
        surprised += found.odds_ratio.p_value < 0.05
    assert 0.872 < held / ROUNDS < 1.0
    assert 0.0 < surprised / ROUNDS < 0.128


def test_two_waves_of_everybody_are_as_far_apart_as_their_shares() -> None:
    generator = np.random.default_rng(2)
    models = [
        castell.fit(collect(STUDIES["independent"], PEOPLE.table, 3000, generator), "castell")
        for _ in range(2)
    ]
    found = castell.compare(models[0], models[1], ASKED)
    one, other = (model.probability(ASKED) for model in models)
    assert found.difference.value == pytest.approx(one.value - other.value)
    error = np.hypot(one.standard_error, other.standard_error)
    assert found.difference.standard_error == pytest.approx(error)
    assert found.source.n == 6000
    assert "in the first 'study' against in the second 'study'" in found.title
    assert found.to_dict()["one"] == {"where": {}, "study": "the first 'study'"}


@pytest.mark.parametrize("method", ["auto", "em", "independent", "castell"])
def test_every_method_compares(method: str) -> None:
    reports = collect(STUDIES["independent"], PEOPLE.table, 2000, np.random.default_rng(1))
    found = castell.fit(reports, method).compare(ASKED, given=GIVEN, versus=VERSUS)
    for contrast in found.contrasts:
        low, high = contrast.conf_int()
        assert low <= contrast.value <= high
        assert contrast.checked is Checked.WHOLE
    assert found.reasons


def test_a_model_waves_apart_is_compared_with_the_model_error_in_it() -> None:
    """The interval of an association that only pairs could tell is at least its own error wide."""
    generator = np.random.default_rng(3)
    one, other = (
        castell.fit(collect(STUDIES["noisy"], PEOPLE.table, 1500, generator), "auto")
        for _ in range(2)
    )
    both = castell.compare(one, other, ASKED, given=GIVEN).difference
    low, high = both.conf_int()
    assert low < 0.0 < high
    for model in (one, other):
        among = model.conditional(ASKED, given=GIVEN)
        assert both.standard_error > 0.7 * among.standard_errors[0]


def test_what_nothing_tells_is_bounded_only_and_says_so() -> None:
    study = Study(PEOPLE.schema, 4.0, "singles")
    model = castell.fit(collect(study, PEOPLE.table, 20_000, np.random.default_rng(1)))
    found = model.compare(ASKED, given=GIVEN, versus=VERSUS)
    assert found.checked is Checked.NOTHING
    assert found.to_dict()["checked"] == "nothing"
    truth = _truth()
    for contrast in found.contrasts:
        low, high = contrast.conf_int()
        assert low <= truth[contrast.kind.value] <= high
    assert found.difference.conf_int()[0] < -0.3 < 0.3 < found.difference.conf_int()[1]
    assert found.odds_ratio.p_value != found.odds_ratio.p_value
    json.dumps(found.to_dict(), allow_nan=False)


def _example() -> Comparison:
    reports = collect(STUDIES["noisy"], PEOPLE.table, 300, np.random.default_rng(1))
    return castell.fit(reports, "castell").compare(ASKED, given=GIVEN, versus=VERSUS)


def test_a_comparison_shows_itself() -> None:
    found = _example()
    assert repr(found).startswith("<Comparison a = a1: c = c0 or c1 against c = c2: method")
    lines = str(found).splitlines()
    assert lines[0] == "a = a1: c = c0 or c1 against c = c2 (castell)"
    assert [line.split("  ")[0] for line in lines[2:7]] == [
        "share with c = c0 or c1",
        "share with c = c2",
        "difference",
        "relative risk",
        "odds ratio",
    ]
    assert "90% interval" in found.summary(0.9)
    assert "odds ratio" in found._repr_html_()
    document = json.loads(json.dumps(found.to_dict(0.9), allow_nan=False))
    assert document["kind"] == "comparison"
    assert document["odds_ratio"]["value"] == found.odds_ratio.value
    # JSON has no infinity.
    upper = found.odds_ratio.conf_int(0.9)[1]
    assert document["odds_ratio"]["upper"] == (None if upper == inf else upper)
    single = found.odds_ratio
    assert float(single) == single.value
    assert "odds ratio of a = a1, c = c0 or c1 against c = c2" in repr(single)
    assert single.to_dict()["kind"] == "odds_ratio"
    assert single._repr_html_()


def test_pictures_are_drawn_even_where_ends_are_infinite() -> None:
    pytest.importorskip("altair")
    found = _example()
    for chart in (found.plot(), *(contrast.plot() for contrast in found.contrasts)):
        assert chart.to_dict()["layer"]


def test_shortcuts_are_the_comparisons_own() -> None:
    reports = collect(STUDIES["independent"], PEOPLE.table, 500, np.random.default_rng(1))
    model = castell.fit(reports, "castell")
    found = model.compare(ASKED, given=GIVEN, versus=VERSUS)
    assert model.odds_ratio(ASKED, given=GIVEN, versus=VERSUS).value == found.odds_ratio.value
    risk = model.relative_risk(ASKED, given=GIVEN, versus=VERSUS)
    assert risk.value == found.relative_risk.value


def test_questions_that_are_none_are_refused() -> None:
    reports = collect(STUDIES["independent"], PEOPLE.table, 500, np.random.default_rng(1))
    model = castell.fit(reports, "castell")
    with pytest.raises(QueryError, match="'a' is asked for and given"):
        model.compare(ASKED, given={"a": "a0"}, versus=VERSUS)
    with pytest.raises(QueryError, match="every value counts"):
        model.compare({"a": ["a0", "a1"]}, given=GIVEN, versus=VERSUS)
    with pytest.raises(QueryError, match="every value counts"):
        castell.compare(model, castell.fit(reports, "castell"), {"a": ["a0", "a1"]})
    with pytest.raises(QueryError, match="names no values"):
        model.compare("a", given=GIVEN, versus=VERSUS)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="both models read the same reports"):
        castell.compare(model, model, ASKED)
    with pytest.raises(QueryError, match="'a' is asked for and given"):
        castell.compare(model, castell.fit(reports, "castell"), ASKED, given={"a": "a0"})
