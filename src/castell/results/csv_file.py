"""Tables as CSV that a spreadsheet shows and does not run."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

# What begins so is a formula to Excel, LibreOffice or Google Sheets (OWASP, "CSV Injection"); the
# last four are the wide forms that some of them take for the same.
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001


def as_text(text: str) -> str:
    """A text that no spreadsheet takes for a formula: with an apostrophe before it if it would be.

    >>> as_text("=1+1"), as_text("18-29")
    ("'=1+1", '18-29')
    """
    return f"'{text}" if text.startswith(FORMULAS) else text


def csv_bytes(columns: Mapping[str, Any]) -> bytes:
    """Columns as CSV in UTF-8; texts are quoted, numbers are not.

    Names and values come from whoever wrote the study, and the file is opened by somebody else.
    """
    import pyarrow as pa
    from pyarrow import csv

    safe = {
        as_text(name): [as_text(x) if isinstance(x, str) else x for x in list(column)]
        for name, column in columns.items()
    }
    sink = io.BytesIO()
    csv.write_csv(pa.table(safe), sink)
    return sink.getvalue()
