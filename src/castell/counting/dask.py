"""Counting on many machines with Dask: each part is counted where it is, then sums are added.

What travels is a question to every part, and whole numbers back. Parts are counted by functions
without side effects, so one that is lost with its worker is counted again, to the same numbers.
Files must have the same path, or address, on every worker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from numpy.typing import NDArray

from castell.counting.counts import Counts, Progress, add_batches
from castell.counting.dask_clients import Connection, connect
from castell.counting.kernels import Integers, Sum, TableSum, include
from castell.counting.parquet import ParquetCounts, Scanned
from castell.counting.parquet import open as open_parquet
from castell.counting.unordered_reports import Unordered, codes_of_batch
from castell.errors import OptionError, ReportError
from castell.reports.codes import check_codes, column_names
from castell.reports.lazy_frames import arrow_batches
from castell.reports.parquet import ROW_GROUP
from castell.study.design import Axis
from castell.study.study import Study

TAKES = ("address", "secure")
# Reports of a task, at least: fewer cost more to send than to count.
PART = 1 << 22
# How often a part may fail for reasons of its own, such as a disk that is away for a moment.
RETRIES = 3

Added = list[list[Integers]]


def _gather(client: Any, futures: list[Any], totals: tuple[Sum, ...], tell: Any) -> None:
    """Add up all parts as they are done. Interrupted, nothing of it goes on."""
    from distributed import as_completed

    try:
        for done, (future, added) in enumerate(
            as_completed(futures, loop=client.loop, with_results=True), 1
        ):
            for total, arrays in zip(totals, added, strict=True):
                include(total, arrays)
            future.release()
            if tell:
                tell(done / len(futures))
    except BaseException:
        client.cancel(futures)
        raise


def _add_files(
    files: Sequence[tuple[Scanned, tuple[int, ...]]], study: Study, totals: tuple[Sum, ...]
) -> Added:
    for file, groups in files:
        add_batches(partial(file.batches, study, groups=groups), *totals)
    return [list(total.arrays) for total in totals]


@dataclass(frozen=True, eq=False)
class DaskFiles(ParquetCounts):
    """Parquet files that the workers of a cluster count."""

    # After fields that have a default, so it must have one too; `open` always gives it.
    connection: Connection = field(default=None, repr=False)  # type: ignore[assignment]

    def add_up(self, *totals: Sum) -> None:
        client = self.connection.client
        # Sums are sent empty, so that each part begins at nothing.
        futures = [
            client.submit(_add_files, files, self.study, totals, pure=False, retries=RETRIES)
            for files in _parts(self.files)
        ]
        _gather(client, futures, totals, self.progress)


def _parts(files: Sequence[Scanned]) -> Iterator[list[tuple[Scanned, tuple[int, ...]]]]:
    """Row groups of files, so many at a time that a task is worth sending."""
    part: list[tuple[Scanned, tuple[int, ...]]] = []
    rows = 0
    for file in files:
        few = max(1, file.groups * PART // max(1, file.n))
        for start in range(0, file.groups, few):
            groups = tuple(range(start, min(start + few, file.groups)))
            part.append((file, groups))
            rows += file.n * len(groups) // file.groups
            if rows >= PART:
                yield part
                part, rows = [], 0
    if part:
        yield part


def _add_frame(frame: Any, study: Study, totals: tuple[Sum, ...]) -> Added:
    add_batches(partial(_frame_batches, frame, study), *totals)
    return [list(total.arrays) for total in totals]


def _frame_batches(frame: Any, study: Study, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
    names, widths = column_names(study), study.design.widths
    for batch in arrow_batches(frame, [names[i] for i in blocks], ROW_GROUP):
        yield [
            check_codes(names[i], widths[i], codes)
            for i, codes in zip(blocks, codes_of_batch(batch), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class DaskFrame(Unordered):
    """A Dask data frame of reports, counted by its partitions."""

    frame: Any
    study: Study
    n: int
    secure: bool
    connection: Connection = field(repr=False)
    backend: str | None = None
    progress: Progress | None = field(default=None, repr=False)

    def add_up(self, *totals: Sum) -> None:
        rows = TableSum([[_first_axis(self.study)]])
        _add_partitions(self, (rows, *totals))
        self._same(int(rows.arrays[0].sum()))

    def stream(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        for part in self.frame.to_delayed():
            found = self.connection.client.compute(part).result()
            yield from _frame_batches(found, self.study, blocks)


def _first_axis(study: Study) -> Axis:
    return Axis(0, 1, study.design.widths[0], inner=False)


def _add_partitions(counts: DaskFrame, totals: tuple[Sum, ...]) -> None:
    from dask import delayed

    client, task = counts.connection.client, delayed(_add_frame, pure=False)
    parts = [task(part, counts.study, totals) for part in counts.frame.to_delayed()]
    _gather(client, client.compute(parts, retries=RETRIES), totals, counts.progress)


def open(
    source: Any,
    study: Study,
    progress: Progress | None,
    *,
    address: str | None = None,
    secure: bool | None = None,
) -> Counts:
    """Parquet files, or a Dask data frame, to be counted by a cluster."""
    connection = connect(address)
    if _is_frame(source):
        _check_columns(source, study)
        empty = DaskFrame(source, study, 0, bool(secure), connection)
        rows = TableSum([[_first_axis(study)]])
        _add_partitions(empty, (rows,))
        n = int(rows.arrays[0].sum())
        return DaskFrame(source, study, n, bool(secure), connection, progress=progress)
    if secure is not None:
        raise OptionError("files say themselves whether they are secure", "leave secure out")
    found = open_parquet(source, study, progress)
    if not isinstance(found, ParquetCounts):
        return found  # tallies are counted already
    return DaskFiles(found.files, study, progress=progress, connection=connection)


def opens(source: Any) -> bool:
    return _is_frame(source)


def _is_frame(source: Any) -> bool:
    return type(source).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(
        source, "to_delayed"
    )


def _check_columns(frame: Any, study: Study) -> None:
    lacking = [name for name in column_names(study) if name not in list(frame.columns)]
    if lacking:
        raise ReportError(
            f"the frame has no column {lacking[0]!r}",
            f"reports of this study have {', '.join(map(repr, column_names(study)))}",
        )
