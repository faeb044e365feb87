"""Frames count as the reports they hold: DuckDB and Polars where they are, others in memory."""

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import castell.counting.frames
from castell import Reports, scan_reports
from castell.counting import Counts, Factor, MemoryCounts
from castell.counting.frames import FrameCounts
from castell.errors import ReportError
from tests.counting.test_engines import axes_of, random_reports, random_study


def _duckdb(table: pa.Table) -> Any:
    connection = duckdb.connect()
    connection.register("reports", table)
    connection.execute("create table kept as select * from reports")
    return connection.table("kept")


LAZY: dict[str, Callable[[pa.Table], Any]] = {
    "DuckDB": _duckdb,
    "Polars, lazy": lambda table: pl.DataFrame(table).lazy(),
}
EAGER: dict[str, Callable[[pa.Table], Any]] = {
    "Polars": lambda table: pl.DataFrame(table),
    "pandas": lambda table: table.to_pandas(),
    "Arrow": lambda table: table.replace_schema_metadata(None),
    "Arrow, marked": lambda table: table,
    "Arrow stream": lambda table: table.to_reader(max_chunksize=7),
}
EVERY = {**LAZY, **EAGER}


@pytest.mark.parametrize("rows", [0, 1, 90])
@pytest.mark.parametrize("kind", EVERY)
def test_a_frame_counts_as_its_reports(kind: str, rows: int) -> None:
    reports = random_reports(random_study(4), rows, 4)
    study, every = reports.study, MemoryCounts(reports)
    counts = scan_reports(EVERY[kind](reports.to_arrow()), study, secure=True)
    assert (counts.n, counts.secure, counts.study) == (rows, True, study)
    assert isinstance(counts, FrameCounts) == (kind in LAZY)
    for names in (study.names, study.names[::-1], study.names[1:2]):
        axes = axes_of(study, names)
        np.testing.assert_array_equal(counts.table(axes), every.table(axes))
    axes = axes_of(study, study.names)
    np.testing.assert_array_equal(counts.pairs(axes), every.pairs(axes))
    values = np.random.default_rng(0).normal(size=axes[0].size)
    query = [[Factor((axes[0],), values)], [Factor((axes[0],), values**2)]]
    mine, theirs = counts.moments(query), every.moments(query)
    np.testing.assert_array_equal(mine.mean, theirs.mean)
    np.testing.assert_array_equal(mine.product, theirs.product)
    for _ in range(2):
        found = [np.concatenate(column) for column in zip(*counts.batches([0, 1]), strict=True)]
        assert sum(len(column) for column in found) == 2 * rows


@pytest.mark.parametrize("kind", LAZY)
def test_large_tables_are_counted_here(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = random_reports(random_study(4), 90, 4)
    counts = scan_reports(LAZY[kind](reports.to_arrow()), reports.study)
    axes = axes_of(reports.study, reports.study.names)
    pushed = counts.table(axes)
    monkeypatch.setattr(castell.counting.frames, "FEW_CELLS", 1)
    np.testing.assert_array_equal(counts.table(axes), pushed)


@pytest.mark.parametrize("kind", EVERY)
def test_a_frame_does_not_say_that_it_is_secure(kind: str) -> None:
    reports = random_reports(random_study(4), 10, 4)
    counts = scan_reports(EVERY[kind](reports.to_arrow()), reports.study)
    # Arrow keeps what castell wrote of its own tables.
    assert counts.secure == (kind in ("Arrow, marked",) or kind == "Arrow stream")


def test_arrow_of_another_study_is_refused() -> None:
    table = random_reports(random_study(4), 10, 4).to_arrow()
    with pytest.raises(ReportError, match="belongs to another study"):
        scan_reports(table, random_study(2))


def _changed(reports: Reports, name: str, values: list[Any]) -> pa.Table:
    table = reports.to_arrow().replace_schema_metadata(None)
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values))


@pytest.mark.parametrize("kind", [*LAZY, "Polars", "pandas"])
def test_what_cannot_be_reports_is_refused(kind: str) -> None:
    reports = random_reports(random_study(4), 3, 4)
    study, name = reports.study, "a0"

    def opened(values: list[Any]) -> Counts:
        return scan_reports(EVERY[kind](_changed(reports, name, values)), study)

    assert opened([0, 1, 0]).n == 3
    for values, said in (
        ([0, 1, 99], "99 is not a report"),
        ([0, -1, 1], "-1 is not a report"),
        ([0, None, 1], "has missing reports|are float64"),
        ([0.0, 0.5, 1.0], "are float64|are double"),
        (["0", "1", "0"], "are "),
    ):
        with pytest.raises(ReportError, match=said):
            opened(values)
    with pytest.raises(ReportError, match="the frame has no column 'a0'"):
        scan_reports(EVERY[kind](reports.to_arrow().drop_columns(["a0"])), study)


def test_a_table_that_grows_is_noticed() -> None:
    reports = random_reports(random_study(4), 20, 4)
    connection = duckdb.connect()
    connection.register("reports", reports.to_arrow())
    connection.execute("create table kept as select * from reports")
    counts = scan_reports(connection.table("kept"), reports.study)
    axes = axes_of(reports.study, reports.study.names)
    assert counts.table(axes).sum() == 20
    connection.execute("insert into kept select * from reports limit 1")
    for ask in (counts.table, counts.pairs):
        with pytest.raises(ReportError, match="were 20 reports and now 21: open them again"):
            ask(axes)


def test_a_dictionary_is_no_frame_of_reports() -> None:
    for nothing in ({"a0": [1]}, 3, None, object()):
        with pytest.raises(ReportError, match="holds no reports"):
            scan_reports(nothing, random_study(4))
    with pytest.raises(ReportError, match="there are no Parquet files"):
        scan_reports([], random_study(4), engine="parquet")


def test_pandas_with_an_index_of_its_own() -> None:
    reports = random_reports(random_study(4), 20, 4)
    frame: pd.DataFrame = reports.to_arrow().to_pandas().iloc[::2]
    assert scan_reports(frame, reports.study).n == 10
