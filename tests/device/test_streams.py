"""Lazy frames, relations and streams of answers, some rows at a time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import castell
import castell.device.answer_columns
import castell.device.encode
from castell import Reports, Study
from castell.errors import AnswerError
from castell.population import SCHEMA, health_survey

PEOPLE = health_survey(500, seed=3)
STUDY = Study(SCHEMA, 20.0)


def _duckdb(answers: dict[str, Any]) -> Any:
    connection = duckdb.connect()
    connection.register("answers", pa.table(answers))
    return connection.sql("select *, 1 as more from answers")


KINDS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "Polars, lazy": (lambda answers: pl.LazyFrame(answers), "polars"),
    "DuckDB": (_duckdb, "pyarrow"),
    "Arrow stream": (lambda answers: pa.table(answers).to_reader(max_chunksize=64), "pyarrow"),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(castell.device.answer_columns, "BATCH_ROWS", 64)


@each_kind
def test_a_lazy_frame_gives_the_reports_of_its_rows(kind: str) -> None:
    """With next to no noise the reports are the answers, row by row."""
    make, backend = KINDS[kind]
    sure = Study(SCHEMA, 180.0)
    reports = sure.randomize(make(PEOPLE))
    assert (len(reports), reports.secure, reports.backend) == (500, True, backend)
    shown = reports.to_frame("pyarrow").to_pydict()
    assert shown == {name: list(PEOPLE[name]) for name in SCHEMA.names}


@each_kind
def test_reports_go_to_a_file_as_they_are_made(kind: str, tmp_path: Path) -> None:
    make, _ = KINDS[kind]
    path = tmp_path / "reports.parquet"
    assert castell.randomize_stream(STUDY, make(PEOPLE), path, seed=4) == 500
    found = Reports.load(path, STUDY)
    assert (len(found), found.secure) == (500, False)
    assert castell.randomize_stream(STUDY, PEOPLE, path) == 500
    assert Reports.load(path, STUDY).secure


@each_kind
def test_what_is_wrong_names_the_row(kind: str, tmp_path: Path) -> None:
    make, _ = KINDS[kind]
    wrong = {name: list(values) for name, values in PEOPLE.items()}
    wrong["smokes"][300] = "often"
    with pytest.raises(AnswerError, match="row 301, column 'smokes': 'often' is not a value"):
        castell.randomize_stream(STUDY, make(wrong), tmp_path / "r.parquet")
    assert list(tmp_path.iterdir()) == []
    del wrong["smokes"]
    with pytest.raises(AnswerError, match="the answers have no column 'smokes'"):
        STUDY.randomize(make(wrong))


@each_kind
def test_no_rows_are_no_reports(kind: str) -> None:
    make, _ = KINDS[kind]
    nobody = pa.table({name: pa.array([], pa.string()) for name in SCHEMA.names})
    given = make(nobody.to_pydict()) if kind == "Arrow stream" else None
    frame = given if given is not None else pl.DataFrame(nobody).lazy()
    assert len(STUDY.randomize(frame)) == 0


def test_rows_are_not_held_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    encode = castell.device.encode.encode

    def listen(*given: Any) -> Any:
        found = encode(*given)
        seen.append(len(next(iter(found.values()))))
        return found

    monkeypatch.setattr("castell.device.randomize.encode", listen)
    STUDY.randomize(pa.table(PEOPLE).to_reader(max_chunksize=64))
    assert max(seen) == 64
    assert np.sum(seen) == 500
