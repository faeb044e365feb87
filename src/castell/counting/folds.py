"""Cross-validation folds: reports parted at random, to fit to all but one part and judge by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting.counts import (
    Counts,
    Factor,
    Integers,
    Moments,
    batch_moments,
    count_batches,
)
from castell.study.design import Axis
from castell.study.study import Study

FOLDS = 5


@dataclass(frozen=True, eq=False)
class FoldCounts:
    """The reports of one part, or all others. Dealt anew, and alike, in each pass."""

    every: Counts
    held: bool
    fold: int

    @property
    def study(self) -> Study:
        return self.every.study

    @property
    def secure(self) -> bool:
        return self.every.secure

    @property
    def backend(self) -> str | None:
        return self.every.backend

    def _mine(self, rows: int, generator: np.random.Generator) -> NDArray[np.bool_]:
        out: NDArray[np.bool_] = generator.integers(FOLDS, size=rows) == self.fold
        return out if self.held else ~out

    @cached_property
    def n(self) -> int:
        return int(self._mine(self.every.n, _deal()).sum())

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        generator = _deal()
        for columns in self.every.batches(blocks):
            mine = self._mine(len(columns[0]), generator)
            yield [column[mine] for column in columns]

    def table(self, axes: Sequence[Axis]) -> Integers:
        return count_batches(self, axes)

    def moments(self, queries: Sequence[Sequence[Factor]]) -> Moments:
        return batch_moments(self, queries)


def _deal() -> np.random.Generator:
    # Nobody's privacy hangs on the deal, and a result should not change when looked at twice.
    return np.random.Generator(np.random.Philox(0))


def split_fold(counts: Counts, fold: int = 0) -> tuple[FoldCounts, FoldCounts]:
    """All reports but those of one part, and these."""
    return FoldCounts(counts, held=False, fold=fold), FoldCounts(counts, held=True, fold=fold)
