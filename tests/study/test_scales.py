"""Numbers, days and truth values: which values they have, what is published, what is refused."""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from castell import Attribute, Schema, Study
from castell.cli.study_file import to_toml
from castell.errors import QueryError, SchemaError, StudyError
from castell.study.scales import Bins, Points


@pytest.mark.parametrize(
    ("said", "values"),
    [
        (
            {"bins": [18, 30, 45, 60]},
            ("under 18", "18 to 29", "30 to 44", "45 to 59", "60 and over"),
        ),
        ({"bins": [18, 30, 60], "range": [18, 99]}, ("18 to 29", "30 to 59", "60 to 99")),
        ({"bins": [30, 60], "range": [18, 99]}, ("18 to 29", "30 to 59", "60 to 99")),
        ({"bins": [1, 2, 5], "range": [0, 9]}, ("0", "1", "2 to 4", "5 to 9")),
        ({"bins": [0.5, 2]}, ("under 0.5", "0.5 to under 2", "2 and over")),
        ({"bins": [10], "type": "number", "range": [0, 20]}, ("0 to under 10", "10 to 20")),
        ({"bins": [0, 10, 50], "rounding": "unbiased"}, ("0", "10", "50")),
        ({"bins": [10], "range": [0, 50], "rounding": "unbiased"}, ("0", "10", "50")),
        ({"range": [-1, 2]}, ("-1", "0", "1", "2")),
        ({"range": [0, 2], "type": "integer", "also": ["?"]}, ("0", "1", "2", "?")),
        ({"type": "boolean"}, ("false", "true")),
        ({"values": [True, False], "type": "boolean"}, ("true", "false")),
        ({"bins": [18], "values": ["minor", "adult"]}, ("minor", "adult")),
        ({"period": "year", "range": ["2020", "2022"]}, ("2020", "2021", "2022")),
        (
            {"period": "quarter", "range": ["2023-11", "2024-04-30"], "type": "date"},
            ("2023-Q4", "2024-Q1", "2024-Q2"),
        ),
        ({"period": "day", "range": ["2024-02-28", "2024-03-01"]}, None),
        ({"values": ["a", "b"], "missing": "category"}, ("a", "b", "no answer")),
        ({"values": ["a", "b"], "also": ["x"], "missing": "category"}, ("a", "b", "x")),
    ],
)
def test_values_of_what_was_written(said: dict[str, Any], values: tuple[str, ...] | None) -> None:
    attribute = Attribute("a", **said)
    assert attribute.values == (values or ("2024-02-28", "2024-02-29", "2024-03-01"))
    # Published, read again, and written as a file, it is the same.
    study = Study(Schema([attribute]), epsilon=1.0)
    assert Study.from_json(study.to_json()).schema[attribute.name] == attribute
    again = Study.from_toml(to_toml(study.schema, name="study", epsilon=1.0))
    assert again.digest == study.digest


def test_a_plain_attribute_is_published_as_ever() -> None:
    document = Attribute("sex", ["f", "m"]).document()
    assert document == {"name": "sex", "question": "", "values": ["f", "m"]}


def test_a_study_file_says_it_in_toml() -> None:
    study = Study.from_toml(
        """
epsilon = 2.0
[[attribute]]
name = "age"
bins = [18, 30, 45.5]
unit = "years"
also = ["prefer not to say"]
[[attribute]]
name = "retired"
values = [false, true]
[[attribute]]
name = "since"
period = "month"
range = [2024-01-01, 2024-03-31]
[[attribute]]
name = "health"
values = ["poor", "good"]
ordered = true
missing = "category"
"""
    )
    age, retired, since, health = study.schema
    assert age.scale == Bins((None, "18", "30", "45.5", None), False, "years")
    assert (age.ordered, age.beside, retired.ordered) == (True, 1, False)
    assert retired.values == ("false", "true")
    assert since.values == ("2024-01", "2024-02", "2024-03")
    assert health.answers == ("poor", "good")
    assert (health.values[-1], health.missing) == ("no answer", "category")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"bins": []}, "the bins are 0"),
        ({"bins": [30, 18]}, "do not ascend"),
        ({"bins": [18, 18]}, "do not ascend"),
        ({"bins": "18"}, "give a list of numbers"),
        ({"bins": ["x"]}, "is no number"),
        ({"bins": [float("nan")]}, "is no number"),
        ({"bins": [True]}, "is no number"),
        ({"bins": [18], "range": [20, 99]}, "outside the range"),
        ({"bins": [18], "range": [99]}, "at least 2"),
        ({"bins": [18], "range": [0, 50, 99]}, "3 ends"),
        ({"bins": [0, 99], "range": [0, 99]}, "1 value"),
        ({"bins": [18.5], "type": "integer"}, "have a fraction"),
        ({"bins": [18], "type": "float"}, "type is 'float'"),
        ({"bins": [18], "rounding": "up"}, "rounding is 'up'"),
        ({"bins": [18], "rounding": "unbiased"}, "give at least 2"),
        ({"bins": [-5, 10], "range": [0, 50], "rounding": "unbiased"}, "outside the range"),
        ({"bins": [18], "unit": 3}, "unit is 3"),
        ({"values": ["a", "b"], "unit": "kg"}, "without bins"),
        ({"values": ["a", "b"], "rounding": "unbiased"}, "without bins"),
        ({"bins": [18, 30], "values": ["young", "old"]}, "2 values for 3 bins"),
        ({"bins": [18, 30], "values": ["1", "2", "3"]}, "calls a bin '2'"),
        ({"bins": [0, 1], "rounding": "unbiased", "values": ["1", "0"]}, "calls a bin '1'"),
        ({"range": [0, 1.5]}, "has a fraction"),
        ({"range": [0, 10**6]}, "cut it"),
        ({"range": 5}, "the range is 5"),
        ({"values": ["a", "b"], "range": [0, 3]}, "values and a range"),
        ({"type": "integer"}, "has no values"),
        ({"type": "number", "range": [0, 3]}, "add bins"),
        ({"type": "boolean", "bins": [1]}, "truth values"),
        ({"type": "boolean", "values": ["no", "yes"]}, "truth values"),
        ({"type": "date"}, "has no period"),
        ({"period": "month"}, "needs a range"),
        ({"period": "month", "range": ["2024-01", "2024-13"]}, "the first and the last day"),
        ({"period": "month", "range": ["2024-02", "2024-01"]}, "the first and the last day"),
        ({"period": "week", "range": ["2024-01", "2024-02"]}, "the period is 'week'"),
        ({"period": "month", "range": ["2024-01", "2024-02"], "bins": [3]}, "period beside bins"),
        ({"period": "month", "range": ["2024-01", "2024-02"], "values": ["a", "b"]}, "a period"),
        ({"values": ["a", "b"], "missing": "drop"}, "missing is 'drop'"),
        ({"values": ["a"], "also": ["b"]}, "1 value"),
        ({"values": ["a", "b"], "also": ["b"]}, "'b' twice"),
        ({"values": ["a", "b"], "also": "xy"}, "one text"),
    ],
)
def test_what_does_not_go_together_is_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Attribute("a", **said)


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=6, unique=True).map(sorted),
    st.booleans(),
    st.lists(st.integers(-60, 60), min_size=1, max_size=20),
)
def test_a_number_is_in_the_bin_that_its_label_says(
    cuts: list[int], is_open: bool, numbers: list[int]
) -> None:
    bins = Bins.cut(cuts, None if is_open else (-51, 51))
    codes = bins.codes(np.array(numbers, dtype=float))
    for number, code in zip(numbers, codes.tolist(), strict=True):
        if not is_open and abs(number) > 51:
            assert code == -1
            continue
        # By the definition: as many cuts as are not above it.
        edges = [int(edge) for edge in bins.edges[1:-1] if edge is not None]
        assert code == sum(edge <= number for edge in edges)
        assert bins.lower[code] <= number <= bins.upper[code]
        label = bins.labels[code]
        if " to " in label:
            low, high = label.split(" to ")
            assert int(low) <= number <= int(high)


def test_rounding_keeps_means_for_every_number() -> None:
    scale = Points(("-1", "0", "2.5", "100"))
    chances = (np.arange(20_000) + 0.5) / 20_000  # every chance alike
    for number in (-1.0, -0.3, 0.0, 1.0, 2.5, 40.0, 99.5, 100.0):
        codes = scale.codes(np.full(len(chances), number), chances)
        assert scale.limits[codes].mean() == pytest.approx(number, abs=0.005)
        assert set(np.diff(np.unique(codes))) <= {1}
    outside = scale.codes(np.array([-1.1, 100.1, np.nan, np.inf]), np.zeros(4))
    assert outside.tolist() == [-1, -1, -1, -1]


def test_questions_may_name_a_number_a_day_or_a_truth() -> None:
    age = Attribute("age", bins=[18, 30])
    assert [age.code(value) for value in (17, "18", 29.0, "30 and over", 99)] == [0, 1, 1, 2, 2]
    with pytest.raises(QueryError, match="is not a value"):
        age.code(20.5)
    month = Attribute("m", period="month", range=["2024-01", "2024-12"])
    assert month.code("2024-03-31") == month.code(datetime.date(2024, 3, 1)) == 2
    truth = Attribute("t", type="boolean")
    assert [truth.code(value) for value in (True, "True", "TRUE", 1, 0.0, "false")] == [
        *(1, 1, 1, 1),
        *(0, 0),
    ]
    with pytest.raises(QueryError, match="is not a value"):
        Attribute("p", bins=[0, 10], rounding="unbiased").code(5)


@pytest.mark.parametrize(
    "change",
    [
        {"scale": {"bins": [None, "18", "31", None], "whole": True}},
        {"also": 1},
        {"missing": "category", "also": 1},
    ],
)
def test_a_correction_of_words_leaves_the_scale(change: dict[str, Any]) -> None:
    study = Study([Attribute("age", bins=[18, 30])], epsilon=1.0)
    document = json.loads(study.to_json())
    document["attributes"][0] |= {"question": "How old?", **change}
    if "also" in change:
        document["attributes"][0].pop("scale")
    other = Study(Schema([Attribute.published(document["attributes"][0])]), epsilon=1.0)
    with pytest.raises(StudyError, match="more than words"):
        study.corrected(other, "2026-11-17")
    fair = Study([Attribute("age", bins=[18, 30], question="How old?")], epsilon=1.0)
    assert study.corrected(fair, "2026-11-17").schema["age"].scale == study.schema["age"].scale
