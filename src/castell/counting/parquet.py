"""Counting reports that stay in Parquet files: bounded memory, only the columns asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from castell.counting.counts import ByBatches, Counts, Progress
from castell.counting.stages import Concatenated
from castell.counting.tallies import Tally, read_tally
from castell.errors import ReportError
from castell.reports.parquet import ReportFile
from castell.reports.report_files import is_files, report_files
from castell.study.study import Study


@dataclass(frozen=True)
class Scanned:
    """A file as it was when it was opened."""

    path: str | Path
    n: int
    secure: bool
    groups: int  # its row groups

    def batches(
        self, study: Study, blocks: Sequence[int], groups: Sequence[int] | None = None
    ) -> Iterator[list[NDArray[Any]]]:
        """Its reports, or those of some row groups."""
        with ReportFile(self.path, study) as file:
            if (file.rows, file.secure) != (self.n, self.secure):
                raise ReportError(f"{self.path} was changed since it was opened", "scan it again")
            yield from file.batches(blocks, groups)


@dataclass(frozen=True, eq=False)
class ParquetCounts(ByBatches):
    """The counts of some files, read anew for each question, one after the other."""

    files: tuple[Scanned, ...]
    study: Study
    backend: str | None = None
    progress: Progress | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        return sum(file.n for file in self.files)

    @property
    def secure(self) -> bool:
        return all(file.secure for file in self.files)

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        done = 0
        for file in self.files:
            for columns in file.batches(self.study, blocks):
                yield columns
                done += len(columns[0])
                if self.progress:
                    self.progress(done / self.n)

    def __getstate__(self) -> dict[str, Any]:
        # Whoever watches the progress stays in its own process.
        return {**vars(self), "progress": None}


def open(source: Any, study: Study, progress: Progress | None) -> Counts:
    """Parquet files of reports, or of tallies, to estimate from without loading them."""
    files: list[Scanned] = []
    tallies: list[Tally] = []
    for path in report_files(source):
        found = _scan(path, study)
        (files if isinstance(found, Scanned) else tallies).append(found)  # type: ignore[arg-type]
    reports = [ParquetCounts(tuple(files), study, progress=progress)] if files else []
    parts: tuple[Counts, ...] = (*reports, *tallies)
    return parts[0] if len(parts) == 1 else Concatenated(parts)


def _scan(path: str | Path, study: Study) -> Scanned | Tally:
    try:
        with ReportFile(path, study) as file:
            return Scanned(path, file.rows, file.secure, file.groups)
    except ReportError:
        kept = read_tally(path, study)
        if kept is None:
            raise
        return kept


def opens(source: Any) -> bool:
    return is_files(source)
