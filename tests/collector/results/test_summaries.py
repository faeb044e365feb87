"""Means, quantiles and missing answers beside a table: the library's numbers, as described."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from castell import Attribute, CastellError, Study, fit
from castell.collector.openapi import openapi
from castell.collector.results.question import Question
from castell.collector.results.summaries import QUANTILES, summaries, summaries_left_out
from castell.collector.settings import State
from tests.collector.results.people import TEXT, people
from tests.collector.results.stores import ask, fill_store, query, spread, state_of

STUDY = Study.from_toml(TEXT)
REPORTS = STUDY.randomize(people(3000), seed=2)
MODEL = fit(REPORTS.sorted(), "castell")
SOUTH = {"region": ("south",)}


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    store = fill_store(tmp_path / "s.sqlite", REPORTS, spread(len(REPORTS), 2))
    yield state_of(store)
    store.close()


def _estimate(state: State, *names: str, **more: str) -> Any:
    (answer,) = ask(state, f"/results/api/estimate?{query(names, method='castell', **more)}")
    assert answer.status_code == 200, answer.text
    _check_described(answer.json())
    return answer.json()


def _check_described(answer: Any) -> None:
    """The description of the API says what this answer is."""
    document = openapi(STUDY, invited=False, most=10)
    operation = document["paths"]["/results/api/estimate"]["get"]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    whole = {**schema, "components": document["components"]}
    assert list(Draft202012Validator(whole).iter_errors(answer)) == []


def _known(found: Any, level: float = 0.95) -> Any:
    return json.loads(json.dumps(found.to_dict(level)))


def test_a_table_of_numbers_has_the_librarys_mean_and_quartiles(state: State) -> None:
    (told,) = _estimate(state, "age", level="0.9")["summaries"]
    assert told["mean"] == _known(MODEL.mean("age"), 0.9)
    assert told["quantiles"] == [_known(MODEL.quantile("age", q), 0.9) for q in QUANTILES]
    assert told["unit"] == "years"
    assert told["no_mean"] is None


def test_those_who_did_not_answer_stand_apart(state: State) -> None:
    (told,) = _estimate(state, "age")["summaries"]
    share = MODEL.probability(age="no answer")
    assert told["answered"] == _known(MODEL.answered("age"))
    assert told["answered"]["values"] == list(STUDY.schema["age"].answers)
    assert sum(told["answered"]["probabilities"]) == pytest.approx(1.0)
    assert list(told["no_answer"].values()) == pytest.approx(
        [share.value, share.standard_error, *share.conf_int()]
    )


def test_a_filter_holds_for_all_numbers(state: State) -> None:
    (told,) = _estimate(state, "age", given="region=south")["summaries"]
    assert told["given"] == {"region": ["south"]}
    assert told["mean"] == _known(MODEL.mean("age", given=SOUTH))
    assert told["quantiles"][1] == _known(MODEL.quantile("age", given=SOUTH))
    assert told["answered"] == _known(MODEL.answered("age", given=SOUTH))
    silent = MODEL.conditional({"age": "no answer"}, given=SOUTH)
    low, high = silent.conf_int()
    known = [silent.probabilities[0], silent.standard_errors[0], low[0], high[0]]
    assert list(told["no_answer"].values()) == pytest.approx([float(x) for x in known])


def test_within_an_attribute_each_value_has_its_own(state: State) -> None:
    told = _estimate(state, "age", "region", within="region")["summaries"]
    assert [each["given"] for each in told] == [{"region": ["north"]}, {"region": ["south"]}]
    assert told[1]["mean"] == _known(MODEL.mean("age", given=SOUTH))
    # Of a merged group too.
    question = Question(
        ("age", "health"), "castell", merged=(("health", ("poor", "fair")),), within="health"
    )
    both = summaries(MODEL, question)
    assert [dict(each.given) for each in both] == [
        {"health": ("poor", "fair")},
        {"health": ("good",)},
    ]


def test_of_a_key_value_question_it_says_who_has_any() -> None:
    debt = Attribute("debt", bins=[0, 100], rounding="unbiased", none="none", missing="category")
    study = Study([debt, Attribute("sex", ["f", "m"])], epsilon=8.0)
    said = {"debt": [None, "none", "none", "30", "70"] * 200, "sex": ["f", "m"] * 500}
    model = fit(study.randomize(said, seed=1), "castell")
    for question in (Question(("debt",)), Question(("debt", "sex"), within="sex")):
        for each in summaries(model, question):
            told, among = each.to_dict(0.9), dict(each.given) or None
            having = model.having("debt", given=among)
            low, high = having.conf_int(0.9)
            known = [having.probabilities[0], having.standard_errors[0], low[0], high[0]]
            assert list(told["having"].values()) == pytest.approx([float(x) for x in known])
            assert told["mean"] == _known(model.mean("debt", given=among), 0.9)
            assert told["answered"]["values"] == ["0", "100", "none"]
    assert summaries(model, Question(("sex",))) == ()


def test_what_an_attribute_does_not_have_is_left_out(state: State) -> None:
    (income,) = _estimate(state, "income")["summaries"]
    assert income["mean"] is None
    assert "has no end, so there is no mean" in income["no_mean"]
    assert income["quantiles"][1]["label"] in STUDY.schema["income"].values
    assert (income["answered"], income["no_answer"], income["having"]) == (None, None, None)
    (health,) = _estimate(state, "health")["summaries"]
    assert (health["mean"], health["no_mean"]) == (None, None)
    assert health["quantiles"][1]["value"] in STUDY.schema["health"].values
    (children,) = _estimate(state, "children")["summaries"]
    assert children["mean"]["bounds"] == [children["mean"]["mean"]] * 2
    assert _estimate(state, "region")["summaries"] == []
    assert _estimate(state, "age", "region")["summaries"] == []


def test_of_many_groups_the_largest_are_shown_and_it_is_said() -> None:
    asked = [Attribute("steps", range=[0, 19]), Attribute("town", [f"t{k}" for k in range(9)])]
    # Most are of t6, and of the others most of t0.
    towns = ["t6" if k % 3 else f"t{max(0, k % 30 - 21)}" for k in range(900)]
    said = {"steps": [k % 20 for k in range(900)], "town": towns}
    model = fit(Study(asked, 40.0).randomize(said, seed=1), "castell")
    question = Question(("steps", "town"), "castell", within="town")
    shown = summaries(model, question)
    told = [each.given["town"][0] for each in shown]
    assert len(told) == 100 // 20
    assert told == sorted(told)
    assert {"t6", "t0"} <= set(told)
    left = summaries_left_out(model, question)
    assert left.startswith("Of 9 groups these are the 5 largest: choose one of the others")
    assert summaries_left_out(model, Question(("steps",), "castell")) == ""
    assert summaries_left_out(model, Question(("town",), "castell")) == ""


def test_so_many_values_that_a_page_would_wait_have_none_and_it_is_said() -> None:
    study = Study([Attribute("steps", range=[0, 100])], 4.0)
    model = fit(study.randomize({"steps": [5, 9, 90] * 50}, seed=1), "castell")
    assert summaries(model, Question(("steps",), "castell")) == ()
    left = summaries_left_out(model, Question(("steps",), "castell"))
    assert left.startswith("\N{LEFT DOUBLE QUOTATION MARK}steps")
    assert "has 101 values, too many" in left
    assert "castell estimate --mean" in left


def test_files_hold_the_same_numbers_and_the_script_finds_them_again(
    state: State, tmp_path: Path
) -> None:
    asked = query(["age"], method="castell", given="region=south")
    (told, code) = (
        ask(state, f"/results/api/download?{asked}&format={kind}")[0] for kind in ("json", "script")
    )
    assert told.json()["summaries"] == _estimate(state, "age", given="region=south")["summaries"]
    REPORTS.save(tmp_path / "reports.parquet")
    (tmp_path / "age.py").write_bytes(code.content)
    done = subprocess.run(
        [sys.executable, "age.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for found in (
        MODEL.mean("age", given=SOUTH),
        MODEL.quantile("age", 0.75, given=SOUTH),
        MODEL.answered("age", given=SOUTH),
        MODEL.conditional({"age": "no answer"}, given=SOUTH),
    ):
        assert found.summary(0.95) in done.stdout


def test_bounds_among_some_hold_the_truth_and_are_those_of_that_group_alone() -> None:
    answers = people(20_000, seed=9)
    reports = STUDY.randomize(answers, seed=3)
    found = fit(reports, "castell").answered("age", given=SOUTH)
    assert found.title == "age of those who answered given region = south"
    south = [a for a, r in zip(answers["age"], answers["region"], strict=True) if r == "south"]
    first = STUDY.schema["age"].values[0]
    young = sum(a is not None and int(str(a)) < 30 for a in south) / len(south)
    silent = sum(a is None for a in south) / len(south)
    low, high = found.bounds(1 - 1e-7)
    assert found.values[0] == first
    assert low[0] <= young <= young + silent <= high[0]
    assert high[0] - low[0] < silent + 0.1
    with pytest.raises(CastellError, match="asked for and given"):
        fit(reports, "castell").answered("age", given={"age": first})
