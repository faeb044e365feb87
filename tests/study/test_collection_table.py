"""The [collection] table of a study file: read, checked, and no part of what is published."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from castell import Study
from castell.errors import StudyError
from castell.study.collection_table import (
    CollectionTable,
    OpeningHours,
    a_time,
    load_collection_table,
)

TEXT = """
name = "tiny"
epsilon = 1.0

[[attribute]]
name = "smokes"
values = ["no", "yes"]
"""
HOURS = """
[collection]
opens = 2026-12-01T08:00:00+01:00
closes = 2026-12-22T18:00:00+01:00
store = "@address.txt"
"""


def test_the_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TEXT + HOURS, encoding="utf-8")
    found = load_collection_table(tmp_path / "study.toml")
    assert found.hours.opens == datetime(2026, 12, 1, 7, tzinfo=UTC)
    assert found.hours.closes == datetime(2026, 12, 22, 17, tzinfo=UTC)
    assert found.store == "@address.txt"


def test_without_a_table_a_study_is_always_open(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(TEXT, encoding="utf-8")
    (tmp_path / "study.json").write_text(Study.from_toml(TEXT).to_json(), encoding="utf-8")
    for name in ("study.toml", "study.json"):
        assert load_collection_table(tmp_path / name) == CollectionTable()


def test_a_study_that_is_prolonged_is_the_same_study() -> None:
    prolonged = HOURS.replace("2026-12-22", "2027-01-31")
    studies = [Study.from_toml(TEXT + more) for more in ("", HOURS, prolonged)]
    assert len({study.digest for study in studies}) == 1
    assert "2026-12" not in studies[1].to_json()


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("opens = 2026-12-01T08:00:00", "opens has no time zone"),
        ("opens = 2026-12-01", "opens is no date with a time"),
        ('closes = "tomorrow"', "closes is no date with a time"),
        ("closes = 5", "closes is no date with a time"),
        ("closed = 2026-12-01T08:00:00Z", "unknown entry 'closed'"),
        ("store = 5", "store in .collection. is no text"),
        ('store = ""', "store in .collection. is no text"),
        ("opens = 2026-12-02T08:00:00Z\ncloses = 2026-12-01T08:00:00Z", "before it opens"),
        ("opens = 2026-12-01T08:00:00Z\ncloses = 2026-12-01T09:00:00+01:00", "before it opens"),
    ],
)
def test_mistakes_are_found_when_the_study_is_read(table: str, problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        Study.from_toml(f"{TEXT}\n[collection]\n{table}\n")


def test_a_collection_that_is_no_table_is_refused() -> None:
    with pytest.raises(StudyError, match="collection is no table"):
        Study.from_toml(f'collection = "open"\n{TEXT}')


def test_hours_may_be_text() -> None:
    assert a_time("--opens", "2026-12-01T08:00:00Z") == datetime(2026, 12, 1, 8, tzinfo=UTC)
    assert a_time("--opens", None) is None
    assert OpeningHours() == OpeningHours(None, None)
