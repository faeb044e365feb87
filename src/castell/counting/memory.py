"""Counting reports that are held in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from castell.counting.counts import Factor, Integers, Moments, MomentSum, count
from castell.reports.reports import ROW_GROUP, Reports
from castell.study.design import Axis
from castell.study.study import Study


@dataclass(frozen=True, eq=False)
class MemoryCounts:
    """The counts of `Reports`."""

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
        return len(self.reports)

    def table(self, axes: Sequence[Axis]) -> Integers:
        return count(dict(enumerate(self.reports.columns)), axes, self.n)

    def moments(self, queries: Sequence[Sequence[Factor]]) -> Moments:
        total = MomentSum(queries)
        total.add(dict(enumerate(self.reports.columns)), self.n)
        return total.result()

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        for start in range(0, self.n, ROW_GROUP):
            yield [self.reports.columns[i][start : start + ROW_GROUP] for i in blocks]
