"""Key-value questions: who has any, and how much; several keys in one question."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, MatrixResponse, Study, fit
from castell.cli.study_file import to_toml
from castell.errors import CastellError, QueryError
from castell.study.declining import answered_codes, number_codes, offers_decline


def nearly_certain(size: int) -> MatrixResponse:
    """As good as no noise: what is then estimated is what was answered."""
    return MatrixResponse([[2**46 if i == k else 1 for k in range(size)] for i in range(size)])


DEBT: dict[str, Any] = {"bins": [0, 100], "rounding": "unbiased", "none": "no debt"}
TEXT = """
name = "use"
epsilon = 5.0

[[attribute]]
name = "debt"
question = "How much debt do you have, in thousands?"
bins = [0, 50, 100]
rounding = "unbiased"
none = "no debt"
missing = "category"

[[attribute]]
name = "hours"
question = "How many hours a day do you use"
keys = ["mail", "chat"]
range = [0, 12]
epsilon = 2.0
missing = "none"
"""


def test_none_is_an_answer_and_no_number() -> None:
    debt = Attribute("debt", **DEBT, also=["prefer not to say"], missing="category")
    assert debt.values == ("0", "100", "no debt", "prefer not to say")
    assert (debt.none_code, debt.missing_code) == (2, 3)
    assert (answered_codes(debt), number_codes(debt)) == ([0, 1, 2], [0, 1])
    assert offers_decline(debt)
    assert not offers_decline(Attribute("debt", **DEBT))
    assert Attribute("debt", **DEBT, missing="skip").values[2:] == ("no debt", "no answer")
    assert Attribute("debt", **DEBT, missing="skip").missing_code == 3
    assert Attribute("debt", **DEBT, missing="none").missing_code == 2
    assert Attribute("kids", range=[1, 3], none="none").values == ("1", "2", "3", "none")


def test_a_study_file_asks_for_several_keys() -> None:
    study = Study.from_toml(TEXT)
    assert study.names == ("debt", "hours: mail", "hours: chat")
    assert study.schema["hours: mail"].values == ("0", "12", "none")
    assert study.schema["hours: mail"].question == "How many hours a day do you use mail?"
    shares = [float(block.channel.exact_epsilon) for block in study.design.blocks]
    assert shares == pytest.approx([3.0, 1.0, 1.0])
    assert Study.from_json(study.to_json()) == study
    written = Study.from_toml(to_toml(study.schema, name="use", epsilon=5.0))
    assert written.schema == study.schema


def test_what_devices_report_of_empty_cells_and_of_none() -> None:
    asked = [Attribute("debt", **DEBT, missing="none")]
    study = Study(asked, channels={"debt": nearly_certain(3)})
    said: dict[str, Any] = {"debt": [0, 100, None, 100.0, float("nan")]}
    assert study.randomize(said).columns[0].tolist() == [0, 1, 2, 1, 2]
    for none in ("", None, float("nan")):
        # A spreadsheet's column of texts and numbers.
        said = {"debt": ["no debt", 0, none, 100.0]}
        assert study.randomize(said).columns[0].tolist() == [2, 0, 2, 1]


def test_without_noise_it_is_the_share_and_the_mean_of_those_who_have_any() -> None:
    chance = np.random.default_rng(3)
    debt = chance.choice(["0", "100", "no debt", "no answer"], 900, p=[0.3, 0.2, 0.4, 0.1])
    sex = chance.choice(["f", "m"], 900)
    attributes = [Attribute("debt", **DEBT, missing="category"), Attribute("sex", ["f", "m"])]
    channels = {"debt": nearly_certain(4), "sex": nearly_certain(2)}
    study = Study(attributes, channels=channels)
    model = fit(study.randomize({"debt": debt, "sex": sex}), "castell")
    for given, group in ((None, debt), ({"sex": "m"}, debt[sex == "m"])):
        some = np.isin(group, ["0", "100"])
        answered = group != "no answer"
        found = model.having("debt", given=given)
        assert found.probabilities[0] == pytest.approx(some.sum() / answered.sum(), abs=1e-8)
        mean = np.mean(group[some].astype(float))
        assert model.mean("debt", given=given).value == pytest.approx(mean, abs=1e-8)
    share = model.having("debt").to_dict()
    assert (share["kind"], share["values"]) == ("having", ["any"])
    assert "any debt of those who answered" in model.having("debt").summary()
    assert "of those who have any" in model.mean("debt").summary()
    assert model.answered("debt").values == ("0", "100", "no debt")


def test_the_share_of_everybody_is_the_plain_one() -> None:
    study = Study([Attribute("debt", **DEBT)], epsilon=2.0)
    debt = ["no debt"] * 600 + ["70"] * 400
    model = fit(study.randomize({"debt": debt}, seed=1), "castell")
    plain = model.probability(debt=["0", "100"])
    assert model.having("debt").probabilities[0] == pytest.approx(plain.value, abs=1e-12)
    assert model.having("debt").standard_errors[0] == pytest.approx(plain.standard_error)


def test_intervals_of_share_and_mean_cover() -> None:
    study = Study.from_toml(TEXT.replace("epsilon = 5.0", "epsilon = 4.0"))
    chance = np.random.default_rng(8)
    held = {"share": 0, "mean": 0}
    for seed in range(200):
        has = chance.random(2000) < 0.4
        debt = np.where(has, chance.uniform(0, 60, 2000), np.nan)
        rest = {name: [None] * 2000 for name in study.names[1:]}
        said = {"debt": [str(d) if d == d else "no debt" for d in debt], **rest}
        model = fit(study.randomize(said, seed=seed), "castell")
        low, high = model.having("debt").conf_int()
        held["share"] += bool(low[0] <= has.mean() <= high[0])
        least, most = model.mean("debt").conf_int()
        held["mean"] += bool(least <= np.nanmean(debt) <= most)
    # Of this very sample; at .95 each, below 165 of 200 by chance once in a hundred million.
    assert min(held.values()) >= 165, held


def test_cells_of_pairs_become_columns() -> None:
    said = [{"chat": 2.5}, "mail=1; chat=3", "", '{"mail": 4}', None, float("nan")]
    columns = castell.key_value_columns("hours", ["mail", "chat"], said)
    assert columns["hours: mail"] == ["none", "1", "none", "4", None, None]
    assert columns["hours: chat"] == ["2.5", "3", "none", "none", None, None]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ({"talk": 1}, "row 1: 'talk' is no key of 'hours'"),
        ("mail=lots", "'mail' goes with 'lots'"),
        ("mail", "'mail' goes with ''"),
        ("mail=1;mail=2", "'mail' is listed twice"),
        ("{mail", "is no JSON"),
        ({"mail": True}, "'mail' goes with True"),
        (3, "lists no pairs"),
    ],
)
def test_cells_that_are_no_pairs_are_told(cell: Any, words: str) -> None:
    with pytest.raises(CastellError, match=words):
        castell.key_value_columns("hours", ["mail", "chat"], [cell])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('keys = ["mail", "chat"]', 'keys = ["mail", "mail"]', "one of them twice"),
        ("range = [0, 12]\n", "", "has keys and no numbers"),
        ("range = [0, 12]", "public = true", "unknown entry 'public'"),
        ('name = "hours"\n', "", "a question has no name"),
        ('bins = [0, 50, 100]\nrounding = "unbiased"', 'values = ["a", "b"]', "are no numbers"),
        ('none = "no debt"\nmissing = "category"', 'missing = "none"', "there is no such answer"),
        ('none = "no debt"', 'none = "50"', "lists the value '50' twice"),
        ('none = "no debt"', "none = true", "none is True"),
        ('none = "no debt"', 'none = " "', "has an empty value"),
        ('none = "no debt"', 'none = ""', "has an empty value"),
        ('none = "no debt"', 'none = "7"', "a number that is not in it"),
    ],
)
def test_mistakes_of_a_study_file_are_told(old: str, new: str, words: str) -> None:
    assert old in TEXT
    with pytest.raises(CastellError, match=words):
        Study.from_toml(TEXT.replace(old, new, 1))


def test_what_has_no_none_is_told() -> None:
    study = Study([Attribute("age", bins=[30, 60]), Attribute("debt", **DEBT)], epsilon=2.0)
    reports = study.randomize({"age": [20, 40], "debt": ["no debt", 3]})
    with pytest.raises(QueryError, match="'age' has no value for those who have none"):
        fit(reports, "castell").having("age")
    with pytest.raises(QueryError, match="'no debt' has no place in the order"):
        castell.regress("age ~ score(debt)", reports)


@pytest.mark.parametrize(
    "changes",
    [{"none": 1}, {"none": True, "also": 0}, {"missing": "none"}, {"missing": "category"}],
)
def test_a_broken_attribute_is_refused(changes: dict[str, Any]) -> None:
    document = Attribute("debt", **DEBT).document()
    if changes == {"missing": "none"}:
        del document["none"]
    with pytest.raises(CastellError):
        Attribute.published(json.loads(json.dumps({**document, **changes})))
