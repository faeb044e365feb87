"""Files of answers as they come: read as they are meant, or told in one line what to do."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any

import pytest

from castell import Attribute, Schema, Study, randomize_file
from castell.device.answer_file import AnswerFile
from castell.device.encode import encode
from castell.errors import AnswerError, MissingExtraError

TEXT = "name;age;pay\nJürgen;20;1,5\nZoë;30;2,25\n"
ROWS = {"name": ["Jürgen", "Zoë"], "age": ["20", "30"], "pay": ["1,5", "2,25"]}


def read(path: Path, names: list[str] | None = None) -> tuple[dict[str, list[Any]], list[str]]:
    file = AnswerFile(path, names)
    found: dict[str, list[Any]] = {}
    for batch in file:
        for name in batch.column_names:
            found.setdefault(name, []).extend(batch[name].to_pylist())
    assert file.rows == len(next(iter(found.values())))
    assert file.done == 1.0
    return found, file.remarks


@pytest.mark.parametrize(
    ("separator", "called"),
    [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")],
)
def test_any_separator_is_seen_and_said(separator: str, called: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(TEXT.replace(";", separator), encoding="utf-8")
    assert read(path) == (ROWS, [f"people.csv is separated by {called}"])
    assert read(path, ["age"])[0] == {"age": ROWS["age"]}


def test_commas_stay_commas(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('a,b\n"x;y;z","1|2"\n"u;v;w","3|4"\n')
    assert read(path) == ({"a": ["x;y;z", "u;v;w"], "b": ["1|2", "3|4"]}, [])
    path.write_text("only\nx\ny\n")
    assert read(path) == ({"only": ["x", "y"]}, [])


@pytest.mark.parametrize(
    ("encoding", "remarks"),
    [
        ("utf-8", 1),
        ("utf-8-sig", 1),
        ("utf-16", 1),
        ("utf-16-be-bom", 1),
        ("cp1252", 2),
    ],
)
def test_any_encoding(encoding: str, remarks: int, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    if encoding == "utf-16-be-bom":
        data = b"\xfe\xff" + TEXT.encode("utf-16-be")
    else:
        data = TEXT.encode(encoding)
    path.write_bytes(data)
    found, said = read(path)
    assert found == ROWS
    assert len(said) == remarks
    assert ("Windows-1252" in said[0]) == (remarks == 2)


def test_bytes_that_are_no_utf8_far_into_a_file(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\n" + b"x,y\n" * 100_000 + b"\xe4,y\n")
    found, said = read(path)
    assert found["a"][-1] == "ä"
    assert "Windows-1252" in said[0]


def test_packed_files(tmp_path: Path) -> None:
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    assert read(path)[0] == ROWS
    many = "a,b\n" + "x,1\n" * 300_000
    path.write_bytes(gzip.compress(many.encode()))
    assert len(read(path)[0]["a"]) == 300_000
    path.write_bytes(gzip.compress(TEXT.encode())[:-9])
    with pytest.raises(AnswerError, match="cannot read"):
        read(path)


def test_headers_in_quotes_over_two_lines_and_twice(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('"how\nold","sex","sex"\n20,f,g\n')
    found, said = read(path)
    assert found == {"how\nold": ["20"], "sex": ["f"], "sex (2)": ["g"]}
    assert said == ["2 columns are called 'sex': rename all but one of them"]
    # Those that nobody asks for do not matter; those that are asked for must be clear.
    assert read(path, ["how\nold"]) == ({"how\nold": ["20"]}, [])
    with pytest.raises(AnswerError, match="two columns 'sex'"):
        read(path, ["sex"])


def excel(path: Path, *rows: list[Any], sheets: int = 1) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    for _ in range(sheets - 1):
        book.create_sheet()
    book.save(path)
    return path


def test_excel_says_what_a_person_sees(tmp_path: Path) -> None:
    import datetime

    path = excel(
        tmp_path / "people.xlsx",
        ["sex", "age ", "ok", "born", None],
        ["f", 20.0, True, datetime.datetime(2024, 1, 2), None],
        [None, None, None, None, None],
        ["m", None, False, datetime.datetime(2024, 1, 2, 3, 4), 7],
        sheets=2,
    )
    found, said = read(path)
    assert found == {
        "sex": ["f", "m"],
        "age": ["20", ""],
        "ok": ["true", "false"],
        "born": ["2024-01-02", "2024-01-02 03:04:00"],
    }
    assert said == ["people.xlsx has 2 sheets: read is the first, 'Sheet'"]
    schema = Schema([Attribute("sex", ["f", "m"]), Attribute("ok", type="boolean")])
    (batch,) = AnswerFile(path, schema.names)
    assert encode(schema, batch)["ok"].tolist() == [1, 0]


def test_excel_without_the_extra_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = excel(tmp_path / "people.xlsx", ["sex"], ["f"])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"castell\[excel\]"):
        list(AnswerFile(path))


def test_a_whole_file_is_looked_through_for_bad_answers(tmp_path: Path) -> None:
    study = Study([Attribute("sex", ["f", "m"])], epsilon=1.0)
    path, target = tmp_path / "people.csv", tmp_path / "reports.parquet"
    rows = ["f"] * 300_000
    rows[0] = rows[150_000] = rows[-1] = "w"
    path.write_text("sex;x\n" + "".join(f"{row};{'y' * 20}\n" for row in rows))
    with pytest.raises(AnswerError, match=r"^3 answers .*'w' in rows 1, 150001, 300000"):
        randomize_file(study, path, target)
    assert not target.exists()
    remarks: list[str] = []
    path.write_text("sex;x\nf;1\n")
    assert randomize_file(study, path, target, remarks=remarks.append) == 1
    assert remarks == ["people.csv is separated by semicolons"]
