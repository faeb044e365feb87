"""Regression by corrected scores with sampling weights, and errors by the sampling design.

The estimating equations are weighted means of what each report adds to them, so they are solved as
without weights, from the weighted table. Their error is that of any weighted mean (Binder 1983):
sums over clusters within strata, raked weights included. Without noise this is `svyglm` of R's
survey. Degrees of freedom are those of the design less the columns besides the intercept, as there.
"""

from __future__ import annotations

import numpy as np

from castell.counting import Counts
from castell.inference.regression.complete_cases import CompleteCases
from castell.inference.regression.corrected_scores import Root, logit_root_of, score_error
from castell.inference.regression.design_matrix import DesignMatrix
from castell.inference.sampling_design import SampleDesign
from castell.inference.weighted_reports import WeightedReports
from castell.linear.operators import Floats


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
