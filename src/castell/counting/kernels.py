"""The kernels that counting is made of: a table, all pairs, and moments of reports in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats
from castell.study.design import Axis

Integers = NDArray[np.int64]
Columns = Mapping[int, NDArray[Any]]

# Rows at a time: they stay in the cache.
_STEP = 1 << 16
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


def count(columns: Columns, axes: Sequence[Axis], rows: int) -> Integers:
    """One table: packed keys, then a bincount."""
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


class PairSum:
    """Adds up the tables of all pairs of axes over batches of reports: one symmetric matrix."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = axes
        self.starts = np.cumsum([0, *(axis.size for axis in axes)])
        self.total = np.zeros((int(self.starts[-1]),) * 2, dtype=np.int64)

    def add(self, columns: Columns, rows: int) -> None:
        for low in range(0, rows, _PAIR_STEP):
            part = slice(low, min(low + _PAIR_STEP, rows))
            shown = np.zeros((part.stop - low, len(self.total)), dtype=np.float32)
            line = np.arange(part.stop - low)
            for axis, start in zip(self.axes, self.starts, strict=False):
                shown[line, start + pack(columns, [axis], part)] = 1.0
            # Products of indicators.
            self.total += (shown.T @ shown).astype(np.int64)

    def result(self) -> Integers:
        return self.total


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
