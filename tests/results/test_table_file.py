"""Tables for papers and spreadsheets say what was estimated, and nothing in them runs."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from openpyxl import load_workbook

from castell.errors import MissingExtraError
from castell.results.table_file import excel_bytes, latex, markdown, table_bytes

COLUMNS: dict[str, list[Any]] = {
    "a_b": ["x & y", "50%|#", "=1+1", "$\\{}~^<>"],
    "share": [0.25, float("nan"), 1.0, 123456.7],
}


def test_markdown_keeps_its_columns() -> None:
    lines = markdown(COLUMNS).splitlines()
    assert lines[:2] == ["| a_b | share |", "|:---|---:|"]
    assert lines[2] == "| x & y | 0.2500 |"
    assert lines[3] == "| 50%\\|# | not known |"
    assert lines[5].endswith("| 123457 |")
    assert markdown({"a\nb": ["c\nd"]}).splitlines()[0] == "| a b |"


def test_latex_is_escaped() -> None:
    lines = latex(COLUMNS).splitlines()
    assert lines[0] == r"\begin{tabular}{lr}"
    assert lines[2] == r"a\_b & share \\"
    assert lines[4] == r"x \& y & 0.2500 \\"
    assert lines[5] == r"50\%|\# & not known \\"
    expected = r"\$\textbackslash{}\{\}\textasciitilde{}\textasciicircum{}"
    assert lines[7] == expected + r"\textless{}\textgreater{} & 123457 \\"
    assert lines[-1] == r"\end{tabular}"


def test_excel_holds_numbers_and_no_formulas() -> None:
    sheet = load_workbook(io.BytesIO(excel_bytes(COLUMNS))).worksheets[0]
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == ("a_b", "share")
    assert rows[1] == ("x & y", 0.25)
    assert rows[2][1] is None
    assert rows[3][0] == "'=1+1"
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)


def test_excel_without_the_extra_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"castell\[excel\]"):
        table_bytes(COLUMNS, "excel")


def test_counts_truths_and_large_numbers_are_written_as_people_write_them() -> None:
    rows: dict[str, list[float]] = {
        "n": [3000],
        "associated": [True],
        "income": [1_234_567.8],
        "hours": [123.456],
    }
    assert markdown(rows).splitlines()[-1] == "| 3,000 | yes | 1,234,568 | 123.456 |"
