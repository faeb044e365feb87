"""Counting reports in frames: DuckDB, Polars, and whatever else narwhals knows.

A lazy frame is counted where it is: a table of reports is one grouped count, which the database
works out. Frames in memory are reports in memory. A frame says neither of which study its reports
are nor whether they were made with a seed: its columns and codes are checked, and `secure=True`
vouches for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting.counts import Counts, MemoryCounts, Progress
from castell.counting.kernels import Integers
from castell.counting.unordered_reports import Unordered, codes_of_batch
from castell.errors import ReportError
from castell.reports.codes import check_codes, column_names, join_parts
from castell.reports.lazy_frames import arrow_batches
from castell.reports.parquet import ROW_GROUP
from castell.reports.reports import Reports
from castell.study.design import Axis
from castell.study.study import Study

TAKES = ("secure",)
# Tables with more cells are counted here: a database would sort all reports for them.
FEW_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class FrameCounts(Unordered):
    """The counts of a lazy frame."""

    frame: Any
    study: Study
    n: int
    secure: bool
    backend: str | None = None
    progress: Progress | None = field(default=None, repr=False)

    def stream(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        names = column_names(self.study)
        for batch in arrow_batches(self.frame, [names[i] for i in blocks], ROW_GROUP):
            yield codes_of_batch(batch)

    def table(self, axes: Sequence[Axis]) -> Integers:
        shape = tuple(axis.size for axis in axes)
        if prod(shape) > FEW_CELLS:
            return super().table(axes)
        import narwhals as nw

        names = column_names(self.study)
        key: Any = None
        for axis in axes:
            digit = nw.col(names[axis.block]).cast(nw.Int64())
            if axis.stride > 1:
                digit = digit // axis.stride
            if axis.inner:
                digit = digit % axis.size
            key = digit if key is None else key * axis.size + digit
        grouped = _lazy(self.frame).select(key.alias("key")).group_by("key")
        found = grouped.agg(nw.len().alias("n")).collect(backend="pyarrow").to_native()
        keys, each = codes_of_batch(found.select(["key", "n"]))
        if len(keys) and not 0 <= keys.min() <= keys.max() < prod(shape):
            raise ReportError("some code is not a report of the study", "check the frame's columns")
        table: Integers = np.zeros(prod(shape), dtype=np.int64)
        table[keys.astype(np.intp)] = each.astype(np.int64)
        self._same(int(table.sum()))
        if self.progress:
            self.progress(1.0)
        return table.reshape(shape)


def open(
    source: Any, study: Study, progress: Progress | None, *, secure: bool | None = None
) -> Counts:
    """Reports in a frame of any library that narwhals knows, or in an Arrow stream."""
    import pyarrow as pa

    if isinstance(source, pa.RecordBatchReader):
        source = source.read_all()
    if isinstance(source, pa.Table) and b"castell.digest" in (source.schema.metadata or {}):
        return MemoryCounts(Reports.from_arrow(source, study))
    names = column_names(study)
    present = _columns(source)
    for name in names:
        if name not in present:
            raise ReportError(
                f"the frame has no column {name!r}",
                f"reports of this study have {', '.join(map(repr, names))}",
            )
    mark = bool(secure)
    if not _is_lazy(source):
        parts = map(codes_of_batch, arrow_batches(source, names, ROW_GROUP))
        return MemoryCounts(Reports(study, join_parts(study, parts), secure=mark))
    return FrameCounts(source, study, _rows(source, study), mark, progress=progress)


def opens(source: Any) -> bool:
    if isinstance(source, (str, Path, list, tuple, dict)):
        return False
    import narwhals as nw

    if hasattr(source, "__arrow_c_stream__"):
        return True
    return isinstance(nw.from_native(source, pass_through=True), (nw.DataFrame, nw.LazyFrame))


def _lazy(frame: Any) -> Any:
    import narwhals as nw

    return nw.from_native(frame).lazy()


def _is_lazy(frame: Any) -> bool:
    import narwhals as nw

    return isinstance(nw.from_native(frame, pass_through=True), nw.LazyFrame)


def _columns(frame: Any) -> list[str]:
    found: list[str] = _lazy(frame).collect_schema().names()
    return found


def _rows(frame: Any, study: Study) -> int:
    """How many reports there are, in a pass that refuses what can be none."""
    import narwhals as nw

    names = column_names(study)
    asked = [nw.len().alias("n")]
    for i, name in enumerate(names):
        column = nw.col(name)
        asked += [column.min().alias(f"low{i}"), column.max().alias(f"high{i}")]
        asked.append(column.is_null().sum().alias(f"null{i}"))
    (found,) = _lazy(frame).select(*asked).collect(backend="pyarrow").to_native().to_pylist()
    for i, (name, width) in enumerate(zip(names, study.design.widths, strict=True)):
        if found[f"null{i}"]:
            raise ReportError(f"{name!r} has missing reports", "take them out, or again")
        # One by one: NumPy has no whole numbers for both -1 and 2^64 - 1.
        for extreme in (found[f"low{i}"], found[f"high{i}"]) if found["n"] else ():
            check_codes(name, width, np.array([extreme]))
    return int(found["n"])
