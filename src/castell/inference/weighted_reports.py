"""Weighted means of functions of some attributes, and how they err together.

What each report adds to the cells of a table is known (`report_scores`), so the weighted mean of
any function of the answers is a weighted mean of what the reports add to it, and errors are those
of the sampling design.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from castell.counting import Counts, samples_of
from castell.errors import QueryError
from castell.inference.drawn_scores import DrawnScores
from castell.inference.report_scores import ReportScores
from castell.inference.sampling_design import SampleDesign
from castell.inference.support import support
from castell.linear.operators import Floats
from castell.study.schema import check_cells

# So many numbers at a time: a score for each report and cell.
_MOST = 1 << 22


@dataclass(frozen=True, eq=False)
class WeightedReports:
    """Reports that hold some attributes together, and how the respondents were sampled."""

    counts: Counts
    sample: SampleDesign
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not support(self.counts, self.names).together:
            raise QueryError(
                f"no report holds {', '.join(self.names)} together",
                "ask for fewer attributes, or leave out the weights",
            )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.counts.study.schema[name].size for name in self.names)

    def _scores(self) -> Iterator[tuple[slice, Floats]]:
        """What each report adds to some cells of the table, a few cells at a time."""
        check_cells(" x ".join(self.names), self.shape, None)
        cells, n = int(np.prod(self.shape)), self.counts.n
        several = len(samples_of(self.counts)) > 1
        scores = (
            DrawnScores(self.counts, self.sample.weights) if several else ReportScores(self.counts)
        )
        step = max(1, _MOST // max(n, 1))
        for start in range(0, cells, step):
            some = slice(start, min(start + step, cells))
            yield some, scores.of_cells(self.names, np.arange(some.start, some.stop))

    @cached_property
    def table(self) -> Floats:
        """The weighted unbiased table."""
        return np.concatenate([self.sample.means(each) for _, each in self._scores()]).reshape(
            self.shape
        )

    def spread(self, functions: Floats) -> tuple[Floats, Floats]:
        """How the weighted means of functions of the cells err together, in all and by the noise
        alone: the weighted mean square of what reports add, less that of the answers' own."""
        flat = functions.reshape(len(functions), -1)
        squares = self.sample.weights**2
        total, answers = np.zeros((self.counts.n, len(flat))), np.zeros(flat.shape[1])
        for some, each in self._scores():
            total += each @ flat[:, some].T
            answers[some] = squares @ each
        noise = (total.T * squares) @ total - (flat * answers) @ flat.T
        return self.sample.covariance(total), noise / self.sample.weights.sum() ** 2
