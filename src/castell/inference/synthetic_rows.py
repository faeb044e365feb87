"""Models that answer from synthetic rows: whatever is asked is counted in them.

Errors come from a parametric bootstrap of the whole collection: rows are resampled from those at
hand, randomised by the study's own channels, and what was learned from the reports is learned
again. It is done when errors are first asked for, and takes as long as so many fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, MemoryCounts
from castell.errors import OptionError
from castell.inference.bootstrap import spread_of
from castell.inference.intervals import Normal
from castell.inference.method import Fitted, Solution
from castell.inference.queries import Query
from castell.inference.reasons import Code, reason
from castell.inference.shares import Shares
from castell.linear.operators import Floats
from castell.numbers import is_whole
from castell.study.schema import check_cells
from castell.study.study import Study

Rows = Mapping[str, NDArray[np.intp]]
# From reports to synthetic rows; the number makes replicates differ and be repeatable.
Learn = Callable[[Counts, int], Rows]

# The spread of a standard error over so many replicates is about a sixth of it.
ROUNDS = 20
FEWEST = 10_000


def row_count(counts: Counts, rows: int | None) -> int:
    """As many synthetic rows as reports, but never so few that counting them says little."""
    if rows is None:
        return max(counts.n, FEWEST)
    if not is_whole(rows, 1):
        raise OptionError(f"rows is {rows!r}", "give a whole number from 1 up, or none")
    return rows


@dataclass(frozen=True, eq=False)
class Sampled:
    """Synthetic rows, and how to make such rows of other reports."""

    counts: Counts
    rows: Rows
    learn: Learn

    @cached_property
    def _again(self) -> list[Rows]:
        return list(self._resample())

    def _resample(self) -> Iterator[Rows]:
        study = self.counts.study
        generator = np.random.default_rng(0)
        made = len(next(iter(self.rows.values())))
        for k in range(ROUNDS):
            chosen = generator.integers(0, made, self.counts.n)
            labels = {
                a.name: np.array(a.values, dtype=object)[self.rows[a.name][chosen]]
                for a in study.schema
            }
            reports = study.randomize(labels, seed=k)
            yield self.learn(MemoryCounts(reports), k + 1)

    def joint(self, names: tuple[str, ...], max_cells: int | None) -> Solution:
        attributes = self.counts.study.schema.select(names)
        check_cells(" x ".join(names), [a.size for a in attributes], max_cells)
        table = table_of_rows(self.counts.study, self.rows, names)
        return Solution(table, self.spread, (reason(Code.SYNTHETIC_ROWS),))

    def spread(self, names: tuple[str, ...]) -> Normal:
        study = self.counts.study
        tables = (table_of_rows(study, rows, names) for rows in self._again)
        return spread_of(tables, table_of_rows(study, self.rows, names))

    def shares(self, queries: Sequence[Query]) -> Shares:
        values = np.array([_share(self.rows, query) for query in queries])
        found = np.array([[_share(rows, query) for query in queries] for rows in self._again])
        return Shares.from_replicates(values, found, (reason(Code.SYNTHETIC_ROWS),))

    def sample(
        self, names: tuple[str, ...], people: int, generator: np.random.Generator
    ) -> list[NDArray[np.intp]]:
        """Rows resampled, whole, from those at hand."""
        made = len(next(iter(self.rows.values())))
        chosen = generator.integers(0, made, people)
        return [self.rows[name][chosen] for name in names]


def table_of_rows(study: Study, rows: Rows, names: Sequence[str]) -> Floats:
    """The table of some attributes over rows."""
    shape = tuple(study.schema[name].size for name in names)
    keys = np.ravel_multi_index([rows[name] for name in names], shape)
    return (np.bincount(keys, minlength=prod(shape)) / len(keys)).reshape(shape)


def _share(rows: Rows, query: Query) -> float:
    matching = [np.isin(rows[name], codes) for name, codes in query.items()]
    return float(np.logical_and.reduce(matching).mean())


def model(counts: Counts, learn: Learn, rows: Rows | None = None) -> Fitted:
    """A model that answers every question from rows: those given, or those learned now."""
    sampled = Sampled(counts, learn(counts, 0) if rows is None else rows, learn)
    return Fitted(counts, sampled.joint, sampled.shares, sample=sampled.sample)
