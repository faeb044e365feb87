"""Tallies: how often each report came, of all respondents or of a sample of them.

Tallies are counts that can be kept, added and subtracted. A new day is added, a withdrawn
collection is taken out, and nothing is counted twice. A tally says all that its reports say except
in which order they came. Of few possible reports it is small however many came; of many it is as
large as the reports.

A sample is the reports of all respondents who reported the same blocks. Where everybody reports
every block there is one, of all reports. Where each respondent reports one block that was drawn,
every block has a sample, and its tally is of a study of its own: that block and the public
attributes, which everybody in it reports. So whatever works on one sample works in any design.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
from castell.counting.tally_file import counted_reports, counted_table, read_counted, write_counted
from castell.display.one_line import one_line
from castell.errors import ReportError
from castell.reports.arrow_metadata import is_secure
from castell.reports.codes import check_codes, column_names, join_parts
from castell.reports.parquet import ROW_GROUP
from castell.reports.reports import Reports
from castell.study.design import Axis, Design
from castell.study.schema import Schema, check_cells
from castell.study.study import Study

if TYPE_CHECKING:
    import pyarrow as pa

# So many possible reports are counted in one table.
FEW_REPORTS = 1 << 20


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

    @classmethod
    def of_table(
        cls, study: Study, table: Integers, *, secure: bool, backend: str | None = None
    ) -> Tally:
        """From the table of all possible reports, with an axis for each block."""
        came = np.nonzero(table)
        columns = tuple(
            codes.astype(kind) for codes, kind in zip(came, study.design.code_types, strict=True)
        )
        return cls(study, columns, table[came], secure, backend)

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
        write_counted(Path(path), self.to_arrow())

    def to_arrow(self) -> pa.Table:
        """The different reports and how often each came; the schema says of which study."""
        return counted_table(self.study, self.columns, self.times, secure=self.secure)

    @classmethod
    def from_arrow(cls, table: pa.Table, study: Study, what: str = "the table") -> Tally:
        columns, times = counted_reports(table, study, what)
        return cls.of(study, columns, times, secure=is_secure(table.schema))


def read_tally(path: str | Path, study: Study) -> Tally | None:
    """The tally that a Parquet file holds; none if it holds no tally at all."""
    table = read_counted(path)
    return None if table is None else Tally.from_arrow(table, study, str(path))


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
        return Tally.of_table(
            study, counts.table(whole_codes(widths)), secure=secure, backend=backend
        )
    every = join_parts(study, counts.batches(range(len(widths))))
    return Tally.of(study, every, secure=secure, backend=backend)


def whole_codes(widths: Sequence[int]) -> list[Axis]:
    """The axes of columns of reports, each of them whole."""
    return [Axis(i, 1, width, inner=False) for i, width in enumerate(widths)]


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


# -- samples ---------------------------------------------------------------------------------------


def sample_studies(study: Study) -> tuple[Study, ...]:
    """What the respondents of each sample report, as a study of their own."""
    found = []
    for together in study.design.samples:
        if len(together) == len(study.design.blocks):
            return (study,)
        design = Design(tuple(study.design.blocks[i] for i in together))
        schema = Schema(study.schema.select([n for b in design.blocks for n in b.names]))
        found.append(Study(schema, design=design, name=study.name))
    return tuple(found)


@once
def samples_of(counts: Counts) -> tuple[Counts, ...]:
    """The samples of some reports, counted in one pass."""
    if isinstance(counts, Stages):
        return tuple(sample for part in counts.parts for sample in samples_of(part))
    design, studies = counts.study.design, sample_studies(counts.study)
    if len(studies) == 1:
        return (counts,)
    if design.public:
        # One table of all that was drawn beside all that is public: too large is refused first.
        check_cells(" x ".join(design.columns), design.widths, None)
    codes = counts.table(whole_codes(design.widths))
    return tuple(
        Tally.of_table(study, each, secure=counts.secure, backend=counts.backend)
        for study, each in zip(studies, np.split(codes, design.starts[1:]), strict=True)
    )


def samples_with(counts: Counts, names: Iterable[str]) -> tuple[Counts, ...]:
    """The samples whose respondents reported all of some attributes, if there are any yet.

    Those of blocks that ask coarsely are none of them: their reports do not tell answers apart.
    """
    wanted = set(names)
    return tuple(
        sample
        for sample in samples_of(counts)
        if wanted <= set(sample.study.names) and tells(sample, wanted)
    )


def anybody_reported(counts: Counts, names: Iterable[str]) -> bool:
    """Whether anybody reported all of some attributes, so that an unbiased table tells of them."""
    return any(sample.n for sample in samples_with(counts, names))


def tells(sample: Counts, names: Iterable[str]) -> bool:
    """Whether the reports of a sample tell apart all combinations of some attributes' values."""
    wanted = set(names)
    return all(block.tells(wanted) for block in sample.study.design.blocks)


def is_coarse(sample: Counts) -> bool:
    """Whether the reports of a sample are leaves of a partition of answers."""
    return any(block.is_coarse for block in sample.study.design.blocks)


def evenly_spread(sample: Counts) -> Tally:
    """Each code of a drawn block equally often, beside what is public as it was reported."""
    widths = sample.study.design.widths
    public = whole_codes(widths)[1:]
    # Reports that a plan expects are so many that rounding does not matter.
    margin = np.rint(sample.table(public) if public else np.ones(())).astype(np.int64)
    return Tally.of_table(sample.study, np.broadcast_to(margin, widths), secure=sample.secure)
