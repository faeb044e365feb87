"""Regression by corrected scores: the equations that the answers would satisfy, without bias.

The score of a regression is a mean over respondents of a function of their answers. Its unbiased
estimate from the reports (`unbiased_means`) has the same root on average, whatever the
distribution of the covariates and whether or not the regression is right: what is estimated are the
coefficients that a fit to the answers themselves would give (Nakamura 1990). With much noise
errors are larger than maximum likelihood's, and there may be no root. Errors are the sandwich's,
and intervals know that the noise is in the slope of the equations too (`score_error`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from castell.counting import Counts
from castell.errors import QueryError
from castell.inference.pooled_table import average_of_views, views
from castell.inference.regression.complete_cases import CompleteCases, answered_by, in_whole
from castell.inference.regression.design_matrix import DesignMatrix
from castell.inference.regression.logit import curvature, newton, probabilities
from castell.inference.regression.score_error import ScoreError, profile_directions
from castell.inference.unbiased_means import means_of, unbiased_means
from castell.linear.operators import Floats
from castell.linear.table import Table

# How the estimated means of functions of the answers err together, along the first axis: in all,
# and by the noise of the reports alone.
Spread = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Root:
    """Coefficients by column of the design and value of the outcome, and how far they are off."""

    coefficients: Floats
    error: ScoreError
    found: bool

    @classmethod
    def none(cls, coefficients: Floats) -> Root:
        """The equations have none."""
        unknown = np.full((coefficients.size, coefficients.size), np.nan)
        return cls(coefficients, ScoreError.constant(unknown), found=False)


def logit_root(counts: Counts, design: DesignMatrix, outcome: str) -> Root:
    """Of a multinomial logit; some reports must hold all of its attributes."""
    names = (*design.covariates, outcome)
    seen = views(counts, names)
    cases = CompleteCases.of(counts.study.schema, names)
    table = average_of_views(seen)

    def spread(functions: Floats) -> tuple[Floats, Floats]:
        found = [(weight**2, means_of(view, functions)) for weight, view in seen]
        covariance = sum(square * means.covariance for square, means in found)
        return np.asarray(covariance), np.asarray(sum(s * means.noise for s, means in found))

    return logit_root_of(table, cases, design, spread)


def logit_root_of(
    table: Floats, cases: CompleteCases, design: DesignMatrix, spread: Spread
) -> Root:
    """Of an unbiased table."""
    values = cases.sizes[-1]
    answers = cases.part(table).reshape(design.cells, values)
    start = np.zeros((design.matrix.shape[1], values - 1))
    coefficients, found = newton(design.matrix, answers, start)
    chances = probabilities(design.matrix, coefficients)
    bend = curvature(design.matrix, chances, answers.sum(axis=1))
    if not found or not float(np.linalg.eigvalsh(bend).min()) > 0.0:
        return Root.none(coefficients)
    # What an answer adds to the equations: x (1[y = k] - P(k | x)).
    apart = np.eye(values)[None, :, 1:] - chances[:, None, 1:]
    scores = np.einsum("cp,cyk->pkcy", design.matrix, apart).reshape(len(bend), -1)

    def slopes(one: Floats, two: Floats) -> Floats:
        """What it adds to the slope of the equations combined in one way along another."""
        first, second = (
            np.einsum("cp,mpk->mck", design.matrix, each.reshape(len(each), -1, values - 1))
            for each in (one, two)
        )
        some = chances[:, 1:]
        means = (first * some).sum(axis=2) * (second * some).sum(axis=2)
        found = (first * second * some).sum(axis=2) - means
        return np.repeat(found, values, axis=1)

    return Root(coefficients, score_error(bend, scores, slopes, cases, spread), found=True)


def score_error(
    bend: Floats,
    scores: Floats,
    slopes: Callable[[Floats, Floats], Floats],
    cases: CompleteCases,
    spread: Spread,
) -> ScoreError:
    """Of equations with this slope, from what the answers of complete cases add."""
    inverse = np.asarray(np.linalg.inv(bend), dtype=np.float64)
    along = slopes(inverse, profile_directions(inverse))
    each = np.array([cases.whole(one) for one in (*(inverse @ scores), *along)])
    covariance, noise = spread(each)
    many = len(bend)
    return ScoreError.along_profiles(covariance[:many, :many], noise)


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
        return Root.none(np.zeros((len(right), 1)))
    coefficients: Floats = np.asarray(np.linalg.solve(inner, right), dtype=np.float64)
    inverse = np.asarray(np.linalg.inv(inner), dtype=np.float64)
    # The equations E x_j y - sum_k E x_j x_k b_k = 0 combined by each row of the inverse, and their
    # slopes along the profile of each coefficient: both as weights on the means.
    rows = np.pad(inverse, ((0, 0), (0, 1)))
    residual = np.broadcast_to(np.append(-coefficients, 1.0), rows.shape)
    along = np.pad(profile_directions(inverse), ((0, 0), (0, 1)))
    both = np.concatenate([_on_pairs(rows, residual, pairs), _on_pairs(rows, along, pairs)])[
        :, asked
    ]
    covariance = both[: len(right)] @ means.covariance @ both[: len(right)].T
    error = ScoreError.along_profiles(covariance, both @ means.noise @ both.T)
    return Root(np.asarray(coefficients[:, None]), error, found=True)


def _on_pairs(one: Floats, two: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    """The product of two sums of columns as a sum of products of two: a row for each."""
    first, second = (list(each) for each in zip(*pairs, strict=True))
    found = one[:, first] * two[:, second] + one[:, second] * two[:, first]
    return np.asarray(found / (1.0 + np.equal(first, second)))


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
