"""Sums over reports for many cells at once: weighted histograms of one part of the report.

A cell over some parts gives each report a weight, the product of an entry of each part's inverse.
For some cells this adds up, by the code that a further part of the report holds, the weights of all
reports. Weights are rounded to whole numbers first, so sums are the same in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting.kernels import Columns, Integers, blocks_of, pack
from castell.linear.operators import Floats
from castell.study.design import Axis

# The largest weight is this many units. Sums of 2^16 of them are exact in floating point.
_UNITS = float(1 << 32)
_MOST_ROWS = 1 << 13
# Numbers in memory at once for the cells.
_ROOM = 1 << 21
_DIGIT = 16
_MASK = (1 << _DIGIT) - 1

Entries = tuple[tuple[Axis, ...], Floats, NDArray[np.intp]]


class PrefixSum:
    """For each cell and each code of `axes`: the sum of the cell's weights of those reports.

    `parts` say what a cell is made of: the axes of a part of the report, some rows of its inverse
    (over the codes of these axes), and for each cell which of the rows.
    """

    def __init__(self, parts: Sequence[Entries], axes: Sequence[Axis]) -> None:
        self.parts, self.axes = parts, axes
        self.blocks = blocks_of([*axes, *(axis for part in parts for axis in part[0])])
        self.cells = len(parts[0][2]) if parts else 1
        self.codes = prod(axis.size for axis in axes)
        extreme = prod(float(np.abs(rows).max()) for _, rows, _ in parts)
        # A power of two: scaling by it rounds nothing.
        self.unit = 2.0 ** np.floor(np.log2(_UNITS / max(extreme, 1e-300)))
        self.arrays = [np.zeros((self.cells, self.codes), dtype=np.int64) for _ in range(2)]

    def __reduce__(self) -> tuple[Any, ...]:
        return PrefixSum, (self.parts, self.axes)

    def add(self, columns: Columns, rows: int, times: Integers | None = None) -> None:
        step = min(_MOST_ROWS, max(256, _ROOM // max(self.cells, self.codes)))
        for start in range(0, rows, step):
            part = slice(start, min(start + step, rows))
            weights = np.rint(self._weights(columns, part) * self.unit)
            shown = np.zeros((part.stop - start, self.codes))
            shown[np.arange(part.stop - start), pack(columns, self.axes, part)] = 1.0
            if times is None:
                self._include((weights @ shown).astype(np.int64), 0)
                continue
            # How often a report came, some bits at a time, so that no product overflows.
            whole, left = weights.astype(np.int64), times[part].astype(np.int64)
            for shift in range(0, int(left.max(initial=0)).bit_length(), _DIGIT):
                digit = (left >> shift) & _MASK
                self._include(whole @ (shown.astype(np.int64) * digit[:, None]), shift)

    def _weights(self, columns: Columns, rows: slice) -> Floats:
        found: Floats = np.ones((self.cells, rows.stop - rows.start))
        for axes, values, which in self.parts:
            found *= values[:, pack(columns, axes, rows)][which]
        return found

    def _include(self, found: Integers, shift: int) -> None:
        """Add whole numbers times 2^shift, in two pieces."""
        high, low = self.arrays
        low += (found & _MASK) << shift
        high += (found >> _DIGIT) << shift

    def result(self) -> Floats:
        """The sums."""
        high, low = (array.astype(np.float64) for array in self.arrays)
        return np.asarray((high * (_MASK + 1) + low) / self.unit)
