"""Parquet files of tallies: the different reports, and a column with how often each came."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from castell.counting.kernels import Integers
from castell.errors import ReportError
from castell.reports.arrow_metadata import check_study, marked_schema
from castell.reports.codes import column_names, column_types
from castell.reports.report_files import file_system, is_address
from castell.study.atomic_write import whole_file
from castell.study.study import Study

if TYPE_CHECKING:
    import pyarrow as pa

# The column of a file that says how often a report came.
TIMES = "castell.times"


def counted_table(
    study: Study, columns: Sequence[NDArray[Any]], times: Integers, *, secure: bool
) -> pa.Table:
    """Different reports and how often each came; the schema says of which study."""
    import pyarrow as pa

    types = {**column_types(study), TIMES: np.dtype(np.int64)}
    schema = marked_schema(types, study.digest, secure=secure)
    return pa.Table.from_arrays([pa.array(each) for each in (*columns, times)], schema=schema)


def counted_reports(
    table: pa.Table, study: Study, what: str
) -> tuple[list[NDArray[Any]], Integers]:
    """The way back: the columns of the reports, and how often each came."""
    names = column_names(study)
    check_study(what, table.schema, study.digests, [*names, TIMES])
    if any(column.null_count for column in table.columns):
        raise ReportError(f"{what} has missing reports", "it is damaged")
    *columns, times = (column.to_numpy() for column in table.columns)
    if times.dtype.kind != "i" or (len(times) and times.min() < 1):
        raise ReportError(f"{what} has reports that came less than once", "it is damaged")
    return columns, times.astype(np.int64)


def write_counted(path: Path, table: pa.Table) -> None:
    """Write a file, all of it or nothing."""
    import pyarrow.parquet as pq

    if not path.parent.is_dir():
        raise ReportError(f"there is no folder {path.parent}", "make it first")
    with whole_file(path) as part:
        pq.write_table(table, part, compression="zstd")


def read_counted(path: str | Path) -> pa.Table | None:
    """What a Parquet file holds; none if it is no tally at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    system, name = file_system(str(path)) if is_address(path) else (None, path)
    try:
        if TIMES not in pq.read_schema(name, filesystem=system).names:
            return None
        return pq.read_table(name, filesystem=system, partitioning=None)
    except (pa.ArrowInvalid, OSError):
        return None
