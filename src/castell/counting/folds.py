"""Reports dealt into two parts at random, to fit on the one and judge by the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting.counts import (
    Columns,
    Counts,
    Factor,
    Integers,
    Moments,
    MomentSum,
    blocks_of,
    count,
)
from castell.design import Axis
from castell.study import Study

HELD_OUT = 0.2


@dataclass(frozen=True, eq=False)
class FoldCounts:
    """The reports that were held out, or all others. Dealt anew, and alike, in each pass."""

    every: Counts
    held: bool
    seed: int

    @property
    def study(self) -> Study:
        return self.every.study

    @property
    def secure(self) -> bool:
        return self.every.secure

    @property
    def backend(self) -> str | None:
        return self.every.backend

    @cached_property
    def n(self) -> int:
        # Nobody's privacy hangs on the deal, and a result should not change when looked at twice.
        out = np.random.default_rng(self.seed).random(self.every.n) < HELD_OUT
        return int((out == self.held).sum())

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        generator = np.random.default_rng(self.seed)
        for columns in self.every.batches(blocks):
            out = generator.random(len(columns[0])) < HELD_OUT
            yield [column[out == self.held] for column in columns]

    def _columns(self, blocks: Sequence[int]) -> Iterator[tuple[Columns, int]]:
        for columns in self.batches(blocks):
            yield dict(zip(blocks, columns, strict=True)), len(columns[0])

    def table(self, axes: Sequence[Axis]) -> Integers:
        total = count({}, axes, 0)
        for columns, rows in self._columns(blocks_of(axes)):
            total += count(columns, axes, rows)
        return total

    def moments(self, queries: Sequence[Sequence[Factor]]) -> Moments:
        total = MomentSum(queries)
        blocks = blocks_of(axis for factors in queries for f in factors for axis in f.axes)
        for columns, rows in self._columns(blocks):
            total.add(columns, rows)
        return total.result()


def dealt(counts: Counts, seed: int = 0) -> tuple[FoldCounts, FoldCounts]:
    """Most of the reports, and those held out."""
    return FoldCounts(counts, held=False, seed=seed), FoldCounts(counts, held=True, seed=seed)
