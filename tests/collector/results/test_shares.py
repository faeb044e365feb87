"""Groups of values, filters and percentages: the library's numbers, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from castell import Attribute, CastellError, Schema, Study, fit
from castell.collector.results.answer import in_one_sentence
from castell.collector.results.question import Question, parse
from castell.collector.results.shares import groups_of, share_table
from castell.collector.settings import State
from castell.inference.goodness_of_fit import Verdict
from castell.results.trust import Signal
from tests.collector.results.stores import (
    STUDY,
    ask,
    fill_store,
    query,
    reports_of,
    spread,
    state_of,
)

MODEL = fit(reports_of(3000).sorted(), "castell")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    store = fill_store(tmp_path / "s.sqlite", reports_of(3000), spread(3000, 3))
    yield state_of(store)
    store.close()


def _estimate(state: State, *parameters: str) -> Any:
    asked = "&".join(["method=castell", *parameters])
    (answer,) = ask(state, f"/results/api/estimate?{asked}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_merged_values_are_one_share_with_its_own_interval(state: State) -> None:
    told = _estimate(
        state, "attributes=smokes,health", "merge=health%3Dpoor", "merge=health%3Dfair"
    )
    assert told["values"][1] == ["poor or fair", "good", "excellent"]
    share = MODEL.probability(smokes="never", health=["poor", "fair"])
    known = [share.value, share.standard_error, *share.conf_int(0.95)]
    assert told["cells"][0][:2] == ["never", "poor or fair"]
    assert told["cells"][0][2:] == pytest.approx(known)
    assert told["merged"] == {"health": ["poor", "fair"]}
    assert len(told["cells"]) == 9


def test_a_filter_gives_conditional_shares(state: State) -> None:
    told = _estimate(state, "attributes=health", "given=smokes%3Dnow", "given=smokes%3Dbefore")
    known = MODEL.conditional("health", given={"smokes": ["before", "now"]})
    low, high = known.conf_int(0.95)
    assert [cell[1] for cell in told["cells"]] == pytest.approx(known.probabilities.tolist())
    assert [cell[3:] for cell in told["cells"]] == [
        pytest.approx(list(ends)) for ends in zip(low, high, strict=True)
    ]
    assert told["attributes"] == ["health"]
    assert told["given"] == {"smokes": ["before", "now"]}
    assert told["notes"] == list(known.notes)
    # What the answer costs a respondent, and its signals, are those of all attributes in it.
    assert told["epsilon_of_these"] == pytest.approx(STUDY.design.spent_on(["health", "smokes"]))


@pytest.mark.parametrize("within", ["smokes", "health"])
def test_percentages_of_rows_and_columns_are_conditional_shares(state: State, within: str) -> None:
    told = _estimate(state, "attributes=smokes,health", f"within={within}", "given=age%3D60%2B")
    place = told["attributes"].index(within)
    other = told["attributes"][1 - place]
    whole = 0
    for value in told["values"][place]:
        part = [cell[2] for cell in told["cells"] if cell[place] == value]
        known = MODEL.conditional(other, given={within: value, "age": "60+"})
        assert part == pytest.approx(known.probabilities.tolist())
        # Shares are cut at 0 and 1; where none was, they add up.
        if all(0.0 < share < 1.0 for share in part):
            assert sum(part) == pytest.approx(1.0)
            whole += 1
    assert whole > 0


def test_that_shares_need_not_add_up_is_said_of_parts_only(state: State) -> None:
    for part in ("within=smokes", "given=age=60%2B", "merge=health=poor&merge=health=fair"):
        told = _estimate(state, "attributes=smokes,health", part)
        assert "need not add up to 100%" in told["sums"]
    assert "sums" not in _estimate(state, "attributes=smokes,health")


def test_an_axis_says_whose_shares_it_shows(state: State) -> None:
    for part, whom in (
        ("within=smokes", "share of those who gave the same answer to \u201cDo you smoke?\u201d"),
        ("given=age=60%2B", "share of those who are in the filter"),
        ("chart=bars", "share of respondents"),
    ):
        told = _estimate(state, "attributes=smokes,health", part)
        assert whom in _words(told["pictures"][0]["spec"])


def _words(spec: dict[str, Any]) -> str:
    records = [record for layer in spec["layer"] for record in layer["data"]["values"]]
    return " ".join(record["line"] for record in records if "line" in record)


def test_a_chart_of_a_part_is_no_mosaic(state: State) -> None:
    told = _estimate(state, "attributes=smokes,health", "within=smokes")
    assert (told["pictures"][0]["kind"], told["charts"]) == ("heat", ["heat", "bars"])
    (refused,) = ask(
        state, "/results/api/estimate?attributes=smokes,health&within=smokes&chart=mosaic"
    )
    assert refused.status_code == 400
    assert refused.json()["remedy"] == "take heat or bars"


@pytest.mark.parametrize("kind", ["csv", "json", "script", "notebook"])
def test_a_part_can_be_taken_away(state: State, kind: str) -> None:
    asked = query(["health"], given="smokes=now", method="castell", format=kind)
    (answer,) = ask(state, f"/results/api/download?{asked}")
    assert answer.status_code == 200
    assert 'filename="health.' in answer.headers["content-disposition"]
    if kind == "json":
        assert answer.json()["given"] == {"smokes": ["now"]}
        assert len(answer.json()["probabilities"]) == 4
    if kind == "csv":
        assert answer.text.splitlines()[0].startswith('"health","probability"')


def test_a_group_that_may_be_empty_is_not_known() -> None:
    schema = Schema([Attribute("a", ["x", "y"]), Attribute("b", ["u", "v", "w"])])
    study = Study(schema, epsilon=8.0)
    answers = {"a": ["x", "y"] * 200, "b": ["u", "v"] * 200}
    model = fit(study.randomize(answers, seed=3), "castell")
    question = Question(("a", "b"), "castell", given=(("b", ("w",)),))
    table = share_table(model, question)
    low, high = table.numbers[2:]
    assert (low.min(), high.max()) == (0.0, 1.0)
    # In files what is not known is empty.
    assert all(x is None or 0.0 <= x <= 1.0 for x in table.columns()["probability"])


def test_groups_keep_the_order_of_values() -> None:
    assert groups_of(("a", "b", "c", "d"), ("d", "b")) == (("a",), ("b", "d"), ("c",))
    assert groups_of(("a", "b"), ()) == (("a",), ("b",))


def test_names_and_values_may_hold_the_sign_between_them() -> None:
    schema = Schema([Attribute("a", ["b=c", "d"]), Attribute("a=b", ["c=d", "e"])])
    study = Study(schema, epsilon=2.0)
    assert parse(study, {"attributes": ["a=b"], "given": ["a=b=c"]}).given == (("a", ("b=c",)),)
    assert parse(study, {"attributes": ["a"], "given": ["a=b=e"]}).given == (("a=b", ("e",)),)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"given": ["smokes"]}, "'smokes' names no attribute"),
        ({"given": ["smokes=often"]}, "'smokes' has no value 'often'"),
        ({"given": ["health=poor"]}, "asked for twice"),
        ({"merge": ["smokes=now", "smokes=never"]}, "'smokes' are merged, which is not shown"),
        ({"merge": ["health=poor"]}, "1 of the 4 values of 'health' are merged"),
        ({"merge": [f"health={v}" for v in STUDY.schema["health"].values]}, "4 of the 4 values"),
        ({"within": ["health"]}, "shares cannot be within 'health'"),
        ({"within": ["smokes"]}, "shares cannot be within 'smokes'"),
        ({"given": ["smokes=now"], "post": ["clip"]}, "not post-processed"),
        (
            {"attributes": list(STUDY.names), "within": ["health"]},
            "the limit is 1,000",
        ),
    ],
)
def test_what_is_no_part_of_the_table_is_refused(asked: dict[str, list[str]], problem: str) -> None:
    with pytest.raises(CastellError) as refused:
        parse(STUDY, {"attributes": ["health"], **asked})
    assert problem in refused.value.problem
    assert refused.value.remedy


def _signal(state: Literal["fine", "look", "unknown"]) -> Signal:
    return Signal("key", f"The {state} one", state, "1", "text", "method")


def test_one_sentence_says_what_all_signals_say() -> None:
    fine, look, unknown = _signal("fine"), _signal("look"), _signal("unknown")
    fits = Verdict.FITS
    assert in_one_sentence(fits, (fine, fine)).endswith("all 2 signals are fine.")
    assert "1 of 2 signals asks for a look (the look one)" in in_one_sentence(fits, (fine, look))
    assert "1 of 2 signals cannot be told" in in_one_sentence(fits, (fine, unknown))
    assert in_one_sentence(Verdict.DOUBTFUL, (look,)).startswith("Do not rely on this table")
