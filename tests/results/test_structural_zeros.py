"""Declared zeros from end to end: exact in tables, shares and samples, checked by reports."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, Code, Schema, Study
from castell.counting import MemoryCounts
from castell.errors import MethodError
from castell.inference.constants import ALARM
from castell.inference.declared_zeros import rule_tests
from castell.inference.method import Fitted
from castell.linear.operators import Floats
from castell.results.synthetic_people import sample_codes
from castell.results.trust import declared_rules, signals
from tests.populations import collect

ASKED = [
    Attribute("smokes", ["never", "before", "now"]),
    Attribute("brand", ["none", "A", "B"]),
    Attribute("health", ["poor", "good"]),
]
RULES: list[dict[str, object]] = [
    {"smokes": "!now", "brand": "!none"},
    {"smokes": "now", "brand": "none"},
]
METHODS = {"cover": ["auto", "latent"], "independent": ["auto", "latent", "em"]}


def people(broken: float = 0.0) -> Floats:
    """A share of people breaks the first rule."""
    table = np.zeros((3, 3, 2))
    table[0, 0], table[1, 0] = [0.1, 0.4], [0.05, 0.15]
    table[2, 1], table[2, 2] = [0.1, 0.08], [0.07, 0.05]
    table *= 1.0 - broken
    table[0, 1, 0] += broken
    return table


def study(design: str = "cover", rules: list[dict[str, object]] = RULES) -> Study:
    return Study(Schema(ASKED, rules), 3.0, design)


def reports(design: str, broken: float = 0.0, n: int = 6000, seed: int = 0) -> castell.Reports:
    return collect(study(design), people(broken), n, np.random.default_rng(seed))


CASES = [(design, method) for design, methods in METHODS.items() for method in methods]


@pytest.mark.parametrize(("design", "method"), CASES)
def test_what_is_impossible_is_zero_with_no_interval(design: str, method: str) -> None:
    model = castell.fit(reports(design), method)
    empty = people().sum(axis=2) == 0.0
    for names in (("smokes", "brand"), ("brand", "smokes"), ("health", "brand", "smokes")):
        joint = model.estimate(names)
        low, high = joint.conf_int()
        assert joint.impossible.sum() == empty.sum() * (2 if len(names) == 3 else 1)
        for table in (joint.probabilities, joint.standard_errors, low, high):
            assert (table[joint.impossible] == 0.0).all()
        assert (high[~joint.impossible] > 0.0).all()
        assert joint.probabilities.sum() == pytest.approx(1.0)
        told = [r for r in joint.reasons if r.code is Code.IMPOSSIBLE]
        assert [r.numbers["rules"] for r in told] == [2]
        assert "0 for sure, with the interval [0, 0]" in joint.summary()
        inside = joint.project(["smokes", "brand"])
        assert (inside.probabilities[empty] == 0.0).all()
        assert (inside.conf_int()[1][empty] == 0.0).all()
    assert not [
        r for r in model.estimate(["smokes", "health"]).reasons if r.code is Code.IMPOSSIBLE
    ]


@pytest.mark.parametrize(("design", "method"), CASES)
def test_shares_of_nothing_possible_are_zero(design: str, method: str) -> None:
    model = castell.fit(reports(design), method)
    share = model.probability(smokes=["never", "before"], brand=["A", "B"])
    assert (share.value, share.standard_error, share.conf_int()) == (0.0, 0.0, (0.0, 0.0))
    assert Code.IMPOSSIBLE in {r.code for r in share.reasons}
    assert share.complement().conf_int() == (1.0, 1.0)
    partly = model.probability(smokes=["before", "now"], brand="A")
    assert partly.conf_int()[1] > partly.value > 0.05
    given = model.conditional("brand", given={"smokes": "never"})
    low, high = given.conf_int()
    assert low[1:].tolist() == [0.0, 0.0]
    assert high[1:].tolist() == [0.0, 0.0]
    assert high[0] == 1.0
    one = {"smokes": "never", "brand": "A"}
    apart = model.difference(one, {"smokes": "now", "brand": "A"})
    alone = model.probability(smokes="now", brand="A")
    assert apart.value == pytest.approx(-alone.value)
    assert apart.conf_int()[1] < 0.0


def test_attributes_never_reported_together_are_zero_too() -> None:
    model = castell.fit(reports("singles", n=3000))
    joint = model.estimate(["smokes", "brand"])
    assert joint.checked == "nothing"
    assert (joint.conf_int()[1][joint.impossible] == 0.0).all()
    assert model.probability(smokes="now", brand="none").conf_int() == (0.0, 0.0)


def test_of_several_studies_the_rules_of_the_last_hold() -> None:
    earlier = collect(study("pairs", []), people(), 3000, np.random.default_rng(0))
    later = reports("cover", n=3000)
    joint = castell.fit([earlier, later], "latent", starts=2).estimate(["smokes", "brand"])
    assert joint.impossible.any()
    assert (joint.probabilities[joint.impossible] == 0.0).all()
    other = castell.fit([later, earlier], "latent", starts=2).estimate(["smokes", "brand"])
    assert not other.impossible.any()
    assert (other.probabilities > 0.0).all()


def test_the_unbiased_table_stays_as_it_is() -> None:
    same = castell.Reports(study(rules=[]), reports("cover").columns, secure=True)
    found = castell.fit(reports("cover"), "castell").estimate(["smokes", "brand"])
    wanted = castell.fit(same, "castell").estimate(["smokes", "brand"])
    np.testing.assert_array_equal(found.probabilities, wanted.probabilities)
    np.testing.assert_array_equal(found.conf_int(), wanted.conf_int())
    # No cell that nobody can be in counts as one that noise hides.
    assert found.impossible.any()
    assert "cells cannot be told from zero" not in found.summary()


# -- synthetic people ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("design", "method"), [*CASES, ("independent", "castell"), ("independent", "locop")]
)
def test_nobody_impossible_is_sampled(design: str, method: str) -> None:
    model = castell.fit(reports(design), method)
    for names in (None, ["brand", "smokes"]):
        frame = model.sample(3000, names, seed=0, backend="pandas")
        assert len(frame) == 3000
        smokes = frame["smokes"] == "now"
        assert (smokes == (frame["brand"] != "none")).all()
        assert smokes.any()


def test_a_model_of_nobody_possible_is_refused() -> None:
    counts = MemoryCounts(reports("independent"))

    def never(names: tuple[str, ...], people: int, generator: Any) -> list[Any]:  # noqa: ARG001
        return [np.full(people, name == "brand", dtype=np.intp) for name in names]

    fitted = castell.fit(reports("independent"), "castell").fitted
    odd = Fitted(counts, fitted.joint, fitted.shares, sample=never)
    with pytest.raises(MethodError, match="odd samples next to nobody who can be"):
        sample_codes(odd, "odd", ("smokes", "brand"), 10, 0)


# -- made consistent -------------------------------------------------------------------------------


def test_consistent_tables_keep_the_zeros() -> None:
    model = castell.fit(reports("independent"), "castell")
    sets = [["smokes", "brand"], ["brand", "health"], ["smokes", "health"]]
    one, two, three = castell.consistent([model.estimate(names) for names in sets])
    assert (one.probabilities[one.impossible] == 0.0).all()
    assert (one.conf_int()[1][one.impossible] == 0.0).all()
    for table in (one, two, three):
        assert table.probabilities.sum() == pytest.approx(1.0)
    for name, left, right in (("brand", one, two), ("smokes", one, three), ("health", two, three)):
        mine, other = (t.project(name).probabilities for t in (left, right))
        np.testing.assert_allclose(mine, other, atol=1e-12)
    codes = [r.code for r in one.reasons]
    assert codes.count(Code.IMPOSSIBLE) == 1
    assert Code.MADE_CONSISTENT in codes
    # Those of a model that knows them are as they should be already.
    latent = castell.fit(reports("independent"), "latent", starts=2)
    tables = [latent.estimate(names) for names in sets]
    for before, after in zip(tables, castell.consistent(tables), strict=True):
        np.testing.assert_allclose(before.probabilities, after.probabilities, atol=1e-9)


# -- what the reports say of the rules -------------------------------------------------------------


def test_a_true_rule_is_hardly_ever_called_wrong() -> None:
    """Of 2 x 3000 one-sided p-values each share is as it should be; none is alarming by chance
    more often than about once in a thousand."""
    generator = np.random.default_rng(5)
    p, flagged = [], 0
    rounds = 1500
    for design in ("cover", "independent"):
        asked = study(design)
        for _ in range(rounds):
            tests = rule_tests(MemoryCounts(collect(asked, people(), 2000, generator)))
            flagged += any(one.contradicted for one in tests)
            p += [one.p / 2 for one in tests if one.p < 1.0]
    for level in (0.02, 0.1, 0.3):
        found = sum(each < level for each in p)
        expected = 4 * rounds * level
        # Two rules of the same reports; five standard deviations.
        assert abs(found - expected) < 5 * np.sqrt(2 * expected) + 0.15 * expected, level
    assert flagged <= 2 * rounds * ALARM + 5 * np.sqrt(2 * rounds * ALARM) + 1


@pytest.mark.parametrize("design", ["cover", "independent", "pairs"])
def test_a_rule_that_one_in_twenty_breaks_is_found(design: str) -> None:
    for seed in range(5):
        given = reports(design, broken=0.05, n=100_000, seed=seed)
        first, second = rule_tests(MemoryCounts(given))
        assert first.contradicted
        assert not second.contradicted
        assert first.share is not None
        assert first.error is not None
        assert abs(first.share - 0.05) < 5 * first.error
    joint = castell.fit(given, "latent", classes=6, steps=20, starts=2).estimate(
        ["health", "brand"]
    )
    assert joint.reasons[0].code is Code.DECLARATION_CONTRADICTED
    assert joint.reasons[0].names == ("brand", "smokes")
    assert "CONTRADICTED: the study declares that nobody has smokes = 'never'" in joint.summary()
    document = json.loads(json.dumps(joint.to_dict()))
    assert document["reasons"][0]["code"] == "declaration_contradicted"
    assert 0.03 < document["reasons"][0]["numbers"]["share"] < 0.07
    share = castell.fit(given, "castell").probability(smokes="now")
    assert "CONTRADICTED" in str(share)
    signal = declared_rules(MemoryCounts(given))
    assert (signal.state, signal.value) == ("look", "1 of 2 contradicted")
    assert signal.to_dict()["numbers"]["contradicted"] == 1


def test_the_signal_of_rules_stands_where_there_are_rules() -> None:
    given = reports("cover")
    joint = castell.estimate(given, ["smokes", "health"], "castell")
    *_, last = signals(MemoryCounts(given), joint)
    assert (last.key, last.state) == ("impossible", "fine")
    assert last.text == "The reports contradict none of the declared rules."
    same = castell.Reports(study(rules=[]), given.columns, secure=True)
    plain = signals(MemoryCounts(same), castell.estimate(same, ["smokes", "health"], "castell"))
    assert "impossible" not in {signal.key for signal in plain}


def test_what_nobody_reported_together_is_not_tested() -> None:
    counts = MemoryCounts(reports("singles"))
    assert [one.share for one in rule_tests(counts)] == [None, None]
    assert declared_rules(counts).state == "unknown"
    clusters = Study(
        Schema(ASKED, [*RULES, {"smokes": "never", "health": "poor", "brand": "A"}]),
        3.0,
        [["smokes", "brand"], ["health"]],
        draw=True,
    )
    given = MemoryCounts(collect(clusters, people(), 5000, np.random.default_rng(0)))
    assert [one.share is None for one in rule_tests(given)] == [False, False, True]
    assert (
        "Nobody reported the attributes of one of the declared rules" in declared_rules(given).text
    )


def test_reports_that_are_all_alike_tell_nothing() -> None:
    table = np.zeros((3, 3, 2))
    table[0, 1, 0] = 1.0
    one = collect(study("independent"), table, 1, np.random.default_rng(0))
    assert not any(test.contradicted for test in rule_tests(MemoryCounts(one)))


# -- intervals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "em"])
def test_cells_that_are_possible_are_covered(method: str) -> None:
    """95 % intervals of the other cells, over 40 collections: cautious, as without rules."""
    generator = np.random.default_rng(11)
    design = "independent" if method == "em" else "cover"
    truth = people().sum(axis=2)
    held = cells = 0
    for _ in range(40):
        model = castell.fit(collect(study(design), people(), 3000, generator), method)
        low, high = model.estimate(["smokes", "brand"]).conf_int()
        able = truth > 0.0
        held += int(((low <= truth) & (truth <= high))[able].sum())
        cells += int(able.sum())
    assert held / cells > 0.9
