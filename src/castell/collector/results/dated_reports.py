"""All reports of a store with their hours, in memory: what every answer is made from."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import ceil

import numpy as np
from numpy.typing import NDArray

from castell.collector.store.store import Batch, Store, hour_text
from castell.counting import Counts, MemoryCounts, join_stages, samples_of
from castell.counting.kernels import Integers
from castell.inference.inversion import parts_of
from castell.reports.codes import join_parts
from castell.reports.reports import Reports
from castell.results.model import Model, fit
from castell.study.design import Axis
from castell.study.study import Study

DAY = 86_400
# Reports read from the store in one go, and the longest rest after it in seconds.
READ_AT_ONCE = 4096
LONGEST_REST = 0.05
# A period of fewer reports says too little to be compared with others; nor do very many periods.
LEAST_IN_PERIOD = 50
MOST_PERIODS = 30


@dataclass(frozen=True, eq=False)
class DatedReports:
    """Reports in the order of the hour they came; within an hour the order means nothing.

    They are those of one stage, the last that has any; `earlier` are the stages before it.
    """

    reports: Reports
    hours: NDArray[np.int64]
    earlier: tuple[DatedReports, ...] = ()
    _models: dict[str, Model] = field(default_factory=dict, init=False)

    @property
    def stages(self) -> tuple[DatedReports, ...]:
        """Each stage by itself, in their order."""
        return (*self.earlier, replace(self, earlier=()) if self.earlier else self)

    @cached_property
    def all_hours(self) -> NDArray[np.int64]:
        """The hours of all stages, ascending."""
        return np.sort(np.concatenate([stage.hours for stage in self.stages]), kind="stable")

    @property
    def n(self) -> int:
        return len(self.all_hours)

    @property
    def study(self) -> Study:
        return self.reports.study

    @property
    def studies(self) -> tuple[Study, ...]:
        return tuple(stage.study for stage in self.stages)

    @cached_property
    def counts(self) -> Counts:
        # As in the file one can take away, so that the same analysis of it gives the same numbers.
        return join_stages([MemoryCounts(stage.reports.sorted()) for stage in self.stages])

    def of(self, stages: Sequence[Study]) -> DatedReports:
        """The same reports under corrected words: those that the stages have now."""
        found = {stage.origin: stage for stage in stages}
        *earlier, last = [stage._of(found[stage.study.origin]) for stage in self.stages]
        return replace(last, earlier=tuple(earlier))

    def _of(self, study: Study) -> DatedReports:
        columns = self.reports.columns
        return DatedReports(Reports(study, columns, secure=self.reports.secure), self.hours)

    def before(self, hour: int) -> DatedReports:
        """What was filed before some hour."""
        found = []
        for stage in self.stages:
            end = int(np.searchsorted(stage.hours, hour))
            columns = [column[:end] for column in stage.reports.columns]
            kept = Reports(stage.study, columns, secure=stage.reports.secure)
            found.append(DatedReports(kept, stage.hours[:end]))
        *earlier, last = [stage for stage in found if len(stage.hours)] or found[:1]
        return replace(last, earlier=tuple(earlier))

    def model(self, method: str) -> Model:
        """Fitted once: who looks at one table looks at the next."""
        if method not in self._models:
            self._models[method] = fit(self.counts, method)
        return self._models[method]

    def timeline(self) -> list[tuple[str, int]]:
        """Reports by the hour they came."""
        hours, counts = np.unique(self.all_hours, return_counts=True)
        pairs = zip(hours.tolist(), counts.tolist(), strict=True)
        return [(hour_text(hour), count) for hour, count in pairs]

    def between(self, start: int, end: int) -> MemoryCounts:
        """The reports of this stage from one place in time to another."""
        columns = [column[start:end] for column in self.reports.columns]
        return MemoryCounts(Reports(self.study, columns, secure=self.reports.secure))


@dataclass(frozen=True)
class Periods:
    """Consecutive stretches of a collection: their names, and where each begins and ends."""

    unit: str
    labels: tuple[str, ...]
    ends: tuple[tuple[int, int], ...]


def read_store(store: Store) -> DatedReports:
    """Read a store once, in one transaction.

    Rows become numbers in this interpreter, which takes reports meanwhile: after each part it has
    as long for them as the part took.
    """
    parts: dict[Study, list[Batch]] = {}
    start = time.perf_counter()
    for batch in store.dated_batches(READ_AT_ONCE):
        parts.setdefault(batch.stage, []).append(batch)
        time.sleep(min(LONGEST_REST, time.perf_counter() - start))
        start = time.perf_counter()
    stages = sorted(parts, key=lambda study: study.stage) or [store.study]
    *earlier, last = [_join_batches(stage, parts.get(stage, []), store.secure) for stage in stages]
    return replace(last, earlier=tuple(earlier))


def _join_batches(stage: Study, parts: Sequence[Batch], secure: bool) -> DatedReports:
    hours = np.concatenate([part.hours for part in parts] or [np.empty(0, np.int64)])
    order = np.argsort(hours, kind="stable")
    columns = [column[order] for column in join_parts(stage, (part.columns for part in parts))]
    return DatedReports(Reports(stage, columns, secure=secure), hours[order])


def periods(hours: NDArray[np.int64]) -> Periods:
    """Days, or hours where all came on one day; small ones are put together with the next.

    >>> found = periods(np.repeat([0, 3600, 7200], [80, 20, 90]))
    >>> found.unit, found.labels, found.ends
    ('hour', ('1970-01-01 00:00', '1970-01-01 01:00'), ((0, 80), (80, 190)))
    """
    least = max(LEAST_IN_PERIOD, ceil(len(hours) / MOST_PERIODS))
    days = hours // DAY * DAY
    one_day = len(np.unique(days)) < 2
    starts, counts = np.unique(hours if one_day else days, return_counts=True)
    groups: list[list[int]] = []
    for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
        if groups and groups[-1][1] < least:
            groups[-1][1] += count
        else:
            groups.append([start, count])
    if len(groups) > 1 and groups[-1][1] < least:
        groups[-2][1] += groups.pop()[1]
    limits = np.cumsum([0, *(count for _, count in groups)]).tolist()
    width = 16 if one_day else 10
    labels = tuple(hour_text(start).replace("T", " ")[:width] for start, _ in groups)
    return Periods("hour" if one_day else "day", labels, tuple(pairwise(limits)))


def period_tables(dated: DatedReports, names: Sequence[str], spans: Periods) -> Integers:
    """How often each report over some attributes came, a row for each period.

    These are the reports of all samples of respondents that hold one of them, in one stage: another
    stage asks in another way, and says other things without anybody having changed.
    """
    return np.array([_row(dated.between(*ends), names) for ends in spans.ends])


def _row(counts: MemoryCounts, names: Sequence[str]) -> Integers:
    tables = [
        sample.table(_axes(sample.study, names))
        for sample in samples_of(counts)
        if set(names) & set(sample.study.names)
    ]
    return np.concatenate([table.ravel() for table in tables])


def _axes(study: Study, names: Sequence[str]) -> list[Axis]:
    return [axis for part in parts_of(study, names) for axis in part.axes]
