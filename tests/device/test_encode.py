"""Answers of any frame or file become codes, or an error that names the row and the column."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from castell import Attribute, Schema, tabulate
from castell.device.answer_file import BATCH_ROWS, AnswerFile
from castell.device.encode import backend_of, encode
from castell.errors import AnswerError, QueryError

SEX = Attribute("sex", ["Female", "Male"])
ONE = Schema([SEX])
TWO = Schema([SEX, Attribute("age", ["20", "30", "NA"])])

MALE, FEMALE = "Male", "Female"
LABELS = [MALE, FEMALE, FEMALE, MALE]
CODES = [1, 0, 0, 1]


def codes(schema: Schema, answers: Any, name: str = "sex") -> list[int]:
    column = encode(schema, answers)[name]
    assert column.dtype == np.intp
    return [int(code) for code in column]


# -- frames of every kind --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS),
        np.array(LABELS, dtype=object),
        pd.Series(LABELS, index=[9, 9, 8, 7]),
        pd.Categorical(LABELS),
        pl.Series(LABELS),
        pa.array(LABELS),
        pa.array(LABELS).dictionary_encode(),
        pa.array(LABELS, pa.large_string()),
        pa.chunked_array([LABELS[:1], LABELS[1:]]),
    ],
    ids=lambda column: type(column).__name__,
)
def test_a_mapping_of_any_columns(column: Any) -> None:
    assert codes(ONE, {"other": range(4), "sex": column}) == CODES
    assert backend_of({"sex": column}) is None


FRAMES: list[tuple[str, Any]] = [
    ("pandas", pd.DataFrame({"sex": LABELS, "x": range(4)}, index=[3, 3, 1, 0])),
    ("pandas", pd.DataFrame({"sex": pd.Series(LABELS, dtype=object)})),
    ("pandas", pd.DataFrame({"sex": pd.Series(LABELS, dtype="string")})),
    ("pandas", pd.DataFrame({"sex": pd.Categorical(LABELS)})),
    ("pandas", pd.DataFrame({"sex": pd.Categorical(LABELS, ["Unknown", MALE, FEMALE])})),
    ("polars", pl.DataFrame({"x": range(4), "sex": LABELS})),
    ("polars", pl.DataFrame({"sex": pl.Series(LABELS, dtype=pl.Categorical)})),
    ("polars", pl.DataFrame({"sex": pl.Series(LABELS, dtype=pl.Enum([MALE, FEMALE]))})),
    ("pyarrow", pa.table({"sex": LABELS})),
    ("pyarrow", pa.table({"sex": pa.array(LABELS).dictionary_encode()})),
    ("pyarrow", pa.table({"sex": pa.chunked_array([LABELS[:3], [], LABELS[3:]])})),
]


@pytest.mark.parametrize(("backend", "frame"), FRAMES)
def test_frames_are_read_and_remembered(backend: str, frame: Any) -> None:
    assert codes(ONE, frame) == CODES
    assert backend_of(frame) == backend


KINDS: list[Callable[[dict[str, Any]], Any]] = [dict, pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("values", "column", "expected"),
    [
        ([1, 2, 30], [30, 1, 2], [2, 0, 1]),
        ([1, 2, 30], [30.0, 1.0, 2.0], [2, 0, 1]),
        ([1.0, 2.5], [2.5, 1.0, 1.0], [1, 0, 0]),
        (["1", "2"], [2, 1, 1], [1, 0, 0]),
        ([-1, 0], [-0.0, -1.0, 0.0], [1, 0, 1]),
        ([True, False], [False, True, False], [1, 0, 1]),
        ([0.1, 0.25], [0.25, 0.1], [1, 0]),
        ([0.1, 0.25, 1], np.array([0.25, 1.0, 0.1], dtype=np.float32), [1, 2, 0]),
        ([0.5, 0.0000001], [0.0000001, 0.5], [1, 0]),
        ([0.5, 10.0**16], [10.0**16, 0.5], [1, 0]),
        ([2**53, 2**60], [2**60, 2**53], [1, 0]),
        (["2020-01-01", "x"], [datetime.date(2020, 1, 1)], [0]),
        ([" a", "a"], ["a", " a"], [1, 0]),
        (["ë", "e\u0308"], ["e\u0308", "ë"], [1, 0]),
    ],
)
def test_values_match_as_a_person_reads_them(
    kind: Callable[[dict[str, Any]], Any], values: list[Any], column: Any, expected: list[int]
) -> None:
    schema = Schema([Attribute("a", values)])
    assert codes(schema, kind({"a": column}), "a") == expected


def test_one_respondent_may_be_a_mapping_of_values() -> None:
    assert codes(TWO, {"sex": "Male", "age": 30}) == [1]
    assert codes(TWO, {"sex": "Male", "age": 30}, "age") == [1]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_no_respondents_are_no_codes(kind: Callable[[dict[str, Any]], Any]) -> None:
    assert codes(ONE, kind({"sex": []})) == []


# -- what is missing or unknown --------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([MALE, MALE, "Mal"], "row 3, column 'sex': 'Mal' is not a value.*did you mean 'Male'"),
        ([MALE, "male"], "row 2, column 'sex': 'male' is not a value.*did you mean 'Male'"),
        ([MALE, " Male"], "row 2, column 'sex': ' Male' has spaces around it.*write it as 'Male'"),
        (["Female\t", MALE], "row 1, column 'sex': 'Female.t' has spaces around it"),
        ([MALE, None, MALE], "row 2, column 'sex': the answer is missing"),
        ([None], "row 1, column 'sex': the answer is missing"),
        ([MALE, ""], "row 2, column 'sex': the answer is missing"),
        ([MALE, " "], "row 2, column 'sex': the answer is missing"),
        ([0, 1], "row 1, column 'sex': '0' is not a value"),
        ([True], "row 1, column 'sex': 'true' is not a value"),
        ([MALE, "x", None], "row 2, column 'sex': 'x'"),
    ],
)
def test_the_first_bad_answer_is_named(
    kind: Callable[[dict[str, Any]], Any], column: list[Any], message: str
) -> None:
    with pytest.raises(AnswerError, match=message):
        encode(ONE, kind({"sex": column}))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([MALE, np.nan], dtype=object),
        pd.Categorical([MALE, None]),
        pl.Series([MALE, None], dtype=pl.Categorical),
        pa.array([MALE, None]).dictionary_encode(),
    ],
)
def test_missing_is_missing_in_every_encoding(column: Any) -> None:
    with pytest.raises(AnswerError, match="row 2, column 'sex': the answer is missing"):
        encode(ONE, {"sex": column})


def test_numbers_that_became_floats_for_a_missing_one() -> None:
    schema = Schema([Attribute("age", [20, 30])])
    for frame in (
        pd.DataFrame({"age": [20, 30, None]}),
        pl.DataFrame({"age": [20.0, 30.0, float("nan")]}),
        {"age": np.array([20.0, 30.0, np.nan])},
        pd.DataFrame({"age": pd.array([20, 30, None], dtype="Int64")}),
    ):
        with pytest.raises(AnswerError, match="row 3, column 'age': the answer is missing"):
            encode(schema, frame)
    with pytest.raises(AnswerError, match=r"row 2, column 'age': '25\.5' is not a value"):
        encode(schema, {"age": [20.0, 25.5]})


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_column_is_named_with_a_near_one(
    kind: Callable[[dict[str, Any]], Any],
) -> None:
    with pytest.raises(AnswerError, match=r"no column 'sex'.*did you mean 'Sex'"):
        encode(TWO, kind({"Sex": [MALE], "age": ["20"]}))


@pytest.mark.parametrize(
    "frame",
    [
        pa.table([[MALE], [FEMALE]], names=["sex", "sex"]),
        pd.DataFrame([[MALE, FEMALE]], columns=["sex", "sex"]),
    ],
    ids=["pyarrow", "pandas"],
)
def test_two_columns_of_one_name_are_refused(frame: Any) -> None:
    with pytest.raises(AnswerError, match="two columns"):
        encode(ONE, frame)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(AnswerError, match="differ in length"):
        encode(TWO, {"sex": [MALE, MALE], "age": [20]})


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"sex": [MALE], "notes": pd.Series([{1}], dtype=object)}),
        pd.DataFrame({"sex": [MALE, MALE], "notes": ["a", 1]}),
        pd.DataFrame([[MALE, 1]], columns=["sex", 3]),
        pl.DataFrame({"sex": [MALE], "notes": [[1, 2]]}),
        pa.table({"sex": [MALE], "notes": [{"a": 1}]}),
        {"sex": [MALE], "notes": [[1, 2]]},
    ],
)
def test_columns_nobody_asked_for_do_not_matter(frame: Any) -> None:
    assert set(codes(ONE, frame)) == {1}


@pytest.mark.parametrize(
    "answers",
    [
        [MALE],
        MALE,
        None,
        3,
        np.array([MALE]),
        pl.DataFrame({"sex": [MALE]}).lazy(),
        {},
        {"sex": [MALE, 3]},
        {"sex": [MALE, b"\xff"]},
        {"sex": [b"\xff"]},
        {"sex": [[MALE]]},
        {"sex": [{"is": MALE}]},
        {"sex": np.array([[MALE, FEMALE]])},
        {"sex": [float("inf")]},
        pd.DataFrame({"sex": pd.Series([MALE, 3], dtype=object)}),
        pl.DataFrame({"sex": [[MALE]]}),
        {"sex": (label for label in LABELS)},
    ],
    ids=lambda answers: str(answers)[:30].replace("\n", " "),
)
def test_what_is_no_frame_of_answers_is_refused(answers: Any) -> None:
    with pytest.raises(AnswerError):
        encode(ONE, answers)


# -- the exact table of raw answers ----------------------------------------------------------------


def test_tabulate_counts_every_combination() -> None:
    answers = {"age": ["20", "NA", "NA", "20"], "sex": [MALE, FEMALE, MALE, MALE]}
    expected = np.array([[0, 0.5], [0, 0], [0.25, 0.25]])
    np.testing.assert_array_equal(tabulate(TWO, answers, ["age", "sex"]), expected)
    np.testing.assert_array_equal(tabulate(TWO, answers, ["sex", "age"]), expected.T)
    np.testing.assert_array_equal(tabulate(TWO, answers, "sex"), [0.25, 0.75])
    np.testing.assert_array_equal(tabulate(ONE, {"sex": [MALE]}, ["sex"]), [0, 1])
    with pytest.raises(QueryError, match="no attribute 'race'"):
        tabulate(TWO, answers, ["race"])


# -- files -----------------------------------------------------------------------------------------


def read(path: Path, schema: Schema = TWO) -> dict[str, list[str]]:
    """All labels of a file, through the codes."""
    labels: dict[str, list[str]] = {name: [] for name in schema.names}
    first = 1
    for batch in AnswerFile(path, schema.names):
        for name, column in encode(schema, batch, first).items():
            labels[name] += [schema[name].values[code] for code in column]
        first += batch.num_rows
    return labels


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.csv", "sex,age\nMale,NA\nFemale,20\n"),
        ("PLAIN.CSV", "sex,age\nMale,NA\nFemale,20\n"),
        ("windows.csv", "sex,age\r\nMale,NA\r\nFemale,20\r\n"),
        ("no_end.txt", "sex,age\nMale,NA\nFemale,20"),
        ("bom.csv", "\ufeffsex,age\nMale,NA\nFemale,20\n"),
        ("quoted.csv", '"sex","age"\n"Male","NA"\n"Female",20\n'),
        ("order.csv", 'age,notes,sex\nNA,"a, b\n""c""",Male\n20,,Female\n'),
        # A space after the comma is a habit of many, in the header too.
        ("spaces.csv", 'sex, age\nMale, NA \n"Female ", 20\n'),
        ("tabs.tsv", "sex\tage\nMale\tNA\nFemale\t20\n"),
    ],
)
def test_text_files(name: str, text: str, tmp_path: Path) -> None:
    found = read(write(tmp_path / name, text))
    assert found == {"sex": ["Male", "Female"], "age": ["NA", "20"]}


def test_nothing_in_a_text_file_is_guessed(tmp_path: Path) -> None:
    values = ["01", "1", "1.0", "NA", "null", "true", "True", "nan", "2020-01-01", "a,b", 'q"', "-"]
    schema = Schema([Attribute("a", values)])
    quoted = ['"' + value.replace('"', '""') + '"' for value in values]
    path = write(tmp_path / "a.csv", "\n".join(["a", *quoted]))
    assert read(path, schema)["a"] == values
    bare = write(tmp_path / "b.csv", "\n".join(["a", *values[:9]]))
    assert read(bare, schema)["a"] == values[:9]


def test_parquet_of_any_types(tmp_path: Path) -> None:
    frame = pa.table({"age": pa.array([30, 20]), "x": [0, 0], "sex": ["Male", "Female"]})
    for name, table in (
        ("a.parquet", frame),
        ("b.pq", frame.set_column(0, "age", pa.array(["30", "20"]).dictionary_encode())),
    ):
        pq.write_table(table, tmp_path / name)
        assert read(tmp_path / name) == {"sex": ["Male", "Female"], "age": ["30", "20"]}


@pytest.mark.parametrize("bad", [0, BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 2])
def test_row_numbers_run_through_the_whole_file(bad: int, tmp_path: Path) -> None:
    labels = [MALE] * (BATCH_ROWS + 3)
    labels[bad] = "Mael"
    pq.write_table(pa.table({"sex": labels}), tmp_path / "a.parquet")
    write(tmp_path / "a.csv", "sex,filler\n" + "".join(f"{label},{'x' * 20}\n" for label in labels))
    for name in ("a.parquet", "a.csv"):
        file = AnswerFile(tmp_path / name, ["sex"])
        batches = list(file)
        assert len(batches) > 1
        assert file.rows == sum(batch.num_rows for batch in batches) == BATCH_ROWS + 3
        assert file.done == 1.0
        with pytest.raises(AnswerError, match=f"row {bad + 1}, column 'sex': 'Mael'"):
            read(tmp_path / name, ONE)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.xlsx", "sex,age\nMale,20\n", "cannot read .*a.xlsx"),
        ("a.sav", "sex,age\nMale,20\n", "neither CSV nor Parquet"),
        ("a", "sex,age\nMale,20\n", "neither CSV nor Parquet"),
        ("a.csv", "", "cannot read"),
        ("a.csv", "Sex,age\nMale,20\n", "no column 'sex'.*did you mean 'Sex'"),
        ("a.csv", "Gender,age\nMale,20\n", "no column 'sex'.*Gender"),
        ("a.csv", "x,y\nMale,20\n", "no column 'sex'.*Known are x, y"),
        ("a.csv", "sex,age,sex\nMale,20,Male\n", "two columns 'sex'"),
        ("a.csv", "sex,age\nMale\n", "cannot read"),
        ("a.csv", "sex,age\nMale,\n", "row 1, column 'age': the answer is missing"),
        ("a.csv", "sex,age\nMale,20\n  ,20\n", "row 2, column 'sex': the answer is missing"),
        ("a.csv", b"sex,age\nM\xe4le,20\n", "row 1, column 'sex': 'M\u00e4le' is not a value"),
        ("a.csv", b"\xff\xfes", "cannot read"),
        ("a.csv.gz", "sex,age\nMale,20\n", "cannot read"),
        ("a.csv", b"s\xe4x,age\nMale,20\n", "cannot read|no column"),
        ("a.parquet", "sex,age\nMale,20\n", "cannot read"),
        ("a.parquet", b"", "cannot read"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(
    name: str, text: str | bytes, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(AnswerError, match=message):
        read(path)


def test_a_missing_column_of_a_parquet_file_is_named_with_a_near_one(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"Sex": [MALE], "age": ["20"]}), path)
    with pytest.raises(AnswerError, match=r"no column 'sex'.*did you mean 'Sex'"):
        read(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(AnswerError, match=r"no file .*absent\.csv"):
        AnswerFile(tmp_path / "absent.csv")
    with pytest.raises(AnswerError, match="no file"):
        AnswerFile(tmp_path)


def test_a_broken_row_is_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,age\nMale,20\nBob Smith,yes,positive\n")
    with pytest.raises(AnswerError) as error:
        list(AnswerFile(path))
    assert "1 row does not have the 2 columns of the first (row 2 has 3)" in str(error.value)
    assert "Bob" not in str(error.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_all_rows_with_other_columns_are_counted(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "people.csv"
    rows = ["ä;b", '1;"x\n;"', "2", "1;2;3", "", "1;y", "1;2;3", "1;2;3;4"]
    path.write_text("\n".join(rows), encoding=encoding)
    with pytest.raises(AnswerError) as error:
        list(AnswerFile(path))
    told = (
        "4 rows do not have the 2 columns of the first (row 2 has 1, row 3 has 3, row 5 has 3, ...)"
    )
    assert told in str(error.value)
    path.write_text("\n".join(rows[:2]), encoding=encoding)
    assert sum(batch.num_rows for batch in AnswerFile(path)) == 1
