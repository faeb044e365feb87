"""A table of results for a paper or a spreadsheet: Markdown, LaTeX, Excel."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from castell.display.number_text import number_text
from castell.errors import MissingExtraError
from castell.results.csv_file import as_text, csv_bytes

Columns = Mapping[str, Sequence[Any]]

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}


def markdown(columns: Columns) -> str:
    """A table as Markdown.

    >>> print(markdown({"a|b": ["x"], "share": [0.25]}))
    | a\\|b | share |
    |:---|---:|
    | x | 0.2500 |
    """
    names = [_markdown(name) for name in columns]
    numeric = [_is_numeric(values) for values in columns.values()]
    lines = [
        f"| {' | '.join(names)} |",
        f"|{'|'.join('---:' if number else ':---' for number in numeric)}|",
    ]
    rows = zip(*columns.values(), strict=True)
    lines += [f"| {' | '.join(_markdown(_cell_text(cell)) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def latex(columns: Columns) -> str:
    """A table as LaTeX, for the package booktabs."""
    kinds = "".join("r" if _is_numeric(values) else "l" for values in columns.values())
    lines = [f"\\begin{{tabular}}{{{kinds}}}", "\\toprule", _row(columns), "\\midrule"]
    lines += [_row(map(_cell_text, row)) for row in zip(*columns.values(), strict=True)]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])


def excel_bytes(columns: Columns) -> bytes:
    """A table as an Excel workbook with one sheet (extra `excel`); texts are never formulas."""
    try:
        from openpyxl import Workbook
    except ImportError:
        raise MissingExtraError(
            "openpyxl is not installed", "pip install 'castell[excel]', or write CSV"
        ) from None
    book = Workbook()
    sheet = book.worksheets[0]
    sheet.append([as_text(name) for name in columns])
    for row in zip(*columns.values(), strict=True):
        sheet.append([as_text(cell) if isinstance(cell, str) else _number(cell) for cell in row])
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def table_bytes(columns: Columns, kind: str) -> bytes:
    """A table in one of the formats: csv, md, latex or excel."""
    if kind == "csv":
        return csv_bytes(columns)
    if kind == "excel":
        return excel_bytes(columns)
    return ((markdown if kind == "md" else latex)(columns) + "\n").encode()


def _row(cells: Any) -> str:
    return " & ".join("".join(_LATEX.get(c, c) for c in str(cell)) for cell in cells) + r" \\"


def _markdown(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())


def _is_numeric(values: Sequence[Any]) -> bool:
    return not any(isinstance(value, str) for value in values)


def _number(cell: Any) -> float | None:
    return float(cell) if cell is not None and isfinite(cell) else None


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""  # there is no such number
    if isinstance(cell, str):
        return cell
    if isinstance(cell, (bool, np.bool_)):
        return "yes" if cell else "no"
    if isinstance(cell, (int, np.integer)):
        return f"{cell:,}"
    if (number := _number(cell)) is None:
        return "not known"
    return f"{number:.4f}" if abs(number) < 100 else number_text(number, 6)
