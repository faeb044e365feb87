"""Counting reports that stay in a Parquet file: bounded memory, only the columns asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from castell.counting.counts import ByBatches, Progress
from castell.errors import ReportError
from castell.reports.parquet import ReportFile
from castell.study.study import Study


@dataclass(frozen=True, eq=False)
class ParquetCounts(ByBatches):
    """The counts of a file, read anew for each question."""

    path: Path
    study: Study
    n: int
    secure: bool
    backend: str | None = None
    progress: Progress | None = field(default=None, repr=False)

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        done = 0
        with ReportFile(self.path, self.study) as file:
            if (file.rows, file.secure) != (self.n, self.secure):
                raise ReportError(f"{self.path} was changed since it was opened", "scan it again")
            for columns in file.batches(blocks):
                yield columns
                done += len(columns[0])
                if self.progress:
                    self.progress(done / self.n)


def open(source: str | Path, study: Study, progress: Progress | None) -> ParquetCounts:
    """A Parquet file of reports to estimate from without loading it."""
    with ReportFile(source, study) as file:
        return ParquetCounts(Path(source), study, file.rows, file.secure, progress=progress)


def opens(source: Any) -> bool:
    return isinstance(source, (str, Path)) and str(source).endswith(".parquet")
