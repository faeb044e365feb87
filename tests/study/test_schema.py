"""What can be asked, and what is refused before anybody is asked."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from castell import Attribute, CastellError, Schema
from castell.errors import QueryError, SchemaError
from castell.study.schema import suggest

SEX = Attribute("sex", ["Female", "Male"])
AGE = Attribute("age", [20, 30.0, 45.5], "How old are you?")


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (["b", "a"], ("b", "a")),
        ([1, 2, 30], ("1", "2", "30")),
        ([1.0, 2.5], ("1", "2.5")),
        ([True, False], ("true", "false")),
        (["01", "1", "NA"], ("01", "1", "NA")),
        ((str(i) for i in range(3)), ("0", "1", "2")),
        (np.array([3, 4]), ("3", "4")),
        # As they come out of a frame, and as TOML floats are read.
        (np.array([True, False]), ("true", "false")),
        (pd.Series([False, True]).unique(), ("false", "true")),
        (np.array([1.0, 2.5], dtype=np.float32), ("1", "2.5")),
        ([Decimal("1.0"), Decimal("2.5")], ("1", "2.5")),
    ],
)
def test_values_are_the_texts_a_frame_would_show(given: Any, texts: tuple[str, ...]) -> None:
    attribute = Attribute("a", given)
    assert attribute.values == texts
    assert attribute.size == len(texts)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Attribute("", ["x", "y"]), "not a name"),
        (lambda: Attribute("  ", ["x", "y"]), "not a name"),
        (lambda: Attribute(" a", ["x", "y"]), "not a name"),
        (lambda: Attribute(3, ["x", "y"]), "not a name"),  # type: ignore[arg-type]
        (lambda: Attribute("a", "xy"), "one text for its values"),
        (lambda: Attribute("a", b"xy"), "one text for its values"),
        (lambda: Attribute("a", 5), "values"),  # type: ignore[arg-type]
        (lambda: Attribute("a", []), "0 values"),
        (lambda: Attribute("a", ["x"]), "1 value:"),
        (lambda: Attribute("a", ["x", "y", "x"]), "'x' twice"),
        (lambda: Attribute("a", [1, 1.0]), "'1' twice"),
        (lambda: Attribute("a", ["x", ""]), "empty value"),
        (lambda: Attribute("a", ["x", " \t"]), "empty value"),
        (lambda: Attribute("a", ["x", None]), "empty value"),
        (lambda: Schema([]), "no attributes"),
        (lambda: Schema([SEX, AGE, SEX]), "two attributes named 'sex'"),
    ],
)
def test_what_cannot_be_asked_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        make()


def test_codes_are_positions_and_near_values_are_named() -> None:
    assert [SEX.code(value) for value in ("Female", "Male")] == [0, 1]
    assert [AGE.code(value) for value in (20, "20", 20.0, 30, 45.5)] == [0, 0, 0, 1, 2]
    with pytest.raises(QueryError, match="did you mean 'Female'"):
        SEX.code("femal")
    with pytest.raises(QueryError, match="25 is not a value of 'age'"):
        AGE.code(25)


def test_a_schema_keeps_the_order_and_finds_by_name() -> None:
    schema = Schema([SEX, AGE])
    assert (schema.names, schema.sizes, len(schema)) == (("sex", "age"), (2, 3), 2)
    assert list(schema) == [SEX, AGE]
    assert schema["age"] is AGE
    assert schema.select(["age", "sex"]) == (AGE, SEX)
    assert schema.select("age") == (AGE,)
    assert schema == Schema(iter([SEX, Attribute("age", ["20", "30", "45.5"], AGE.question)]))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "no attribute was asked for"),
        (["sexe"], "did you mean 'sex'"),
        (["sex", "sex"], "twice"),
        ([3], "names no attributes"),
    ],
)
def test_a_selection_names_each_once(names: list[str], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        Schema([SEX, AGE]).select(names)


def test_a_long_list_of_known_words_is_cut() -> None:
    remedy = suggest("zz", [f"value{i}" for i in range(20)])
    assert "value11 and 8 more" in remedy
    assert "value12" not in remedy


def test_nothing_changes_after_construction() -> None:
    with pytest.raises(FrozenInstanceError):
        SEX.name = "gender"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        Schema([SEX]).attributes = ()  # type: ignore[misc]


def test_an_error_is_one_line_with_what_to_do() -> None:
    with pytest.raises(CastellError) as caught:
        Attribute("a", ["x"])
    problem, remedy = caught.value.problem, caught.value.remedy
    assert str(caught.value) == f"{problem}: {remedy}"
    assert problem
    assert remedy
    assert "\n" not in str(caught.value)
