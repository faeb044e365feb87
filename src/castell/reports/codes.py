"""The codes of reports: the names and types of their columns, and which codes there can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.errors import ReportError
from castell.study.study import Study


def code_type(outputs: int) -> np.dtype[Any]:
    """The smallest unsigned integers that hold every report of a channel."""
    return np.min_scalar_type(outputs - 1)


def column_names(study: Study) -> list[str]:
    """A name for each column."""
    return list(study.design.columns)


def column_types(study: Study) -> dict[str, np.dtype[Any]]:
    """The columns of a study's reports and the integers in them."""
    return dict(zip(column_names(study), study.design.code_types, strict=True))


def check_codes(name: str, outputs: int, codes: NDArray[Any], first_row: int = 1) -> NDArray[Any]:
    """A column of codes, refused if one of them cannot be such a report."""
    codes = np.asarray(codes)
    if codes.ndim != 1 or codes.dtype.kind not in "ui":
        raise ReportError(
            f"the reports of {name!r} are {codes.dtype} in {codes.ndim} dimensions",
            "reports are one column of integers for each block",
        )
    if len(codes) and (codes.max() >= outputs or codes.min() < 0):
        row = int(np.flatnonzero((codes >= outputs) | (codes < 0))[0])
        raise ReportError(
            f"row {row + first_row}, {name!r}: {codes[row]} is not a report",
            f"codes run from 0 to {outputs - 1}; the file is damaged or forged",
        )
    return codes.astype(code_type(outputs), copy=False)


def join_parts(study: Study, parts: Iterable[Sequence[NDArray[Any]]]) -> list[NDArray[Any]]:
    """Columns that came some rows at a time, whole."""
    empty = [np.empty(0, kind) for kind in study.design.code_types]
    return [np.concatenate(column) for column in zip(*parts, strict=True)] or empty
