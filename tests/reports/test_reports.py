"""Reports are integers of one study: anything else is refused, in memory and in a file."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import castell.reports.parquet
from castell import Attribute, MatrixResponse, Schema, Study
from castell.counting import scan_reports
from castell.errors import ReportError, StudyError
from castell.reports.codes import check_codes, code_type
from castell.reports.parquet import ReportWriter
from castell.reports.reports import Reports

SCHEMA = Schema(
    [Attribute("sex", ["Male", "Female"]), Attribute("age", [20, 30, 40]), Attribute("ok", [0, 1])]
)
STUDY = Study(SCHEMA, 4.0, [["ok", "age"]], channels={"sex": [[0.8, 0.2], [0.3, 0.7]]})
OTHER = Study(SCHEMA, 4.0, [["ok", "age"]])
# sex, then "ok x age" with age moving fastest.
SEX, OK_AGE = [0, 1, 1, 0], [0, 5, 4, 2]
FRAME = {
    "sex": ["Male", "Female", "Female", "Male"],
    "age": ["20", "40", "30", "40"],
    "ok": ["0", "1", "1", "0"],
}


def reports(*columns: Any, study: Study = STUDY, secure: bool = True) -> Reports:
    return Reports(study, [np.array(column) for column in columns], secure=secure)


def forge(path: Path, columns: dict[str, Any], **metadata: str) -> Path:
    """A Parquet file by hand, named as the study's own unless told otherwise."""
    named = {"castell.digest": STUDY.digest, "castell.secure": "true"}
    named |= {f"castell.{key}": value for key, value in metadata.items()}
    table = pa.table(columns)
    fields = [field.with_nullable(bool(table[field.name].null_count)) for field in table.schema]
    pq.write_table(table.cast(pa.schema(fields, metadata=named)), path)
    return path


GOOD: dict[str, Any] = {"sex": SEX, "ok x age": OK_AGE}


def load(path: Path) -> object:
    return Reports.load(path, STUDY)


def count(path: Path) -> object:
    one, two = STUDY.design.blocks
    return scan_reports(path, STUDY).table([*one.axes(0, ["sex"]), *two.axes(1, ["age"])])


# Reading all of a file, and counting it as it streams by: both must refuse the same.
READERS: list[Callable[[Path], object]] = [load, count]


# -- in memory -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outputs", "kind"),
    [(2, "u1"), (256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4"), (2**32 + 1, "u8")],
)
def test_codes_take_as_little_room_as_they_can(outputs: int, kind: str) -> None:
    assert code_type(outputs) == np.dtype(kind)


@pytest.mark.parametrize("kind", ["u1", "i1", "u2", "i8", "u8", ">i4"])
def test_integers_of_any_width_are_taken(kind: str) -> None:
    made = Reports(STUDY, [np.array(SEX, kind), np.array(OK_AGE, kind)], secure=True)
    assert [column.dtype for column in made.columns] == [np.uint8, np.uint8]
    assert [column.tolist() for column in made.columns] == [SEX, OK_AGE]
    assert len(made) == 4


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([[0, 1], [0, 6]], "row 2, 'ok x age': 6 is not a report.*0 to 5"),
        ([[0, -1], [0, 5]], "row 2, 'sex': -1 is not a report"),
        ([[0, 2], [0, 5]], "row 2, 'sex': 2 is not a report"),
        ([[256, 0], [0, 5]], "row 1, 'sex': 256 is not a report"),
        (
            [np.array([0, 2**63], np.uint64), [0, 5]],
            "row 2, 'sex': 9223372036854775808 is not a report",
        ),
        ([[0], [0, 5]], "differ in length"),
        ([[0, 1]], "1 columns for 2 blocks"),
        ([[0, 1]] * 3, "3 columns for 2 blocks"),
        ([], "0 columns for 2 blocks"),
        ([[0.0, 1.0], [0, 5]], "float64"),
        ([["0", "1"], [0, 5]], "one column of integers"),
        ([[False, True], [0, 5]], "bool"),
        ([[[0], [1]], [0, 5]], "2 dimensions"),
        ([0, 1], "0 dimensions"),
        ([[0, None], [0, 5]], "object"),
    ],
)
def test_what_is_no_report_is_refused(columns: list[Any], message: str) -> None:
    with pytest.raises(ReportError, match=message):
        reports(*columns)


def test_check_codes_counts_rows_from_where_it_is_told() -> None:
    with pytest.raises(ReportError, match="row 103, 'a': 3 "):
        check_codes("a", 3, np.array([0, 1, 3, 9]), first_row=101)
    assert len(check_codes("a", 3, np.array([], dtype=int))) == 0


def test_reports_are_frozen() -> None:
    made = reports(SEX, OK_AGE)
    for column in made.columns:
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    with pytest.raises(FrozenInstanceError):
        made.secure = True  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        made.columns = ()  # type: ignore[misc]


def test_the_callers_array_does_not_reach_into_checked_reports() -> None:
    # Otherwise a code that was never checked could be counted.
    sex = np.array(SEX, dtype=np.uint8)
    made = Reports(STUDY, [sex, np.array(OK_AGE)], secure=True)
    sex[0] = 200
    assert made.columns[0].tolist() == SEX


def test_a_seed_shows() -> None:
    assert repr(reports(SEX, OK_AGE)) == "<Reports of 'study': n = 4, epsilon 4>"
    seeded = repr(reports(SEX, OK_AGE, secure=False))
    assert seeded == "<Reports of 'study': n = 4, epsilon 4, INSECURE (seeded)>"


# -- as labels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_what_comes_in_goes_out(kind: Callable[[dict[str, Any]], Any]) -> None:
    answers = kind(FRAME)
    made = STUDY.randomize(answers, seed=1)
    frame = made.to_frame()
    assert type(frame) is type(answers)
    columns = {name: list(frame[name].to_numpy()) for name in SCHEMA.names}
    assert list(columns) == list(SCHEMA.names)
    for attribute in SCHEMA:
        assert len(columns[attribute.name]) == 4
        assert set(columns[attribute.name]) <= set(attribute.values)
    # The labels are the codes: randomised again from them, nothing else is needed.
    assert made.study.randomize(frame, seed=2).backend == made.backend


@pytest.mark.parametrize(
    ("backend", "kind"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table), (None, pa.Table)],
)
def test_labels_of_the_codes(backend: str | None, kind: type[Any]) -> None:
    frame = reports(SEX, OK_AGE).to_frame(backend)
    assert isinstance(frame, kind)
    for name, labels in FRAME.items():
        assert [str(label) for label in frame[name].to_numpy()] == labels


def test_no_reports_are_an_empty_frame() -> None:
    empty = Reports(STUDY, [np.empty(0, np.uint8)] * 2, secure=True)
    assert len(empty) == 0
    assert empty.to_frame("pandas").shape == (0, 3)


def test_reports_that_are_no_answers_have_no_labels() -> None:
    study = Study(
        Schema([Attribute("a", ["x", "y"]), Attribute("b", ["u", "v"])]),
        1.0 + np.log(7),
        channels={"a": MatrixResponse([[7, 2, 1], [1, 2, 7]])},
    )
    with pytest.raises(ReportError, match="have no labels"):
        reports([0, 1, 2], [1, 0, 1], study=study).to_frame()


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("secure", [True, False])
@pytest.mark.parametrize("group", [1 << 20, 3, 1])
def test_what_is_saved_is_loaded(
    secure: bool, group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(castell.reports.parquet, "ROW_GROUP", group)
    path = tmp_path / "reports.parquet"
    made = reports(SEX, OK_AGE, secure=secure)
    made.save(path)
    assert pq.ParquetFile(path).num_row_groups == -(-4 // group)
    assert pq.read_schema(path).names == ["sex", "ok x age"]
    loaded = Reports.load(str(path), STUDY)
    assert [column.tolist() for column in loaded.columns] == [SEX, OK_AGE]
    assert loaded.secure == secure
    assert loaded.study == STUDY
    counts = scan_reports(path, STUDY)
    assert (counts.n, counts.secure) == (4, secure)
    assert [file.name for file in tmp_path.iterdir()] == ["reports.parquet"]


def test_no_reports_are_saved_and_loaded(tmp_path: Path) -> None:
    Reports(STUDY, [np.empty(0, np.uint8)] * 2, secure=True).save(tmp_path / "r.parquet")
    loaded = Reports.load(tmp_path / "r.parquet", STUDY)
    assert len(loaded) == 0
    assert [column.dtype for column in loaded.columns] == [np.uint8, np.uint8]
    assert scan_reports(tmp_path / "r.parquet", STUDY).n == 0


def comes_back(study: Study, path: Path) -> None:
    made = study.randomize({name: [1, 0, 1] for name in study.names}, seed=1)
    made.save(path)
    loaded = Reports.load(path, study)
    for one, two in zip(made.columns, loaded.columns, strict=True):
        np.testing.assert_array_equal(one, two)
    for i, block in enumerate(study.design.blocks):
        assert scan_reports(path, study).table(block.axes(i, block.names)).sum() == 3


def test_names_that_look_like_paths_or_blocks(tmp_path: Path) -> None:
    names = ["a", "a.b", "a.b.c", "b", "a x b", "sex at birth?", "né e"]
    schema = Schema(Attribute(name, range(i + 2)) for i, name in enumerate(names))
    comes_back(Study(schema, 9.0), tmp_path / "r.parquet")


def test_a_block_named_as_another_attribute(tmp_path: Path) -> None:
    # Both would be the column "a x b" of the file: refused when it is designed, or kept apart.
    schema = Schema(Attribute(name, range(2)) for name in ("a", "b", "a x b"))
    with suppress(StudyError):
        comes_back(Study(schema, 3.0, [["a", "b"]]), tmp_path / "r.parquet")


@pytest.mark.parametrize("read", READERS)
def test_another_studys_file_is_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    reports(SEX, OK_AGE, study=OTHER).save(tmp_path / "r.parquet")
    with pytest.raises(ReportError, match=f"another study .{OTHER.digest[:12]}"):
        read(tmp_path / "r.parquet")


@pytest.mark.parametrize("read", READERS)
def test_the_forged_files_below_would_be_taken_if_they_were_right(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    read(forge(tmp_path / "r.parquet", GOOD))


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sex": pa.array([0, 1, 2, 0], pa.uint8())}, "row 3, 'sex': 2 is not a report"),
        ({"sex": pa.array([0, 1, 255, 0], pa.uint8())}, "row 3, 'sex': 255 is not a report"),
        ({"sex": pa.array([0, -1, 1, 0], pa.int8())}, "row 2, 'sex': -1 is not a report"),
        ({"sex": pa.array([0, 1, 1, 2**40], pa.int64())}, "row 4, 'sex'"),
        ({"sex": pa.array([0, 2**64 - 1, 1, 0], pa.uint64())}, "row 2, 'sex'"),
        ({"ok x age": [0, 5, 4, 6]}, "row 4, 'ok x age': 6 is not a report"),
        ({"sex": [0, None, 1, 0]}, "missing"),
        ({"sex": pa.nulls(4)}, "missing"),
        ({"sex": [0.0, 1.0, 1.0, 0.0]}, "integers"),
        ({"sex": ["0", "1", "1", "0"]}, "'sex'"),
        ({"sex": [False, True, True, False]}, "'sex'"),
        ({"sex": [[0], [1], [1], [0]]}, "'sex'"),
    ],
)
def test_codes_that_cannot_be_are_refused(
    read: Callable[[Path], object], columns: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = forge(tmp_path / "r.parquet", {**GOOD, **columns})
    with pytest.raises(ReportError, match=message):
        read(path)


@pytest.mark.parametrize("read", READERS)
def test_a_bad_code_in_a_later_group_is_found_and_its_row_named(
    read: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(castell.reports.parquet, "ROW_GROUP", 3)
    path = forge(tmp_path / "r.parquet", {"sex": [0] * 7 + [2], "ok x age": [0] * 8})
    with pytest.raises(ReportError, match="row 8, 'sex': 2 is not a report"):
        read(path)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "columns",
    [
        {"sex": SEX},
        {"sex": SEX, "ok": [0, 1, 1, 0], "age": [0, 2, 1, 2]},
        {**GOOD, "extra": SEX},
        {"ok x age": OK_AGE, "sex": SEX},
        {},
    ],
)
def test_columns_that_are_not_the_studys_are_refused(
    read: Callable[[Path], object], columns: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ReportError, match="lacks columns"):
        read(forge(tmp_path / "r.parquet", columns))


@pytest.mark.parametrize("read", READERS)
def test_a_file_that_names_no_study_is_refused(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    pq.write_table(pa.table(GOOD), tmp_path / "plain.parquet")
    with pytest.raises(ReportError, match="names no study"):
        read(tmp_path / "plain.parquet")
    with pytest.raises(ReportError, match="names no study"):
        read(forge(tmp_path / "empty.parquet", GOOD, digest=""))
    with pytest.raises(ReportError, match="another study"):
        read(forge(tmp_path / "wrong.parquet", GOOD, digest="0" * 64))


@pytest.mark.parametrize("mark", ["false", "True", "", "1"])
def test_only_a_file_that_says_so_is_secure(mark: str, tmp_path: Path) -> None:
    assert not Reports.load(forge(tmp_path / "r.parquet", GOOD, secure=mark), STUDY).secure


@pytest.mark.parametrize("read", READERS)
def test_what_is_no_parquet_is_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no file"):
        read(tmp_path / "absent.parquet")
    (tmp_path / "text.parquet").write_text("sex\n0\n")
    with pytest.raises(ReportError, match="not Parquet"):
        read(tmp_path / "text.parquet")
    with pytest.raises(ReportError):
        read(tmp_path)


@pytest.mark.parametrize("read", READERS)
def test_a_damaged_file_is_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    random = np.random.default_rng(0)
    reports(random.integers(0, 2, 50_000), random.integers(0, 6, 50_000)).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReportError):
        read(path)
    # The end, with its metadata, is intact, the pages are not.
    path.write_bytes(whole[:4] + bytes(3000) + whole[3004:])
    with pytest.raises(ReportError):
        read(path)


# -- writing ---------------------------------------------------------------------------------------


def test_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    path.write_text("earlier")
    with ReportWriter(STUDY, path, secure=True) as writer:
        writer.write([np.array(SEX), np.array(OK_AGE)])
        writer.write([np.array(SEX[:1]), np.array(OK_AGE[:1])])
        assert path.read_text() == "earlier"
    assert len(Reports.load(path, STUDY)) == 5
    assert [file.name for file in tmp_path.iterdir()] == ["r.parquet"]


@pytest.mark.parametrize("group", [1 << 20, 2])
def test_a_writer_refuses_what_is_no_report_and_leaves_nothing(
    group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(castell.reports.parquet, "ROW_GROUP", group)

    def write(columns: list[Any]) -> None:
        with ReportWriter(STUDY, tmp_path / "r.parquet", secure=True) as writer:
            writer.write([np.array(SEX), np.array(OK_AGE)])
            writer.write([np.array(column) for column in columns])

    with pytest.raises(ReportError, match="-1 is not a report"):
        write([[-1], [0]])
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ReportError, match="no folder"):
        reports(SEX, OK_AGE).save(tmp_path / "absent" / "r.parquet")


# -- several collections as one --------------------------------------------------------------------

SECURE = reports(SEX, OK_AGE)
SEEDED = reports([1, 0], [3, 3], secure=False)


def test_collections_are_put_together_in_order() -> None:
    both = Reports.concat([SECURE, reports([1], [2])])
    assert [column.tolist() for column in both.columns] == [[*SEX, 1], [*OK_AGE, 2]]
    assert both.secure
    assert both.columns[0].dtype == SECURE.columns[0].dtype
    assert len(Reports.concat(part for part in [SECURE])) == 4
    nobody = reports(np.empty(0, int), np.empty(0, int))
    assert len(Reports.concat([nobody, nobody])) == 0


@pytest.mark.parametrize("parts", [[SECURE, SEEDED], [SEEDED, SECURE], [SEEDED]])
def test_one_seeded_part_makes_the_whole_insecure(parts: list[Reports]) -> None:
    assert not Reports.concat(parts).secure


def test_a_frame_library_is_kept_if_all_have_it() -> None:
    pandas = Reports(STUDY, SECURE.columns, secure=True, backend="pandas")
    assert Reports.concat([pandas, pandas]).backend == "pandas"
    assert Reports.concat([pandas, SECURE]).backend is None


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "there are no reports"),
        ([SECURE, reports(SEX, OK_AGE, study=OTHER)], "of two studies"),
        ([SECURE, SECURE.columns], "a tuple is no collection"),
    ],
)
def test_what_cannot_be_put_together_is_refused(parts: list[Any], message: str) -> None:
    with pytest.raises(ReportError, match=message):
        Reports.concat(parts)


@pytest.mark.parametrize("made", [SECURE, SEEDED])
def test_arrow_and_parquet_keep_codes_study_and_mark(made: Reports, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    table = made.to_arrow()
    pq.write_table(table, path)
    for back in (
        Reports.from_arrow(table, STUDY),
        Reports.from_arrow(pq.read_table(path), STUDY),
        Reports.from_arrow(table.slice(1), STUDY),
        Reports.load(path, STUDY),
    ):
        assert back.secure == made.secure
        assert back.columns[0].tolist()[-1] == made.columns[0][-1]
    made.save(path)
    assert pq.read_schema(path).equals(table.schema, check_metadata=True)
    labels = made.to_frame().schema.metadata
    assert labels[b"castell.secure"] == str(made.secure).lower().encode()


@pytest.mark.parametrize("order", [[SECURE, SEEDED], [SEEDED, SECURE]])
def test_tables_that_users_put_together_do_not_lose_the_mark(
    order: list[Reports], tmp_path: Path
) -> None:
    tables = [made.to_arrow() for made in order]
    # Arrow keeps the first table's metadata; the columns tell all the same.
    with pytest.raises(pa.ArrowInvalid):
        pa.concat_tables(tables)
    both = pa.concat_tables(tables, promote_options="default")
    assert len(Reports.from_arrow(both, STUDY)) == 6
    assert not Reports.from_arrow(both, STUDY).secure
    pq.write_table(both, tmp_path / "both.parquet")
    assert not Reports.load(tmp_path / "both.parquet", STUDY).secure
    # Other libraries drop what a table says of itself: what says nothing is refused.
    frames: list[Any] = [pl.from_arrow(table) for table in tables]
    pl.concat(frames).write_parquet(tmp_path / "both.parquet")
    with pytest.raises(ReportError, match="names no study"):
        Reports.load(tmp_path / "both.parquet", STUDY)
    alike = pa.concat_tables([SECURE.to_arrow(), SECURE.to_arrow()])
    assert Reports.from_arrow(alike, STUDY).secure


def test_arrow_tables_that_are_not_this_studys_reports_are_refused() -> None:
    table = SECURE.to_arrow()
    with pytest.raises(ReportError, match="the table belongs to another study"):
        Reports.from_arrow(table, OTHER)
    with pytest.raises(ReportError, match="names no study"):
        Reports.from_arrow(table.replace_schema_metadata(None), STUDY)
    with pytest.raises(ReportError, match="lacks columns"):
        Reports.from_arrow(table.select(["sex"]), STUDY)
    missing = pa.array([0, None, 1, 1], pa.uint8())
    with pytest.raises(ReportError, match="'sex' has missing reports"):
        Reports.from_arrow(table.set_column(0, "sex", missing), STUDY)
