"""What every counting engine answers: integer tables, pair tables and moments of reports.

An engine that gives its reports some at a time (`ByBatches`) has all the rest made from that, as
the one in memory has, which stands here (`MemoryCounts`); one that counts in its own way says how.
Rows are for the few estimators that no table serves. What took a pass over all reports is kept with
the counts: what was made of them (`once`), and tables that were counted ahead, many in one pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from castell.counting.kernels import Factor, Integers, Moments, PairSum, Sum, TableSum
from castell.counting.moments import MomentSum
from castell.reports.parquet import ROW_GROUP
from castell.reports.reports import Reports
from castell.study.design import Axis
from castell.study.study import Study

T = TypeVar("T")
Axes = tuple[Axis, ...]
Progress = Callable[[float], None]
# What tables that were counted ahead are kept under, with the counts.
_AHEAD = f"{__name__}.counted_ahead"
# An entry of the matrix of all pairs takes so much of the time that one table takes for a report:
# products of indicators are matrix products, on all cores.
_ENTRY = 0.005


class Counts(Protocol):
    """Reports, as far as an estimator can see them."""

    @property
    def study(self) -> Study: ...

    @property
    def secure(self) -> bool:
        """False when some report was made with a seed."""
        ...

    @property
    def backend(self) -> str | None:
        """The kind of frame that tables are given back as."""
        ...

    @property
    def n(self) -> int:
        """How many reports there are."""
        ...

    def table(self, axes: Sequence[Axis]) -> Integers:
        """How many reports hold each combination of digits: an array with one axis for each."""
        ...

    def pairs(self, axes: Sequence[Axis]) -> Integers:
        """How many reports hold each two digits: the tables of all pairs of axes in one matrix."""
        ...

    def moments(self, queries: Sequence[Sequence[Factor]]) -> Moments:
        """Moments of numbers that are, for each report, a product of factors."""
        ...

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        """The reports themselves, some at a time: the codes of each column asked for, in order.

        Every pass gives them in the same order. What comes is to be read, not written to.
        """
        ...


_NEEDED = ("study", "secure", "backend", "n", "table", "pairs", "moments", "batches")


def missing_of(given: Any) -> list[str]:
    """What an object lacks to be counts."""
    return [name for name in _NEEDED if not hasattr(given, name)]


class ByBatches(ABC):
    """Counts from the reports themselves, some at a time.

    An engine that adds up in its own way, such as in parts on several machines, says how in
    `add_up`; tables, pairs and moments are all made of that.
    """

    @abstractmethod
    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]: ...

    def add_up(self, *totals: Sum) -> None:
        """Add all reports to some sums, in one pass."""
        add_batches(self.batches, *totals)

    def table(self, axes: Sequence[Axis]) -> Integers:
        total = TableSum([axes])
        self.add_up(total)
        return total.arrays[0]

    def pairs(self, axes: Sequence[Axis]) -> Integers:
        total = PairSum(axes)
        self.add_up(total)
        return total.total

    def moments(self, queries: Sequence[Sequence[Factor]]) -> Moments:
        total = MomentSum(queries)
        self.add_up(total)
        return total.result()


@dataclass(frozen=True, eq=False)
class MemoryCounts(ByBatches):
    """The counts of `Reports`: the engine of what is in memory."""

    reports: Reports

    @property
    def study(self) -> Study:
        return self.reports.study

    @property
    def secure(self) -> bool:
        return self.reports.secure

    @property
    def backend(self) -> str | None:
        return self.reports.backend

    @property
    def n(self) -> int:
        return len(self.reports.columns[0])

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        for start in range(0, self.n, ROW_GROUP):
            yield [self.reports.columns[i][start : start + ROW_GROUP] for i in blocks]


def add_batches(
    batches: Callable[[Sequence[int]], Iterator[list[NDArray[Any]]]], *totals: Sum
) -> None:
    """Add reports that come some at a time to some sums."""
    blocks = sorted({block for total in totals for block in total.blocks})
    for columns in batches(blocks):
        found = dict(zip(blocks, columns, strict=True))
        for total in totals:
            total.add(found, len(columns[0]))


def add_reports(counts: Counts, *totals: Sum) -> None:
    """Add all reports of any engine to some sums, in the way it adds up."""
    if isinstance(counts, ByBatches):
        counts.add_up(*totals)
    else:
        add_batches(counts.batches, *totals)


def studies_of(counts: Counts) -> tuple[Study, ...]:
    """The studies whose reports these are, the latest last; reports of several say which."""
    several: tuple[Study, ...] | None = getattr(counts, "studies", None)
    return several or (counts.study,)


def once(make: Callable[[Counts], T]) -> Callable[[Counts], T]:
    """What takes a pass over all reports is made once for each counts, and goes with them."""
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def made(counts: Counts) -> T:
        kept = vars(counts)
        if name not in kept:
            kept[name] = make(counts)
        found: T = kept[name]
        return found

    return made


# -- many tables in one pass -----------------------------------------------------------------------


def count_ahead(counts: Counts, tables: Iterable[Sequence[Axis]]) -> None:
    """Count some tables in one pass; those that were kept before are dropped."""
    wanted = [tuple(axes) for axes in tables]
    every = list(dict.fromkeys(axis for axes in wanted for axis in axes))
    entries = sum(axis.size for axis in every) ** 2
    pairs = all(len(axes) <= 2 for axes in wanted) and _ENTRY * entries < len(wanted)
    total: Sum = PairSum(every) if pairs else TableSum(wanted)
    add_reports(counts, total)
    found = (
        _tables_of_pairs(total, wanted)
        if isinstance(total, PairSum)
        else zip(wanted, total.arrays, strict=True)
    )
    vars(counts)[_AHEAD] = dict(found)


def count_once(counts: Counts, axes: Sequence[Axis]) -> Integers:
    """A table: kept, or counted now."""
    kept: Mapping[Axes, Integers] = vars(counts).get(_AHEAD, {})
    found = kept.get(tuple(axes))
    return counts.table(axes) if found is None else found


def forget(counts: Counts) -> None:
    """Drop what was kept."""
    vars(counts).pop(_AHEAD, None)


def _tables_of_pairs(total: PairSum, wanted: Sequence[Axes]) -> Iterable[tuple[Axes, Integers]]:
    """The tables of pairs out of the matrix of all."""
    starts = dict(zip(total.axes, total.starts.tolist(), strict=False))
    for axes in wanted:
        one, two = axes[0], axes[-1]
        rows = slice(starts[one], starts[one] + one.size)
        block = total.total[rows, starts[two] : starts[two] + two.size]
        yield axes, block.copy() if len(axes) == 2 else block.diagonal().copy()
