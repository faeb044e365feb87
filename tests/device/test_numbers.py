"""Numbers, days and missing answers of frames and single people become codes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from castell import Attribute, MatrixResponse, Schema, Study, tabulate
from castell.device.encode import encode
from castell.device.random_words import seeded_words
from castell.device.report import make_report
from castell.errors import AnswerError, QueryError

AGE = Attribute("a", bins=[18, 30, 45], range=[0, 120])
PAY = Attribute("a", bins=[0.5, 10])
WEALTH = Attribute("a", bins=[1000, 1_000_000], type="number")
MONTH = Attribute("a", period="month", range=["2024-01", "2024-12"])
TRUTH = Attribute("a", type="boolean")
TWELFTHS = Attribute("a", ["1.0", "2.50", "True"])
KINDS: list[Callable[[dict[str, Any]], Any]] = [dict, pd.DataFrame, pl.DataFrame, pa.table]


def codes(attribute: Attribute, frame: Any) -> list[int]:
    return [int(code) for code in encode(Schema([attribute]), frame)["a"]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("attribute", "column", "expected"),
    [
        (AGE, [17, 18, 29, 30, 44, 45, 120, 0], [0, 1, 1, 2, 2, 3, 3, 0]),
        (AGE, [17.0, 18.0], [0, 1]),
        (AGE, ["17", "18.0", "30 to 44", "1e1"], [0, 1, 2, 0]),
        (WEALTH, ["999,5", "1.234,50", "2 500,00", "1,234,567"], [0, 1, 1, 2]),
        (PAY, [0.4, 0.5, 9.99, 10.0, -3.0], [0, 1, 1, 2, 0]),
        (PAY, ["0,4", "0.5", "10"], [0, 1, 2]),
        (PAY, np.array([0.4, 0.5], dtype=np.float32), [0, 1]),
        (MONTH, ["2024-03-31", "2024-03", "2024-12-01 10:00:00"], [2, 2, 11]),
        (MONTH, [datetime.date(2024, 2, 29)], [1]),
        (MONTH, [datetime.datetime(2024, 2, 29, 12, 30)], [1]),
        (TRUTH, [True, False], [1, 0]),
        (TRUTH, ["True", "FALSE", "true", "0"], [1, 0, 1, 0]),
        (TRUTH, [1, 0, 1], [1, 0, 1]),
        (TRUTH, [1.0, 0.0], [1, 0]),
        (TWELFTHS, [1.0, 2.5], [0, 1]),
        (TWELFTHS, ["1", "2.5", "true"], [0, 1, 2]),
    ],
)
def test_one_value_however_it_is_written(
    kind: Callable[[dict[str, Any]], Any], attribute: Attribute, column: Any, expected: list[int]
) -> None:
    assert codes(attribute, kind({"a": column})) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([17, 121], "row 2, column 'a': '121' is not a value.*whole number from 0 to 120"),
        ([17, -1], "row 2, column 'a': '-1' is not a value"),
        ([17.0, 18.5], r"row 2, column 'a': '18\.5' is not a value"),
        (["17", "12,345"], "row 2, column 'a': '12,345'"),
        ([17.0, None], "row 2, column 'a': the answer is missing"),
        (["17", "old"], "row 2, column 'a': 'old' is not a value"),
    ],
)
def test_numbers_without_a_bin_are_refused(
    kind: Callable[[dict[str, Any]], Any], column: list[Any], message: str
) -> None:
    with pytest.raises(AnswerError, match=message):
        codes(AGE, kind({"a": column}))


def test_a_point_that_may_part_thousands_is_refused_beside_points_that_do() -> None:
    assert codes(WEALTH, {"a": ["2.500", "2.5"]}) == [0, 0]
    with pytest.raises(AnswerError, match=r"2\.500"):
        codes(WEALTH, {"a": ["1.234,50", "2.500"]})


def test_open_bins_take_any_number() -> None:
    wide = Attribute("a", bins=[0])
    assert codes(wide, {"a": [-(10.0**9), 10.0**9]}) == [0, 1]
    for endless in (float("inf"), float("-inf")):
        with pytest.raises(AnswerError):
            codes(wide, {"a": [endless]})


@pytest.mark.parametrize(
    "column",
    [
        [1, None],
        [1.0, float("nan")],
        ["1", ""],
        ["1", " "],
        ["1", None],
        ["1", float("nan")],  # as pandas writes a missing text into a list
        pd.Series([1, None]),
        pd.Series(["1", np.nan], dtype=object),
        pl.Series([1, None]),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "said", [{"bins": [5]}, {"values": [1, 2]}, {"bins": [0, 5], "rounding": "unbiased"}]
)
def test_missing_answers_are_a_value_where_the_study_says_so(
    column: Any, said: dict[str, Any]
) -> None:
    taken = Attribute("a", **said, also=["declined", "?"], missing="category")
    found = codes(taken, {"a": column})
    assert taken.values[found[1]] == "declined"
    assert found[0] < 2
    with pytest.raises(AnswerError, match=r"row 2, column 'a': the answer is missing.*category"):
        codes(Attribute("a", **said, also=["declined"]), {"a": column})


def test_every_bad_answer_is_counted_and_some_are_shown() -> None:
    schema = Schema([Attribute("sex", ["f", "m"]), AGE])
    frame = {
        "sex": ["f", "w", None, "m", "w", "w", "w", "x", "y", "z"],
        "a": [1, 2, 3, 4, 5, 6, 7, 8, 999, 10],
    }
    with pytest.raises(AnswerError) as error:
        encode(schema, frame)
    told = str(error.value)
    assert told.startswith("9 answers are none of the study's")
    assert "'sex' has 8 ('w' in rows 2, 5, 6, ..., missing in row 3, 'x' in row 8" in told
    assert "2 other texts" in told
    assert "'a' has 1 ('999' in row 9)" in told
    assert "The first is row 2, column 'sex': 'w' is not a value" in told
    assert "\n" not in told


def test_very_many_bad_answers_are_counted_all_the_same() -> None:
    with pytest.raises(AnswerError, match=r"^5,001 answers .*'a' has 5,001 \('x' in rows 2, 3, 4"):
        codes(TRUTH, {"a": ["true", *["x"] * 5_001]})


def test_a_frame_is_rounded_without_bias_and_repeatably() -> None:
    points = Attribute("a", bins=[0, 10, 100], rounding="unbiased")
    schema = Schema([points])
    generator = np.random.default_rng(3)
    numbers = generator.uniform(0, 100, 40_000)
    found = encode(schema, {"a": numbers}, words=seeded_words(1))["a"]
    rounded = np.array([0.0, 10.0, 100.0])[found]
    low = np.where(numbers < 10, 0.0, 10.0)
    high = np.where(numbers < 10, 10.0, 100.0)
    variance = ((numbers - low) * (high - numbers)).sum()
    assert abs((rounded - numbers).sum()) < 5.2 * variance**0.5
    again = encode(schema, {"a": numbers.astype(str)}, words=seeded_words(1))["a"]
    np.testing.assert_array_equal(found, again)
    other = encode(schema, {"a": numbers}, words=seeded_words(2))["a"]
    assert (found != other).any()
    # What is a point is not moved, whatever the words.
    assert codes(points, {"a": [0, 10, 100, 10.0]}) == [0, 1, 2, 1]
    assert tabulate(schema, {"a": [0, 0, 100, 10]}, "a").tolist() == [0.5, 0.25, 0.25]


def test_a_person_is_rounded_once_for_a_device() -> None:
    points = Attribute("pay", bins=[0, 100], rounding="unbiased")
    sure = MatrixResponse([[2**30, 1], [1, 2**30]])
    study = Study([points], channels={"pay": sure})
    keys = [bytes([k, *range(31)]) for k in range(200)]
    first = [make_report(study, {"pay": "30"}, key).codes for key in keys]
    assert first == [make_report(study, {"pay": 30}, key).codes for key in keys]
    assert abs(sum(codes[0] for codes in first) - 60) < 5.2 * (200 * 0.3 * 0.7) ** 0.5
    with pytest.raises(QueryError, match="is not a value"):
        make_report(study, {"pay": 101}, keys[0])
