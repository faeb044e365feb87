"""What every counting engine answers: integer tables, pair tables and moments of reports.

An engine that gives its reports some at a time (`ByBatches`) has all the rest made from that; one
that counts in its own way says how. Rows are for the few estimators that no table serves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from castell.counting.kernels import (
    Columns,
    Factor,
    Integers,
    Moments,
    MomentSum,
    PairSum,
    count,
)
from castell.study.design import Axis
from castell.study.study import Study

T = TypeVar("T")
Progress = Callable[[float], None]


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


class ByBatches(ABC):
    """Counts from the reports themselves, some at a time."""

    @abstractmethod
    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]: ...

    def table(self, axes: Sequence[Axis]) -> Integers:
        total = count({}, axes, 0)
        for columns, rows in self._columns(axes):
            total += count(columns, axes, rows)
        return total

    def pairs(self, axes: Sequence[Axis]) -> Integers:
        total = PairSum(axes)
        for columns, rows in self._columns(axes):
            total.add(columns, rows)
        return total.result()

    def moments(self, queries: Sequence[Sequence[Factor]]) -> Moments:
        total = MomentSum(queries)
        axes = (axis for factors in queries for factor in factors for axis in factor.axes)
        for columns, rows in self._columns(axes):
            total.add(columns, rows)
        return total.result()

    def _columns(self, axes: Iterable[Axis]) -> Iterator[tuple[Columns, int]]:
        blocks = sorted({axis.block for axis in axes})
        for columns in self.batches(blocks):
            yield dict(zip(blocks, columns, strict=True)), len(columns[0])


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
