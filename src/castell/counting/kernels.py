"""The kernels that counting is made of: tables, all pairs, and moments of reports in memory.

Each is a `Sum`: reports are added some at a time, and sums of parts are added to each other. They
hold whole numbers only, so what comes out depends neither on the order nor on the parts. Between
machines nothing but these numbers travels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from castell.errors import TableTooLargeError
from castell.linear.cores import one_thread, usable_cores
from castell.linear.operators import Floats
from castell.study.design import Axis
from castell.study.schema import MAX_CELLS

Integers = NDArray[np.int64]
Columns = Mapping[int, NDArray[Any]]

# Rows at a time: they stay in the cache.
STEP = 1 << 16
# The same for indicator matrices, whose products are exact in float32 up to 2^24 rows.
_PAIR_STEP = 1 << 13


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


def count(
    columns: Columns, axes: Sequence[Axis], rows: int, times: Integers | None = None
) -> Integers:
    """One table: packed keys, then a bincount. `times` says how often each report came."""
    shape = tuple(axis.size for axis in axes)
    cells = prod(shape)
    total: Integers = np.zeros(cells, dtype=np.int64)
    # Few cells: steps that stay in the cache. Many: one bincount must not cost more than its rows.
    step = max(STEP, 2 * cells)
    for start in range(0, rows, step):
        end = min(start + step, rows)
        keys = np.empty(end - start, dtype=np.intp)
        for low in range(start, end, STEP):
            high = min(low + STEP, end)
            keys[low - start : high - start] = pack(columns, axes, slice(low, high))
        if times is None:
            total += np.bincount(keys, minlength=cells)
        else:
            # Sums of whole numbers below 2^53 are exact in floating point.
            total += np.bincount(keys, times[start:end], cells).astype(np.int64)
    return total.reshape(shape)


class Sum(Protocol):
    """Whole numbers that add up over reports.

    Pickled, a sum is the question alone: what comes out begins at nothing.
    """

    @property
    def blocks(self) -> Sequence[int]:
        """The columns of reports that are read."""
        ...

    @property
    def arrays(self) -> Sequence[Integers]:
        """All that was added up; the sums of two parts are the sums of these."""
        ...

    def add(self, columns: Columns, rows: int, times: Integers | None = None) -> None:
        """Some reports; `times` says how often each of them came."""
        ...


def include(total: Sum, arrays: Iterable[Integers]) -> None:
    """Add what was added up elsewhere."""
    for mine, theirs in zip(total.arrays, arrays, strict=True):
        mine += theirs


def blocks_of(axes: Iterable[Axis]) -> list[int]:
    # Without any axis there are still reports to be counted.
    return sorted({axis.block for axis in axes}) or [0]


class TableSum:
    """The tables of some sets of axes, in one pass."""

    def __init__(self, tables: Sequence[Sequence[Axis]]) -> None:
        self.tables = tables
        self.blocks = blocks_of(axis for axes in tables for axis in axes)
        self.arrays = [count({}, axes, 0) for axes in tables]

    def __reduce__(self) -> tuple[Any, ...]:
        return TableSum, (self.tables,)

    def add(self, columns: Columns, rows: int, times: Integers | None = None) -> None:
        for total, axes in zip(self.arrays, self.tables, strict=True):
            total += count(columns, axes, rows, times)


class PairSum:
    """The tables of all pairs of axes: one symmetric matrix."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = axes
        self.blocks = blocks_of(axes)
        self.starts = np.cumsum([0, *(axis.size for axis in axes)])
        many = int(self.starts[-1])
        if many**2 > MAX_CELLS:
            raise TableTooLargeError(
                f"the pairs of {many:,} values have {many**2:,} cells, the limit is {MAX_CELLS:,}",
                "use a method that counts only what is asked for: castell (model.top finds the "
                "largest cells) or independent",
            )
        self.total = np.zeros((many, many), dtype=np.int64)
        self.arrays = [self.total]

    def __reduce__(self) -> tuple[Any, ...]:
        return PairSum, (self.axes,)

    def add(self, columns: Columns, rows: int, times: Integers | None = None) -> None:
        steps = range(0, rows, _PAIR_STEP)
        # A thread for each core, and a product on one: else they wait for each other.
        workers = min(usable_cores(), 1 + len(steps) // 8)
        with one_thread(), ThreadPoolExecutor(workers) as pool:
            parts = [steps[k::workers] for k in range(workers)]
            for found in pool.map(lambda part: self._products(columns, rows, part, times), parts):
                self.total += found

    def _products(
        self, columns: Columns, rows: int, steps: range, times: Integers | None
    ) -> Integers:
        """Products of indicators, added up over some steps."""
        # How often a report came may need more digits.
        kind: Any = np.float32 if times is None else np.float64
        total = np.zeros_like(self.total)
        for low in steps:
            part = slice(low, min(low + _PAIR_STEP, rows))
            shown = np.zeros((part.stop - low, len(total)), dtype=kind)
            line = np.arange(part.stop - low)
            for axis, start in zip(self.axes, self.starts, strict=False):
                shown[line, start + pack(columns, [axis], part)] = 1.0
            counted = shown if times is None else shown * times[part, None]
            total += (shown.T @ counted).astype(np.int64)
        return total
