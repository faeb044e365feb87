"""Moments of reports: means of products of factors, and of products of two of these.

They are read off the integer table of the factors' axes, or, where that would be too large, added
up without rounding. So they are the same whatever the order of the reports and whoever holds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations_with_replacement
from math import prod
from typing import Any

import numpy as np

from castell.counting import exact_sum
from castell.counting.kernels import (
    STEP,
    Columns,
    Factor,
    Integers,
    Moments,
    TableSum,
    blocks_of,
    pack,
)
from castell.linear.operators import Floats
from castell.study.design import Axis

# Factors with so many combinations of digits are read off their table.
FEW_CELLS = 1 << 20


class MomentSum:
    """Moments of numbers that are, for each report, a product of factors."""

    def __init__(self, queries: Sequence[Sequence[Factor]]) -> None:
        self.queries = queries
        every = self._axes(range(len(queries)))
        self.blocks = blocks_of(every)
        pairs = combinations_with_replacement(range(len(queries)), 2)
        self._items: list[tuple[int, ...]] = [*((i,) for i in range(len(queries))), *pairs]
        one = _cells(every) <= FEW_CELLS
        axes = {item: every if one else self._axes(item) for item in self._items}
        # A product of nothing is 1, and needs no reports.
        few = {item: some for item, some in axes.items() if some and _cells(some) <= FEW_CELLS}
        self._tables = TableSum(list(dict.fromkeys(few.values())))
        self._place = {item: self._tables.tables.index(some) for item, some in few.items()}
        self._many = [item for item, some in axes.items() if some and item not in few]
        self._sums = exact_sum.nothing(len(self._many))
        self._rows = np.zeros(1, dtype=np.int64)
        self.arrays = [self._rows, self._sums, *self._tables.arrays]

    def __reduce__(self) -> tuple[Any, ...]:
        return MomentSum, (self.queries,)

    def _axes(self, item: Iterable[int]) -> tuple[Axis, ...]:
        factors = (factor for i in item for factor in self.queries[i])
        return tuple(dict.fromkeys(axis for factor in factors for axis in factor.axes))

    def add(self, columns: Columns, rows: int, times: Integers | None = None) -> None:
        self._rows += rows if times is None else times.sum()
        self._tables.add(columns, rows, times)
        used = sorted({i for item in self._many for i in item})
        for start in range(0, rows if used else 0, STEP):
            part = slice(start, min(start + STEP, rows))
            values = {i: self._values(i, columns, part) for i in used}
            for total, item in zip(self._sums, self._many, strict=True):
                product = values[item[0]] if len(item) == 1 else values[item[0]] * values[item[1]]
                exact_sum.add(total, product, None if times is None else times[part])

    def _values(self, query: int, columns: Columns, rows: slice) -> Floats:
        found: Floats = np.ones(1)
        for factor in self.queries[query]:
            found = found * factor.values[pack(columns, factor.axes, rows)]
        return found

    def result(self) -> Moments:
        n = int(self._rows[0])
        many = len(self.queries)
        mean, product = np.zeros(many), np.zeros((many, many))
        for item in self._items:
            value = self._mean(item, max(1, n))
            if len(item) == 1:
                mean[item] = value
            else:
                product[item] = product[item[::-1]] = value
        return Moments(n, mean, product)

    def _mean(self, item: tuple[int, ...], n: int) -> float:
        if item not in self._place and item not in self._many:
            return float(self._rows[0] / n)
        if item not in self._place:
            return exact_sum.mean(self._sums[self._many.index(item)], n)
        place = self._place[item]
        axes, table = self._tables.tables[place], self._tables.arrays[place]
        cells = np.nonzero(table)
        values = table[cells].astype(np.float64)
        digits = dict(zip(axes, cells, strict=True))
        for factor in (factor for i in item for factor in self.queries[i]):
            key = np.zeros(1, dtype=np.intp)
            for axis in factor.axes:
                key = key * axis.size + digits[axis]
            values = values * factor.values[key]
        return float(values.sum()) / n


def _cells(axes: Iterable[Axis]) -> int:
    return prod(axis.size for axis in axes)
