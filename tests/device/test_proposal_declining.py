"""Ways not to answer that a file has already: they stand beside its values, and none is added."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from castell import Schema
from castell.device.proposal import Found, propose


def _proposed(counts: dict[str, int], missing: int = 0, **more: Any) -> Any:
    rows = sum(counts.values()) + missing
    return propose(Found("q", Counter(counts), missing, rows), **more)


@pytest.mark.parametrize("way", ["prefer not to say", "Refused", "No answer", "keine Angabe"])
def test_a_way_not_to_answer_is_offered_once_and_beside_the_order(way: str) -> None:
    made = _proposed({"poor": 5, "good": 4, "fair": 3, way: 2})
    assert made.attribute.values == ("poor", "fair", "good", way)
    assert made.attribute.beside == 1
    assert made.attribute.ordered
    assert made.remark.endswith(f"; {way!r} stands beside them")


def test_missing_answers_are_not_those_of_people_who_declined() -> None:
    made = _proposed({"poor": 5, "good": 4, "refused": 2}, missing=3)
    assert made.attribute.values[2:] == ("no answer", "refused")
    assert made.attribute.values[made.attribute.missing_code] == "no answer"
    assert "3 missing answers become 'no answer'" in made.remark
    same = _proposed({"a": 5, "b": 4, "declined": 2, "no answer": 1}, missing=3)
    assert same.attribute.values[2:] == ("no answer", "declined")
    assert same.attribute.missing_code == 2


def test_beside_numbers_and_days_too() -> None:
    numbers = {str(age): 1 for age in range(20, 80)}
    made = _proposed({**numbers, "k. A.": 9})
    assert made.attribute.values[-1] == "k. A."
    assert made.attribute.beside == 1
    debts = _proposed({**numbers, "no debt": 9})
    assert debts.attribute.values[-2:] == ("prefer not to say", "no debt")
    assert "beside them 'no debt': write none = ..." in debts.remark
    kids = _proposed({"0": 5, "1": 4, "2": 3, "refused": 1})
    assert kids.attribute.ordered
    assert kids.attribute.values == ("0", "1", "2", "refused")


def test_where_a_file_has_none_one_is_offered_and_it_can_be_left_out() -> None:
    assert _proposed({"a": 1, "b": 2}).attribute.values[2:] == ("prefer not to say",)
    assert _proposed({"a": 1, "b": 2}, decline="").attribute.values == ("a", "b")
    # What people said stays, whatever is offered.
    assert _proposed({"a": 1, "b": 2, "refused": 1}, decline="").attribute.beside == 1


def test_a_column_of_little_else_is_told_as_any() -> None:
    assert _proposed({"refused": 4}).attribute is None
    made = _proposed({"yes": 3, "refused": 4})
    assert made.attribute.size >= 2
    frame = {"q": ["low", "high", "refused"] * 9}
    assert Schema.from_frame(frame)["q"].values == ("low", "high", "refused")
