"""What every counting engine answers, and the two kernels they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats
from castell.study.design import Axis
from castell.study.study import Study

Integers = NDArray[np.int64]
Columns = Mapping[int, NDArray[Any]]
Progress = Callable[[float], None]

_STEP = 1 << 16


@dataclass(frozen=True, eq=False)
class Factor:
    """A number for each report: what `values` holds at the digits that `axes` pick out of it."""

    axes: tuple[Axis, ...]
    values: Floats


@dataclass(frozen=True, eq=False)
class Moments:
    """The mean of some per-report numbers, and the mean of each product of two of them."""

    n: int
    mean: Floats
    product: Floats


class Counts(Protocol):
    """Reports, as far as an estimator can see them."""

    @property
    def study(self) -> Study: ...

    @property
    def secure(self) -> bool: ...

    @property
    def backend(self) -> str | None: ...

    @property
    def n(self) -> int:
        """How many reports there are."""
        ...

    def table(self, axes: Sequence[Axis]) -> Integers:
        """How many reports hold each combination of digits: an array with one axis for each."""
        ...

    def moments(self, queries: Sequence[Sequence[Factor]]) -> Moments:
        """Moments of numbers that are, for each report, a product of factors."""
        ...

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        """The reports themselves, some at a time: the codes of each column asked for, in order.

        For estimators that no table serves. What comes is to be read, not written to.
        """
        ...


def blocks_of(axes: Iterable[Axis]) -> list[int]:
    return sorted({axis.block for axis in axes})


def pack(columns: Columns, axes: Sequence[Axis], rows: slice) -> NDArray[np.intp]:
    """The digits of each report as one number, the last axis fastest."""
    keys: NDArray[np.intp] | None = None
    for axis in axes:
        digit = columns[axis.block][rows].astype(np.intp)
        if axis.stride > 1:
            digit //= axis.stride
        if axis.inner:
            digit %= axis.size
        if keys is None:
            keys = digit
        else:
            keys *= axis.size
            keys += digit
    if keys is None:
        raise ValueError("a table needs at least one axis")
    return keys


def count(columns: Columns, axes: Sequence[Axis], rows: int) -> Integers:
    """One table of reports in memory: packed keys, then a bincount."""
    shape = tuple(axis.size for axis in axes)
    cells = prod(shape)
    total: Integers = np.zeros(cells, dtype=np.int64)
    # Few cells: steps that stay in the cache. Many: one bincount must not cost more than its rows.
    step = max(_STEP, 2 * cells)
    for start in range(0, rows, step):
        end = min(start + step, rows)
        keys = np.empty(end - start, dtype=np.intp)
        for low in range(start, end, _STEP):
            high = min(low + _STEP, end)
            keys[low - start : high - start] = pack(columns, axes, slice(low, high))
        total += np.bincount(keys, minlength=cells)
    return total.reshape(shape)


class Batched(Protocol):
    """Reports that come some at a time."""

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]: ...


def _columns(reports: Batched, axes: Iterable[Axis]) -> Iterator[tuple[Columns, int]]:
    blocks = blocks_of(axes)
    for columns in reports.batches(blocks):
        yield dict(zip(blocks, columns, strict=True)), len(columns[0])


def count_batches(reports: Batched, axes: Sequence[Axis]) -> Integers:
    """One table of reports that come some at a time."""
    total = count({}, axes, 0)
    for columns, rows in _columns(reports, axes):
        total += count(columns, axes, rows)
    return total


def batch_moments(reports: Batched, queries: Sequence[Sequence[Factor]]) -> Moments:
    """Moments of reports that come some at a time."""
    total = MomentSum(queries)
    axes = (axis for factors in queries for factor in factors for axis in factor.axes)
    for columns, rows in _columns(reports, axes):
        total.add(columns, rows)
    return total.result()


class MomentSum:
    """Adds up moments over batches of reports."""

    def __init__(self, queries: Sequence[Sequence[Factor]]) -> None:
        self.queries = queries
        self.rows = 0
        self.sum = np.zeros(len(queries))
        self.product = np.zeros((len(queries), len(queries)))

    def add(self, columns: Columns, rows: int, times: Integers | None = None) -> None:
        """Some reports; `times` says how often each of them came."""
        for start in range(0, rows, _STEP):
            part = slice(start, min(start + _STEP, rows))
            values = np.ones((len(self.queries), part.stop - start))
            for i, factors in enumerate(self.queries):
                for factor in factors:
                    values[i] *= factor.values[pack(columns, factor.axes, part)]
            counted = values if times is None else values * times[part]
            self.sum += counted.sum(axis=1)
            self.product += counted @ values.T
        self.rows += rows if times is None else int(times.sum())

    def result(self) -> Moments:
        rows = max(1, self.rows)
        return Moments(self.rows, self.sum / rows, self.product / rows)
