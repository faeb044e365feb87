"""Reports that come in no certain order: what a database or a cluster gives.

Sums do not depend on the order, so they are added up as reports come. The few methods that go
through the reports one by one, more than once, need an order that stays: for these the codes are
fetched once and kept, a few bytes for each report.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from castell.counting.counts import ByBatches, MemoryCounts, Progress, add_batches
from castell.counting.kernels import Sum
from castell.errors import ReportError
from castell.reports.codes import check_codes, column_names, join_parts
from castell.reports.reports import Reports
from castell.study.study import Study


class Unordered(ByBatches):
    """Counts of reports that `stream` gives in any order. Whoever inherits says where they are."""

    study: Study
    n: int
    secure: bool
    backend: str | None
    progress: Progress | None

    @abstractmethod
    def stream(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        """The codes of some columns, some reports at a time, in any order."""

    def add_up(self, *totals: Sum) -> None:
        add_batches(self._check_batches, *totals)

    def _check_batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        names, widths = column_names(self.study), self.study.design.widths
        rows = 0
        for columns in self.stream(blocks):
            yield [
                check_codes(names[i], widths[i], column)
                for i, column in zip(blocks, columns, strict=True)
            ]
            rows += len(columns[0])
            if self.progress:
                self.progress(min(1.0, rows / max(1, self.n)))
        self._same(rows)

    def _same(self, rows: int) -> None:
        if rows != self.n:
            raise ReportError(
                f"there were {self.n:,} reports and now {rows:,}", "open them again to estimate"
            )

    @cached_property
    def _kept(self) -> MemoryCounts:
        every = self._check_batches(range(len(self.study.design.widths)))
        return MemoryCounts(Reports(self.study, join_parts(self.study, every), secure=self.secure))

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        return self._kept.batches(blocks)


def codes_of_batch(batch: Any) -> list[NDArray[Any]]:
    """The columns of an Arrow batch or table; a missing report is refused."""
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.null_count:
            raise ReportError(f"{name!r} has missing reports", "take them out, or again")
        whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        columns.append(whole.to_numpy(zero_copy_only=False))
    return columns
