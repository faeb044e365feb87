"""Regression by corrected scores: the equations that the answers would satisfy, without bias.

The score of a regression is a mean over respondents of a function of their answers. Its unbiased
estimate from the reports (`unbiased_means`) has the same root on average, whatever the
distribution of the covariates and whether or not the regression is right: what is estimated are the
coefficients that a fit to the answers themselves would give (Nakamura 1990). With much noise
errors are larger than maximum likelihood's, and there may be no root. Errors are the sandwich's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from castell.counting import Counts
from castell.errors import QueryError
from castell.inference.pooled_table import average_of_views, views
from castell.inference.regression.complete_cases import CompleteCases, answered_by, in_whole
from castell.inference.regression.design_matrix import DesignMatrix
from castell.inference.regression.logit import curvature, newton, probabilities
from castell.inference.unbiased_means import means_of, unbiased_means
from castell.linear.operators import Floats
from castell.linear.table import Table


@dataclass(frozen=True, eq=False)
class Root:
    """Coefficients by column of the design and value of the outcome, and their covariance."""

    coefficients: Floats
    covariance: Floats
    found: bool


def logit_root(counts: Counts, design: DesignMatrix, outcome: str) -> Root:
    """Of a multinomial logit; some reports must hold all of its attributes."""
    names = (*design.covariates, outcome)
    seen = views(counts, names)
    cases = CompleteCases.of(counts.study.schema, names)
    table = average_of_views(seen)

    def spread(scores: Floats) -> Floats:
        parts = [weight**2 * means_of(view, scores).covariance for weight, view in seen]
        return np.asarray(sum(parts))

    return logit_root_of(table, cases, design, spread)


def logit_root_of(
    table: Floats, cases: CompleteCases, design: DesignMatrix, spread: Callable[[Floats], Floats]
) -> Root:
    """Of an unbiased table; `spread` says how the estimated means of functions of its cells, along
    the first axis, err together."""
    values = cases.sizes[-1]
    answers = cases.part(table).reshape(design.cells, values)
    start = np.zeros((design.matrix.shape[1], values - 1))
    coefficients, found = newton(design.matrix, answers, start)
    chances = probabilities(design.matrix, coefficients)
    bend = curvature(design.matrix, chances, answers.sum(axis=1))
    found = found and float(np.linalg.eigvalsh(bend).min()) > 0.0
    if not found:
        return Root(coefficients, np.full(bend.shape, np.nan), found=False)
    # The score of one answer: x (1[y = k] - P(k | x)).
    apart = np.eye(values)[None, :, 1:] - chances[:, None, 1:]
    each = np.einsum("cp,cyk->pkcy", design.matrix, apart).reshape(len(bend), -1)
    meat = spread(np.array([cases.whole(one) for one in each]))
    inverse = np.linalg.inv(bend)
    return Root(coefficients, inverse @ meat @ inverse, found=True)


def linear_root(counts: Counts, design: DesignMatrix, outcome: Table) -> Root:
    """Of least squares: means of products of two columns are all it needs, so it is enough that
    some reports hold the attributes of each two columns, and all that somebody may not answer."""
    schema = counts.study.schema
    columns = [in_whole(schema, one) for one in (*design.functions, outcome)]
    who = answered_by(schema, (*design.covariates, *outcome.names))
    pairs = list(combinations_with_replacement(range(len(columns)), 2))
    products = [_product(_product(columns[i], columns[k]), who) for i, k in pairs]
    constant = [k for k, one in enumerate(products) if not one.names]
    asked = [k for k in range(len(products)) if k not in constant]
    means = unbiased_means(counts, [products[k] for k in asked])
    values = np.zeros(len(products))
    values[constant] = [float(products[k].values) for k in constant]
    values[asked] = means.values
    square = np.zeros((len(columns), len(columns)))
    for (i, k), value in zip(pairs, values, strict=True):
        square[i, k] = square[k, i] = value
    inner, right = square[:-1, :-1], square[:-1, -1]
    if float(np.linalg.eigvalsh(inner).min()) <= 0.0:
        return Root(np.zeros((len(right), 1)), np.full(inner.shape, np.nan), found=False)
    coefficients: Floats = np.asarray(np.linalg.solve(inner, right), dtype=np.float64)
    # The estimated equation E x_j y - sum_k E x_j x_k b_k = 0, as weights on the means.
    weights = np.zeros((len(right), len(products)))
    for m, (i, k) in enumerate(pairs):
        for one, other in {(i, k), (k, i)}:
            if one < len(right):
                weights[one, m] += 1.0 if other == len(right) else -coefficients[other]
    own = weights[:, asked]
    inverse = np.linalg.inv(inner)
    meat = own @ means.covariance @ own.T
    return Root(np.asarray(coefficients[:, None]), np.asarray(inverse @ meat @ inverse), found=True)


def _product(one: Table, two: Table) -> Table:
    names = tuple(sorted({*one.names, *two.names}))
    return Table(names, np.asarray(one.along(names) * two.along(names)))


def refuse_no_root(root: Root) -> None:
    """With so much noise nothing is estimated rather than something wrong."""
    if not root.found:
        raise QueryError(
            "the corrected equations have no solution: the noise outweighs the covariates",
            "use fewer terms, method='likelihood' for a logit, or collect more reports",
        )
