"""Counting reports in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from castell.counting.counts import ByBatches
from castell.reports.parquet import ROW_GROUP
from castell.reports.reports import Reports
from castell.study.study import Study


@dataclass(frozen=True, eq=False)
class MemoryCounts(ByBatches):
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

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        for start in range(0, self.n, ROW_GROUP):
            yield [self.reports.columns[i][start : start + ROW_GROUP] for i in blocks]
