"""Regression by corrected scores with sampling weights, and errors by the sampling design.

The estimating equations are weighted means of what each report adds to them, so they are solved as
without weights, from the weighted table. Their error is that of any weighted mean (Binder 1983):
sums over clusters within strata, raked weights included. Without noise this is `svyglm` of R's
survey. Degrees of freedom are those of the design less the columns besides the intercept, as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from castell.counting import Counts, samples_of
from castell.errors import QueryError
from castell.inference.drawn_scores import DrawnScores
from castell.inference.regression.complete_cases import CompleteCases
from castell.inference.regression.corrected_scores import Root, logit_root_of, score_error
from castell.inference.regression.design_matrix import DesignMatrix
from castell.inference.report_scores import ReportScores
from castell.inference.sampling_design import SampleDesign
from castell.inference.support import support
from castell.linear.operators import Floats
from castell.study.schema import check_cells

# So many numbers at a time: a score for each report and cell.
_MOST = 1 << 22


@dataclass(frozen=True, eq=False)
class WeightedReports:
    """Reports that hold all attributes of a regression, and how the respondents were sampled."""

    counts: Counts
    sample: SampleDesign
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not support(self.counts, self.names).together:
            raise QueryError(
                f"no report holds {', '.join(self.names)} together",
                "use fewer terms, or leave out the weights: a likelihood reads such reports",
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


def weighted_logit_root(
    counts: Counts, sample: SampleDesign, design: DesignMatrix, outcome: str
) -> Root:
    """Of a multinomial logit."""
    names = (*design.covariates, outcome)
    reports = WeightedReports(counts, sample, names)
    cases = CompleteCases.of(counts.study.schema, names)
    return logit_root_of(reports.table, cases, design, reports.spread)


def weighted_linear_root(
    counts: Counts, sample: SampleDesign, design: DesignMatrix, outcome: str, numbers: Floats
) -> Root:
    """Of least squares, for an outcome of these numbers."""
    names = (*design.covariates, outcome)
    reports = WeightedReports(counts, sample, names)
    cases = CompleteCases.of(counts.study.schema, names)
    answers, matrix = cases.part(reports.table).reshape(design.cells, -1), design.matrix
    inner = matrix.T @ (answers.sum(axis=1)[:, None] * matrix)
    if float(np.linalg.eigvalsh(inner).min()) <= 0.0:
        return Root.none(np.zeros((len(inner), 1)))
    coefficients: Floats = np.asarray(np.linalg.solve(inner, matrix.T @ (answers @ numbers)))
    # What an answer adds to the equations: x (y - x b).
    apart = numbers[None, :] - (matrix @ coefficients)[:, None]
    scores = np.einsum("cp,cy->pcy", matrix, apart).reshape(len(inner), -1)

    def slopes(one: Floats, two: Floats) -> Floats:
        return np.repeat((one @ matrix.T) * (two @ matrix.T), len(numbers), axis=1)

    return Root(
        coefficients[:, None], score_error(inner, scores, slopes, cases, reports.spread), True
    )
