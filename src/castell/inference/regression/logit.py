"""The multinomial logit: how an outcome is distributed for each combination of covariates.

With coefficients t, a row for each column of the design matrix and a column for each value of the
outcome but the first, P(y | x) is proportional to exp(x t_y), and to 1 for the first value. With
two values that is logistic regression.
"""

from __future__ import annotations

import numpy as np

from castell.linear.operators import Floats

MOST_STEPS = 60


def probabilities(matrix: Floats, coefficients: Floats) -> Floats:
    """A row for each combination of covariates, a column for each value of the outcome."""
    scores = np.column_stack([np.zeros(len(matrix)), matrix @ coefficients])
    scores -= scores.max(axis=1, keepdims=True)
    chances = np.exp(scores)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def slopes(matrix: Floats, chances: Floats) -> Floats:
    """The derivative of every probability: coefficients (by column of the design, then value) x
    combinations x values."""
    cells, values = chances.shape
    unit = np.eye(values)[1:]
    # d P(y) / d t_k = P(y) (1[y = k] - P(k)) x.
    change = chances[None] * (unit[:, None, :] - chances.T[1:, :, None])
    found = matrix.T[:, None, :, None] * change[None]
    return np.asarray(found.reshape(matrix.shape[1] * (values - 1), cells, values))


def curvature(matrix: Floats, chances: Floats, weights: Floats) -> Floats:
    """sum over combinations of weights x X'(diag p - p p')X: minus the Hessian of the
    log-likelihood of as many answers."""
    columns, values = matrix.shape[1], chances.shape[1]
    some = chances[:, 1:]
    between = (
        some[:, :, None] * (np.eye(values - 1)[None] - some[:, None, :]) * weights[:, None, None]
    )
    rows = (matrix[:, :, None, None] * between[:, None]).reshape(len(matrix), -1)
    found = (matrix.T @ rows).reshape(columns, columns, values - 1, values - 1)
    return np.asarray(found.transpose(1, 2, 0, 3).reshape(columns * (values - 1), -1))


def score(matrix: Floats, chances: Floats, answers: Floats) -> Floats:
    """The slope of the log-likelihood of answers, counts or weights in the shape of `chances`."""
    apart = answers - answers.sum(axis=1, keepdims=True) * chances
    return np.asarray((matrix.T @ apart[:, 1:]).ravel())


def newton(
    matrix: Floats, answers: Floats, start: Floats, *, steps: int = MOST_STEPS, close: float = 1e-12
) -> tuple[Floats, bool]:
    """The coefficients with score 0, and whether they were found. Counts below 0 are allowed: then
    there may be none."""
    coefficients, whole = start.copy(), max(float(answers.sum()), 1e-300)
    for _ in range(steps):
        chances = probabilities(matrix, coefficients)
        slope = score(matrix, chances, answers) / whole
        bend = curvature(matrix, chances, answers.sum(axis=1) / whole)
        try:
            step = np.linalg.solve(bend, slope)
        except np.linalg.LinAlgError:
            return coefficients, False
        # Far steps are cut: the logit is flat out there.
        reach = float(np.abs(matrix @ step.reshape(coefficients.shape)).max())
        step *= min(1.0, 2.0 / max(reach, 1e-300))
        coefficients = coefficients + step.reshape(coefficients.shape)
        if reach < close:
            return coefficients, True
        if not np.isfinite(coefficients).all():
            return start, False
    return coefficients, False
