"""Tallies: how often each report came. Counts that can be kept, added and subtracted.

A new day is added, a withdrawn collection is taken out, and nothing is counted twice. A tally says
all that its reports say except in which order they came. Of few possible reports it is small
however many came; of many it is as large as the reports.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from castell.counting.counts import ByBatches, Counts, MemoryCounts, missing_of, once
from castell.counting.kernels import Integers, Sum
from castell.counting.stages import Stages
from castell.display.one_line import one_line
from castell.errors import ReportError
from castell.reports.arrow_metadata import check_study, is_secure, marked_schema
from castell.reports.codes import check_codes, column_names, column_types, join_parts
from castell.reports.parquet import ROW_GROUP
from castell.reports.report_files import file_system, is_address
from castell.reports.reports import Reports
from castell.study.design import Axis
from castell.study.study import Study

if TYPE_CHECKING:
    import pyarrow as pa

# So many possible reports are counted in one table.
FEW_REPORTS = 1 << 20
# The column of a file that says how often a report came.
TIMES = "castell.times"


@dataclass(frozen=True, eq=False, repr=False)
class Tally(ByBatches):
    """How often each report came: the different ones, ordered by what they say."""

    study: Study
    columns: tuple[NDArray[Any], ...]
    times: Integers
    secure: bool
    backend: str | None = None

    @classmethod
    def of(
        cls,
        study: Study,
        columns: Sequence[NDArray[Any]],
        times: Integers | None = None,
        *,
        secure: bool,
        backend: str | None = None,
    ) -> Tally:
        """Reports, each as often as `times` says, or once."""
        codes = [
            check_codes(name, width, column)
            for name, width, column in zip(
                column_names(study), study.design.widths, columns, strict=True
            )
        ]
        each = np.ones(len(codes[0]), dtype=np.int64) if times is None else times
        found, counted = _distinct(study.design.widths, codes, each)
        for array in (*found, counted):
            array.flags.writeable = False
        return cls(study, tuple(found), counted, secure, backend)

    @cached_property
    def n(self) -> int:
        return int(self.times.sum())

    def __repr__(self) -> str:
        facts = [f"n = {self.n:,}", f"{len(self.times):,} different"]
        facts += [] if self.secure else ["INSECURE (seeded)"]
        return one_line("Tally", f"of {self.study.name!r}", facts)

    def add_up(self, *totals: Sum) -> None:
        often = self.times if len(self.times) < self.n else None
        for total in totals:
            total.add(dict(enumerate(self.columns)), len(self.times), often)

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        ends = np.cumsum(self.times)
        for start in range(0, self.n, ROW_GROUP):
            stop = min(start + ROW_GROUP, self.n)
            low, high = np.searchsorted(ends, [start, stop - 1], side="right")
            part = slice(int(low), int(high) + 1)
            often = np.minimum(ends[part], stop) - np.maximum(ends[part] - self.times[part], start)
            yield [np.repeat(self.columns[i][part], often) for i in blocks]

    def __add__(self, other: object) -> Tally:
        return self._with(other, 1)

    def __sub__(self, other: object) -> Tally:
        return self._with(other, -1)

    def _with(self, other: object, sign: int) -> Tally:
        if not isinstance(other, Tally):
            raise ReportError(
                f"a {type(other).__name__} is no tally", "make one: castell.tally(reports)"
            )
        if other.study != self.study:
            raise ReportError(
                f"tallies of {self.study.name!r} ({self.study.digest[:12]}) and of "
                f"{other.study.name!r} ({other.study.digest[:12]}) are of two studies",
                "castell.fit([one, other]) estimates from both",
            )
        columns = join_parts(self.study, [self.columns, other.columns])
        times = np.concatenate([self.times, sign * other.times])
        found, counted = _distinct(self.study.design.widths, columns, times)
        if (counted < 0).any():
            raise ReportError(
                f"{-int(counted[counted < 0].sum()):,} reports to take out are not there",
                "subtract what was added before",
            )
        left = counted > 0
        return Tally(
            self.study,
            tuple(column[left] for column in found),
            counted[left],
            # What was mixed with seeded reports can no longer be told apart from them.
            self.secure and other.secure,
            self.backend,
        )

    def save(self, path: str | Path) -> None:
        """Write a Parquet file, which `castell.scan_reports` opens."""
        import pyarrow.parquet as pq

        target = Path(path)
        if not target.parent.is_dir():
            raise ReportError(f"there is no folder {target.parent}", "make it first")
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            pq.write_table(self.to_arrow(), part, compression="zstd")
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def to_arrow(self) -> pa.Table:
        """The different reports and how often each came; the schema says of which study."""
        import pyarrow as pa

        types = {**column_types(self.study), TIMES: np.dtype(np.int64)}
        schema = marked_schema(types, self.study.digest, secure=self.secure)
        arrays = [pa.array(column) for column in (*self.columns, self.times)]
        return pa.Table.from_arrays(arrays, schema=schema)

    @classmethod
    def from_arrow(cls, table: pa.Table, study: Study, what: str = "the table") -> Tally:
        names = column_names(study)
        check_study(what, table.schema, study.digests, [*names, TIMES])
        if any(column.null_count for column in table.columns):
            raise ReportError(f"{what} has missing reports", "it is damaged")
        *columns, times = (column.to_numpy() for column in table.columns)
        if times.dtype.kind != "i" or (len(times) and times.min() < 1):
            raise ReportError(f"{what} has reports that came less than once", "it is damaged")
        return cls.of(study, columns, times.astype(np.int64), secure=is_secure(table.schema))


def read_tally(path: str | Path, study: Study) -> Tally | None:
    """The tally that a Parquet file holds; none if it holds no tally at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    system, name = file_system(str(path)) if is_address(path) else (None, path)
    try:
        if TIMES not in pq.read_schema(name, filesystem=system).names:
            return None
        table = pq.read_table(name, filesystem=system, partitioning=None)
    except (pa.ArrowInvalid, OSError):
        return None
    return Tally.from_arrow(table, study, str(path))


def tally(reports: Reports | Counts) -> Tally:
    """How often each report came: counts that can be saved, added and subtracted.

    >>> from castell import Attribute, Schema
    >>> study = Study(Schema([Attribute("sex", ["Female", "Male"])]), epsilon=4.0)
    >>> monday, tuesday = (study.randomize({"sex": ["Male"] * n}) for n in (300, 200))
    >>> both = tally(monday) + tally(tuesday)
    >>> both.n, (both - tally(monday)).n
    (500, 200)
    """
    if isinstance(reports, Reports):
        return tally_of(MemoryCounts(reports))
    if missing_of(reports):
        raise ReportError(
            f"a {type(reports).__name__} holds no reports",
            "give what study.randomize returned, or scan_reports('reports.parquet', study)",
        )
    return tally_of(reports)


def tally_of(counts: Counts) -> Tally:
    """How often each report came. Of few possible reports, one table; of many, all of them."""
    if isinstance(counts, Tally):
        return counts
    if isinstance(counts, Stages):
        raise ReportError(
            "reports of several studies have no tally in common", "tally those of each study"
        )
    return _tally(counts)


@once
def _tally(counts: Counts) -> Tally:
    study, widths = counts.study, counts.study.design.widths
    secure, backend = counts.secure, counts.backend
    if is_narrow(study):
        table = counts.table([Axis(i, 1, width, inner=False) for i, width in enumerate(widths)])
        came = np.nonzero(table)
        columns = [
            codes.astype(kind) for codes, kind in zip(came, study.design.code_types, strict=True)
        ]
        return Tally(study, tuple(columns), table[came], secure, backend)
    every = join_parts(study, counts.batches(range(len(widths))))
    return Tally.of(study, every, secure=secure, backend=backend)


def is_narrow(study: Study) -> bool:
    """Whether all possible reports of a study fit in one table."""
    return prod(study.design.widths) <= FEW_REPORTS


def _distinct(
    widths: Sequence[int], columns: Sequence[NDArray[Any]], times: Integers
) -> tuple[list[NDArray[Any]], Integers]:
    """The different reports in order, and the sum of the times of each; none that came 0 times."""
    words = _words(widths, columns)
    order = np.lexsort(words[::-1])
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for word in words:
        new[1:] |= word[order[1:]] != word[order[:-1]]
    first = np.flatnonzero(new)
    counted = np.add.reduceat(times[order], first) if len(first) else times[:0]
    came = counted != 0
    kept = order[first[came]]
    return [column[kept] for column in columns], counted[came].astype(np.int64)


def _words(widths: Sequence[int], columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Reports as few numbers as hold them, in mixed radix, the last column fastest."""
    words: list[NDArray[Any]] = []
    room = 0
    for width, column in zip(widths, columns, strict=True):
        if room >= width > 0:
            words[-1] = words[-1] * np.uint64(width) + column.astype(np.uint64)
            room //= width
        else:
            words.append(column.astype(np.uint64))
            room = 2**64 // width
    return words
