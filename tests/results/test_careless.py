"""Careless answers: taken out of tables, and counted where something tells them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, Study, mechanism
from castell.errors import QueryError

YES = ["no", "yes"]
_NO_SHARE: Any = {"no": "x"}


def _crosswise(p: Any, name: Any = "a") -> Any:
    return Study([Attribute(name, YES)], channels={name: mechanism("crosswise", prevalence=p)})


def _reports(study: Any, same: Any, n: Any, name: Any = "a") -> Any:
    return castell.import_reports(study, {name: ["same"] * same + ["different"] * (n - same)})


# -- tables -----------------------------------------------------------------------------------


def test_a_table_of_designs_that_differ_is_what_the_equations_say() -> None:
    """All reports as expected, of 20 % who say what they like: the truth comes out, exactly."""
    schema = [Attribute("a", YES), Attribute("b", ["x", "y", "z"]), Attribute("c", YES)]
    forced = mechanism("forced", forced=["1/10", "1/5", "1/10"])
    kuk = mechanism("kuk", red=["1/4", "3/4"], cards=2)
    channels = {"a": mechanism("warner", p="4/5"), "b": forced, "c": kuk}
    study = Study(schema, channels=channels)
    truth = np.arange(1.0, 13.0).reshape(2, 3, 2) / 78
    p, q, r = (b.channel.forward.dense().T for b in study.design.blocks)
    honest = np.einsum("abc,ax,by,cz->xyz", truth, p, q, r)
    cases = [
        ({}, np.full((2, 3, 3), 1 / 18)),
        ({"b": "y"}, np.multiply.outer([0.5, 0.5], np.multiply.outer([0, 1, 0], [1 / 3] * 3))),
        (
            {"a": "no", "b": "z", "c": "2"},
            np.multiply.outer([1, 0], np.multiply.outer([0, 0, 1], [0, 0, 1])),
        ),
    ]
    for says, random in cases:
        # 0.8 x 78 x 5 x 10 x 16 is whole, and so is every count.
        counts = np.rint((0.8 * honest + 0.2 * random) * 78 * 5 * 10 * 16 * 9).astype(int)
        digits = np.repeat(np.indices(counts.shape).reshape(3, -1), counts.ravel(), axis=1)
        reports = castell.Reports(study, list(digits), secure=True)
        for names in (["a", "b", "c"], ["c", "a"], ["b"]):
            told = {name: word for name, word in says.items() if name in names}
            found = castell.estimate(reports, names, "castell").careless(0.2, told)
            gone = tuple(i for i, name in enumerate("abc") if name not in names)
            expected = truth.sum(axis=gone)
            kept = [name for name in "abc" if name in names]
            expected = expected.transpose([kept.index(name) for name in names])
            assert np.allclose(found.probabilities, expected, atol=1e-6)


def test_no_careless_is_the_table_itself_and_more_makes_it_less_sure() -> None:
    joint = castell.estimate(_reports(_crosswise(0.2), 600, 1000), "a", "castell")
    same = joint.careless(0.0)
    assert np.allclose(same.probabilities, joint.probabilities)
    assert np.allclose(same.conf_int(), joint.conf_int())
    half = joint.careless(0.5)
    assert np.allclose(half.standard_errors, 2 * joint.standard_errors)
    assert np.allclose(half.probabilities, 2 * joint.probabilities - 0.5)
    low, high = half.conf_int(0.9)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low <= half.probabilities).all()
    assert (half.probabilities <= high).all()
    assert "0.5 of the respondents answer at random" in half.summary()
    assert half.to_dict()["reasons"][0]["code"] == "careless"


def test_a_part_of_the_table_is_that_of_the_part() -> None:
    schema = [Attribute("a", YES), Attribute("b", ["x", "y", "z"])]
    channels = {
        "a": mechanism("warner", p=0.8),
        "b": [[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.2] * 2 + [0.6]],
    }
    study = Study(schema, channels=channels)
    reports = study.randomize({"a": YES * 300, "b": ["x", "y", "z"] * 200}, seed=1)
    joint = castell.estimate(reports, ["a", "b"], "castell")
    whole = joint.careless(0.1, {"b": "x"}).project("b")
    alone = castell.estimate(reports, "b", "castell").careless(0.1, {"b": "x"})
    assert np.allclose(whole.probabilities, alone.probabilities)
    assert np.allclose(whole.conf_int(), alone.conf_int(), atol=1e-9)


def test_designs_that_draw_and_blocks_of_several_attributes() -> None:
    schema = [Attribute("a", YES), Attribute("b", ["x", "y", "z"])]
    answers = {"a": YES * 300, "b": ["x", "y", "z"] * 200}
    for design in ("joint", "pairs", "singles", "cover"):
        reports = Study(schema, epsilon=3.0, design=design).randomize(answers, seed=1)
        for names in (["b"], ["a", "b"]):
            if design == "singles" and len(names) == 2:
                continue
            joint = castell.estimate(reports, names, "castell")
            cells = joint.probabilities.size
            expected = (joint.probabilities - 0.2 / cells) / 0.8
            assert np.allclose(joint.careless(0.2).probabilities, expected)


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan"), "0.1", None, True])
def test_what_is_no_share_is_refused(share: Any) -> None:
    joint = castell.estimate(_reports(_crosswise(0.2), 6, 10), "a", "castell")
    with pytest.raises(QueryError, match="share of careless answers"):
        joint.careless(share)


def test_what_cannot_be_allowed_for_is_refused() -> None:
    reports = _reports(_crosswise(0.2), 6, 10)
    joint = castell.estimate(reports, "a", "castell")
    with pytest.raises(QueryError, match="no report of 'a'"):
        joint.careless(0.1, {"a": "perhaps"})
    with pytest.raises(QueryError, match="the table has no 'b'"):
        joint.careless(0.1, {"b": "no"})
    with pytest.raises(QueryError, match="post-processed"):
        castell.estimate(reports, "a", "castell", post="simplex").careless(0.1)
    bloom = Study([Attribute("a", YES)], epsilon=2.0, design="bloom")
    filters = castell.estimate(bloom.randomize({"a": YES * 50}, seed=1), "a", "lopub")
    with pytest.raises(QueryError, match="not taken back out by a matrix"):
        filters.careless(0.1)
    both = Study([Attribute("a", YES), Attribute("b", YES)], epsilon=2.0, design="joint")
    table = castell.estimate(both.randomize({"a": YES * 5, "b": YES * 5}, seed=1), "a", "castell")
    with pytest.raises(QueryError, match="not reported by itself"):
        table.careless(0.1, {"a": "no"})


# -- how many ---------------------------------------------------------------------------------


def test_an_anchor_tells_what_the_closed_form_says() -> None:
    """Nobody has it: of reports 'same', (1 - a) 0.8 + a / 2."""
    study = _crosswise(0.2)
    found = castell.careless(_reports(study, 740, 1000), "a", known={"no": 1.0})
    assert found.value == pytest.approx((0.8 - 0.74) / 0.3, abs=1e-6)
    expected = np.sqrt(0.74 * 0.26 / 1000) / 0.3
    assert found.standard_error == pytest.approx(expected, rel=1e-6)
    low, high = found.conf_int()
    assert low < found.value < high
    assert castell.careless(_reports(study, 850, 1000), "a", known={"no": 1.0}).value == 0.0
    always = castell.careless(_reports(study, 740, 1000), "a", known={"no": 1.0}, says="different")
    assert always.value == pytest.approx(0.06 / 0.8, abs=1e-6)


def test_two_groups_tell_those_who_always_say_the_same() -> None:
    p, yes, always, n = 0.2, 0.3, 0.1, 100_000
    shares = [(1 - always) * (yes * q + (1 - yes) * (1 - q)) for q in (p, 1 - p)]
    groups = [
        _reports(_crosswise(q), round(share * n), n)
        for q, share in zip((p, 1 - p), shares, strict=True)
    ]
    found = castell.careless(groups, "a", says="different")
    assert found.value == pytest.approx(always, abs=1e-4)
    assert found.second == pytest.approx(yes, abs=1e-4)
    # The shares of 'same' sum to 1 - a: its error is that of their sum.
    expected = np.sqrt(sum(share * (1 - share) for share in shares) / n)
    assert found.standard_error == pytest.approx(expected, rel=1e-3)
    assert "a = yes among the others: 0.3000" in found.summary()
    json.dumps(found.to_dict(), allow_nan=False)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    generator = np.random.default_rng(5)
    studies = {q: _crosswise(q) for q in (0.2, 0.8)}
    held = {"anchor": 0, "groups": 0}
    repeats, n, share = 100, 800, 0.15
    for _ in range(repeats):
        same = generator.binomial(n, 0.85 * 0.8 + 0.15 * 0.5)
        found = castell.careless(_reports(studies[0.2], same, n), "a", known={"no": 1.0})
        low, high = found.conf_int()
        held["anchor"] += low <= share <= high
        groups = [
            _reports(study, generator.binomial(n, 0.85 * (0.3 * q + 0.7 * (1 - q))), n)
            for q, study in studies.items()
        ]
        low, high = castell.careless(groups, "a", says="different").conf_int()
        held["groups"] += low <= share <= high
    # 95 are expected; fewer than 81 come less than once in a million times.
    assert all(many >= 81 for many in held.values()), held


def test_what_tells_nothing_is_refused() -> None:
    study, other = _crosswise(0.2), _crosswise(0.8)
    one, two = _reports(study, 6, 10), _reports(other, 6, 10)
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: castell.careless(one, "a"), "known answers, or between two groups"),
        (lambda: castell.careless([one, two], "a", known={"no": 1}), "or between two groups"),
        (lambda: castell.careless([one, two, one], "a"), "or between two groups"),
        (lambda: castell.careless([one, two], "a"), "leave no trace"),
        (lambda: castell.careless([one, one], "a", says="same"), "look the same"),
        (lambda: castell.careless(one, "a", known={"no": 0.5}), "sum to 0.5"),
        (lambda: castell.careless(one, "a", known={"no": 0.5, "yes": 0.5}), "look like those"),
        (lambda: castell.careless(one, "a", known=_NO_SHARE), "from 0 to 1"),
        (lambda: castell.careless(one, "a", known={"no": 1.5}), "from 0 to 1"),
        (lambda: castell.careless(one, "a", known={"nein": 1}), "not a value"),
        (lambda: castell.careless(one, "b", known={"no": 1}), "'b'"),
        (lambda: castell.careless(one, "a", known={"no": 1}, says="x"), "no report of 'a'"),
        (lambda: castell.careless(_reports(study, 0, 0), "a", known={"no": 1}), "no reports"),
    ]
    for call, words in calls:
        with pytest.raises(castell.CastellError, match=words):
            call()
    both = Study([Attribute("a", YES), Attribute("b", YES)], epsilon=2.0, design="joint")
    with pytest.raises(QueryError, match="not reported by itself"):
        castell.careless(both.randomize({"a": YES, "b": YES}, seed=1), "a", known={"no": 1})


def test_the_careless_are_taken_to_be_as_many_in_each_public_group() -> None:
    """All reports as expected, of 20 % who say anything: the truth comes out."""
    public = Attribute("g", ["p", "q", "r"], public=True)
    study = Study([public, Attribute("a", ["x", "y"])], 2.0)
    truth = np.array([[30.0, 30.0], [5.0, 25.0], [2.0, 8.0]]) / 100  # groups of 60, 30 and 10 %
    forward = study.design.blocks[1].channel.forward.dense()
    seen = 0.8 * truth @ forward.T + 0.2 * truth.sum(axis=1)[:, None] * np.array([0.5, 0.5])
    n = 2_000_000
    many = np.rint(n * seen).astype(int).ravel()
    codes = np.repeat(np.arange(6), many)
    reports = castell.Reports(study, [codes // 2, codes % 2], secure=True)
    for names in (["g", "a"], ["a", "g"]):
        joint = castell.fit(reports, "castell").estimate(names)
        found = joint.careless(0.2)
        table = found.probabilities if names[0] == "g" else found.probabilities.T
        assert np.abs(table - truth).max() < 1e-5
        assert np.abs(joint.careless(0.2).project(["g"]).probabilities - truth.sum(1)).max() < 1e-5
        assert np.abs(found.project(["a"]).probabilities - truth.sum(0)).max() < 1e-5
        assert (found.standard_errors > joint.standard_errors).all()
    with pytest.raises(QueryError, match="'g' is public"):
        joint.careless(0.2, {"g": "p"})
    with pytest.raises(QueryError, match="of public attributes alone"):
        castell.fit(reports, "castell").estimate("g").careless(0.2)


def test_the_careless_of_a_draw_beside_public_groups() -> None:
    public = Attribute("g", ["p", "q"], public=True)
    asked = [public, Attribute("a", ["x", "y"]), Attribute("b", ["x", "y"])]
    reports = Study(asked, 3.0, "singles").randomize(
        {"g": ["p", "p", "q"] * 500, "a": ["x", "y", "y"] * 500, "b": ["x"] * 1500}
    )
    joint = castell.fit(reports, "castell").estimate(["g", "a"])
    found = joint.careless(0.1)
    shares = joint.probabilities.sum(axis=1)
    expected = (joint.probabilities - 0.1 * np.outer(shares, [0.5, 0.5])) / 0.9
    assert np.abs(found.probabilities - expected).max() < 1e-12
