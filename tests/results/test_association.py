"""Cramer's V, the test of independence and the trend test."""

from __future__ import annotations

import json
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, kstest

import castell
from castell import Attribute, Checked, MatrixResponse, Study, fit
from castell.errors import QueryError
from castell.inference.reasons import Code
from castell.linear.operators import Floats
from castell.population import SCHEMA, health_survey
from castell.results.association import cramers_v
from tests.peer_statistics import statsmodels
from tests.populations import ASYMMETRIC, collect, population, product

APART = product({"a": [0.3, 0.7], "b": [0.5, 0.2, 0.3], "c": [0.1, 0.2, 0.3, 0.4]})
TOGETHER = population((2, 3, 4), seed=4, sharpness=2.0)
STUDIES = {
    "independent": Study(APART.schema, 6.0),
    "asymmetric": Study(APART.schema, shares={"a": 2.0, "c": 2.0}, channels={"b": ASYMMETRIC}),
    "joint": Study(APART.schema, 4.0, "joint"),
    "pairs": Study(APART.schema, 3.0, "pairs"),
    "cover": Study(APART.schema, 4.0, "cover"),
    # The same attributes in two orders.
    "orders": Study(APART.schema, 3.0, [["c", "b"], ["b", "c", "a"]], draw=True),
}
ROUNDS = 200


def nearly_certain(size: int) -> MatrixResponse:
    """As good as no noise: what is then estimated is what was answered."""
    return MatrixResponse([[2**46 if i == k else 1 for k in range(size)] for i in range(size)])


def _without_noise() -> tuple[castell.Model, Floats]:
    people = health_survey(1500, seed=2)
    reports = Study(SCHEMA, 30.0 * len(SCHEMA)).randomize(people, seed=1)
    table = castell.tabulate(SCHEMA, people, ("smokes", "health"))
    return castell.fit(reports, "castell"), np.round(1500 * table / table.sum())


def test_without_noise_the_test_is_pearsons_and_v_is_bergsmas() -> None:
    model, table = _without_noise()
    found = model.association("smokes", "health")
    peer = chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(peer.statistic, abs=1e-7)
    assert found.freedom == peer.dof
    assert found.p_value == pytest.approx(peer.pvalue, abs=1e-8)
    n, rows, columns = table.sum(), *table.shape
    square = peer.statistic / n - (rows - 1) * (columns - 1) / (n - 1)
    rows, columns = (k - (k - 1) ** 2 / (n - 1) for k in (rows, columns))
    assert found.value == pytest.approx(sqrt(square / (min(rows, columns) - 1)), abs=1e-8)


def test_without_noise_the_trend_is_that_of_statsmodels() -> None:
    model, table = _without_noise()
    scores = np.array([0.0, 1.0, 5.0])
    found = model.trend("smokes", "health", scores={"smokes": scores.tolist()})
    peer = statsmodels().stats.Table(table).test_ordinal_association(scores, np.arange(4))
    assert found.statistic == pytest.approx(peer.zscore, abs=1e-7)
    assert found.p_value == pytest.approx(peer.pvalue, abs=1e-8)
    answers = np.repeat(np.indices(table.shape).reshape(2, -1), table.ravel().astype(int), axis=1)
    plain = np.corrcoef(scores[answers[0]], answers[1])[0, 1]
    assert found.value == pytest.approx(plain, abs=1e-8)


def _where_some_decline() -> tuple[castell.Model, Any, Floats]:
    """A model without noise, who answered both, and their table; who hurts much declines more."""
    chance = np.random.default_rng(5)
    asked = [
        Attribute("pain", ["none", "some", "much"], ordered=True, missing="category"),
        Attribute("work", ["no", "yes", "refused"]),
    ]
    x = chance.integers(0, 3, 400)
    y = (chance.random(400) < 0.3 + 0.2 * x).astype(int)
    silent = chance.random((2, 400)) < 0.15 + 0.2 * (x == 2)
    said: dict[str, Any] = {
        "pain": np.where(silent[0], "", np.array(asked[0].answers)[x]),
        "work": np.where(silent[1], "refused", np.array(["no", "yes"])[y]),
    }
    study = Study(asked, channels={one.name: nearly_certain(one.size) for one in asked})
    model = fit(study.randomize(said), "castell")
    both = ~silent.any(axis=0)
    table = np.zeros((3, 2))
    np.add.at(table, (x[both], y[both]), 1)
    return model, np.array([x[both], y[both]]), table


def test_a_trend_is_of_those_who_answered_both() -> None:
    model, both, table = _where_some_decline()
    found = model.trend("pain", "work")
    peer = statsmodels().stats.Table(table).test_ordinal_association(np.arange(3), np.arange(2))
    assert found.statistic == pytest.approx(peer.zscore, abs=1e-8)
    assert found.value == pytest.approx(np.corrcoef(*both)[0, 1], abs=1e-8)
    assert found.scores == ((0.0, 1.0, 2.0), (0.0, 1.0))
    with pytest.raises(QueryError, match="each of its 3 values that are answers"):
        model.trend("pain", "work", scores={"pain": [0, 1, 2, 9]})


def test_an_association_is_of_those_who_answered_both() -> None:
    model, _, table = _where_some_decline()
    found = model.association("pain", "work")
    peer = chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(peer.statistic, abs=1e-7)
    assert found.freedom == 2
    assert found.p_value == pytest.approx(peer.pvalue, abs=1e-8)
    n = table.sum()
    square = (peer.statistic / n - 2 / (n - 1)) / (1 - 1 / (n - 1))
    assert found.value == pytest.approx(sqrt(square), abs=1e-8)
    assert found.to_dict()["left_out"] == {"pain": ["no answer"], "work": ["refused"]}
    assert "of those who answered both, without pain: no answer; work: refused" in found.summary()
    every = model.associations()["pain", "work"]
    assert (every.value, every.conf_int()) == (found.value, found.conf_int())
    # With who declined: another table, of 4 x 3 values, in which declining goes with pain.
    whole = model.association("pain", "work", with_declined=True)
    assert whole.freedom == 6
    assert whole.to_dict()["left_out"] == {}
    assert "without" not in whole.summary()
    assert model.associations(with_declined=True)["pain", "work"].value == whole.value


def test_where_hardly_anybody_answers_there_is_no_test() -> None:
    asked = [Attribute(name, ["no", "yes", "refused"]) for name in "ab"]
    study = Study(asked, channels={one.name: nearly_certain(3) for one in asked})
    model = fit(study.randomize({"a": ["refused"] * 50, "b": ["no", "yes"] * 25}), "castell")
    found = model.association("a", "b")
    assert found.test is None
    assert found.conf_int() == (0.0, 1.0)


def test_v_of_those_who_answered_is_covered_though_they_decline_together() -> None:
    asked = [
        Attribute("a", ["1", "2", "3"], missing="category"),
        Attribute("b", ["no", "yes"], missing="category"),
    ]
    study, chance = Study(asked, epsilon=8.0), np.random.default_rng(13)
    # Given that both answer: V is .3, as P(yes) is .5 -+ d with d^2 (2 / 3) / .25 = .09.
    rise, held, values = sqrt(0.09 * 0.25 * 1.5), 0, []
    for seed in range(300):
        x, silent = chance.integers(0, 3, 2000), chance.random((2, 2000)) < 0.2
        silent[1] |= silent[0]  # who declines the one declines the other
        yes = chance.random(2000) < 0.5 + rise * (x - 1)
        said = {
            "a": np.where(silent[0], "", np.array(["1", "2", "3"])[x]),
            "b": np.where(silent[1], "", np.array(["no", "yes"])[yes.astype(int)]),
        }
        found = fit(study.randomize(said, seed=seed), "castell").association("a", "b")
        low, high = found.conf_int()
        held += low <= 0.3 <= high
        values.append(found.value)
    # 95 % +- 5 standard deviations of 1.26 %; the mean of 300 has an error of .0025.
    assert held / 300 >= 0.887
    assert abs(np.mean(values) - 0.3) < 0.015


def test_without_a_trend_few_are_found_though_many_do_not_answer() -> None:
    asked = [
        Attribute("a", ["1", "2", "3"], missing="category"),
        Attribute("b", ["no", "yes"], missing="category"),
    ]
    study, chance = Study(asked, epsilon=6.0), np.random.default_rng(12)
    p: dict[str, list[float]] = {"trend": [], "association": []}
    for seed in range(300):
        silent = chance.random((2, 1500)) < 0.2
        silent[1] |= silent[0] & (chance.random(1500) < 0.5)  # often the same people
        said = {
            "a": np.where(silent[0], "", chance.choice(["1", "2", "3"], 1500)),
            "b": np.where(silent[1], "", chance.choice(["no", "yes"], 1500)),
        }
        model = fit(study.randomize(said, seed=seed), "castell")
        p["trend"].append(model.trend("a", "b").p_value)
        p["association"].append(model.association("a", "b").p_value)
    # Uniform on [0, 1]: the bound of Massart at one in a million.
    ranks = np.arange(301) / 300
    for each in p.values():
        apart = max(np.abs(np.sort(each) - ends).max() for ends in (ranks[1:], ranks[:-1]))
        assert apart < np.sqrt(np.log(2e6) / 600)


@pytest.mark.parametrize("design", STUDIES)
def test_where_nothing_is_associated_p_values_are_uniform(design: str) -> None:
    generator, found, trends, zeros = np.random.default_rng(3), [], [], 0
    for _ in range(ROUNDS):
        reports = collect(STUDIES[design], APART.table, 3000, generator)
        model = castell.fit(reports, "castell")
        one = model.association("c", "b")
        found.append(one.p_value)
        trends.append(model.trend("b", "c").p_value)
        zeros += one.conf_int()[0] == 0.0
    assert kstest(found, "uniform").pvalue > 1e-6
    assert kstest(trends, "uniform").pvalue > 1e-6
    assert zeros / ROUNDS > 0.872


@pytest.mark.parametrize("design", STUDIES)
def test_v_and_correlation_are_covered_and_v_has_no_bias(design: str) -> None:
    table = TOGETHER.margin(["b", "c"])
    truth = cramers_v(table)
    u, v = (np.arange(k) - m @ np.arange(k) for k, m in ((3, table.sum(1)), (4, table.sum(0))))
    correlation = u @ table @ v / sqrt((table.sum(1) @ u**2) * (table.sum(0) @ v**2))
    generator, held, along, squares = np.random.default_rng(4), 0, 0, []
    for _ in range(ROUNDS):
        reports = collect(STUDIES[design], TOGETHER.table, 3000, generator)
        model = castell.fit(reports, "castell")
        one, other = model.association("b", "c"), model.trend("b", "c")
        low, high = one.conf_int()
        held += low <= truth <= high
        low, high = other.conf_int()
        along += low <= correlation <= high
        assert one.test is not None
        squares.append(one.test.square / one.test.scale)
    assert held / ROUNDS > 0.872
    assert along / ROUNDS > 0.872
    error = np.std(squares) / sqrt(ROUNDS)
    assert abs(np.mean(squares) - truth**2) < 5 * error + 0.02 * truth**2


def test_whatever_the_method_the_reports_decide() -> None:
    reports = collect(STUDIES["cover"], TOGETHER.table, 4000, np.random.default_rng(1))
    one, two = (castell.fit(reports, m).association("a", "c") for m in ("castell", "auto"))
    assert (one.value, one.p_value, one.conf_int()) == (two.value, two.p_value, two.conf_int())
    assert 0.0 < one.detectable < 1.0
    assert f"below V = {one.detectable:.2g} would hardly show" in str(one)
    document = json.loads(json.dumps(two.to_dict(), allow_nan=False))
    assert (document["kind"], document["attributes"]) == ("association", ["a", "c"])
    assert document["p_value"] == one.p_value
    assert "<Association" in repr(one)
    assert "Cramer" in one._repr_html_()


def test_where_no_report_tells_both_nothing_is_tested() -> None:
    study = Study(APART.schema, 4.0, "singles")
    reports = collect(study, TOGETHER.table, 5000, np.random.default_rng(1))
    found = castell.fit(reports).association("a", "c")
    assert found.checked is Checked.NOTHING
    assert found.conf_int() == (0.0, 1.0)
    assert found.p_value != found.p_value
    assert "no test: no report tells both" in str(found)
    assert any("the model's alone" in note for note in found.notes)
    json.dumps(found.to_dict(), allow_nan=False)
    with pytest.raises(QueryError, match="no report tells a and c together"):
        castell.fit(reports).trend("a", "c")


def test_too_few_reports_are_not_said_to_be_none() -> None:
    reports = collect(STUDIES["pairs"], TOGETHER.table, 30, np.random.default_rng(1))
    found = castell.fit(reports, "castell").association("a", "c")
    assert found.test is None
    assert "no test: too few reports tell both" in str(found)
    assert found.reasons[0].code is Code.TOO_FEW_FOR_TEST
    assert "no report tells" not in str(found)


def test_bloom_filters_are_not_tested() -> None:
    study = Study(APART.schema, 12.0, "bloom")
    reports = collect(study, TOGETHER.table, 400, np.random.default_rng(1))
    found = castell.fit(reports, "lopub").association("a", "c")
    assert (found.test, found.checked) == (None, Checked.NOTHING)


def test_rare_values_are_put_together_and_it_is_said() -> None:
    table = np.outer([0.499, 0.5, 0.001], [0.5, 0.5])
    people = product({"a": [0.499, 0.5, 0.001], "b": [0.5, 0.5]})
    reports = collect(Study(people.schema, 8.0), table, 2000, np.random.default_rng(1))
    found = castell.fit(reports, "castell").association("a", "b")
    assert found.freedom == 1
    assert "values of a too rare to be told were put together" in str(found)
    assert found.to_dict()["grouped"] == ["a"]


def test_questions_that_are_none_are_refused() -> None:
    reports = collect(STUDIES["joint"], TOGETHER.table, 500, np.random.default_rng(1))
    model = castell.fit(reports, "castell")
    with pytest.raises(QueryError, match="'a' is asked for twice"):
        model.association("a", "a")
    with pytest.raises(QueryError, match="did you mean"):
        model.association("a", "aa")
    with pytest.raises(QueryError, match="there are scores of 'c'"):
        model.trend("a", "b", scores={"c": [1, 2, 3, 4]})
    for wrong in ([1, 2], ["x", "y", "z"], [1, 2, np.inf]):
        with pytest.raises(QueryError, match="the scores of 'b' are"):
            model.trend("a", "b", scores={"b": wrong})  # type: ignore[dict-item]
    with pytest.raises(QueryError, match="have one score"):
        model.trend("a", "b", scores={"b": [1, 1, 1]})


def test_a_single_report_is_no_error() -> None:
    reports = collect(STUDIES["joint"], TOGETHER.table, 1, np.random.default_rng(1))
    found = castell.fit(reports, "castell").association("a", "c")
    low, high = found.conf_int()
    assert 0.0 <= low <= high <= 1.0


def test_pictures_are_drawn() -> None:
    pytest.importorskip("altair")
    reports = collect(STUDIES["joint"], TOGETHER.table, 500, np.random.default_rng(1))
    model = castell.fit(reports, "castell")
    asked = (
        model.association("a", "c"),
        model.trend("a", "c"),
        model.conditional("a", given="c"),
        model.conditional("a", given={"c": "c1"}),
        model.probability(a="a1"),
        model.difference({"a": "a1"}, {"b": "b1"}),
    )
    for one in asked:
        assert one.plot().to_dict()["layer"]


def test_row_percentages_are_the_conditionals_of_every_row() -> None:
    reports = collect(STUDIES["joint"], TOGETHER.table, 3000, np.random.default_rng(1))
    model = castell.fit(reports, "castell")
    table = model.conditional("c", given="b")
    assert table.probabilities.shape == (3, 4)
    for k, value in enumerate(("b0", "b1", "b2")):
        row = model.conditional("c", given={"b": value})
        np.testing.assert_array_equal(table.probabilities[k], row.probabilities)
        np.testing.assert_array_equal(table.standard_errors[k], row.standard_errors)
        np.testing.assert_array_equal(table.conf_int(0.9)[1][k], row.conf_int(0.9)[1])
    assert np.asarray(table).shape == (3, 4)
    frame = table.to_frame("pyarrow")
    assert frame.column_names[:3] == ["b", "c", "probability"]
    assert table.to_dict()["attributes"] == ["b", "c"]
    assert "c given b (castell)" in str(table)
    assert "<ConditionalTable c given b: 12 shares" in repr(table)
    assert "b2" in table._repr_html_()
    with pytest.raises(QueryError, match="a table is of two attributes"):
        model.conditional({"c": "c1"}, given="b")  # type: ignore[call-overload]
    with pytest.raises(QueryError, match="'b' is asked for and given"):
        model.conditional("b", given="b")
