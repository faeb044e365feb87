"""How far maximum likelihood estimates may be off, p(x) being estimated too.

With s_r the score of a report for all parameters (coefficients t, the covariates' distribution p,
distributions q of other attributes of blocks) and J minus the Hessian of the log likelihood, the
nuisance parameters v = (p, q) are taken out:

    J_eff = J_tt - J_tv J_vv^- J_vt,    s_eff = s_t - J_tv J_vv^- s_v.

The inverse of J_eff is the covariance if the logit is right (observed information); the sandwich
J_eff^-1 (sum s_eff s_eff') J_eff^-1 is so whether or not it is. Every p(x) is free, those at 0 too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from castell.errors import QueryError
from castell.inference.regression.logit import curvature, probabilities, slopes
from castell.inference.regression.maximum_likelihood import Problem, State
from castell.inference.regression.views import View
from castell.linear.operators import Floats

Seen = NDArray[np.bool_]
# Scores of all parameters and reports, as numbers.
MOST_NUMBERS = 1 << 27


@dataclass(frozen=True, eq=False)
class Covariance:
    """Of the coefficients, by column of the design and then value of the outcome."""

    information: Floats
    sandwich: Floats
    known: bool  # whether the information could be inverted


def check_size(problem: Problem) -> None:
    """Refuse what would not fit before any work is done for it."""
    parameters = len(problem.matrix) + problem.matrix.shape[1] * (problem.values - 1)
    parameters += int(problem.cases.incomplete.sum())
    for view in problem.views:
        numbers = (parameters + view.even().size) * view.likelihood.counts.size
        if numbers > MOST_NUMBERS:
            raise QueryError(
                f"the covariates have {len(problem.matrix):,} combinations, too many to estimate",
                "leave some out, or use method='corrected' with family='linear'",
            )


def covariance(problem: Problem, state: State) -> Covariance:
    """The covariance of the coefficients at the maximum."""
    chances = probabilities(problem.matrix, state.coefficients)
    changes = slopes(problem.matrix, chances)  # coefficients x combinations x values
    many, cells, values = changes.shape
    outside = int(problem.cases.incomplete.sum())
    own = [view.even().size if view.others else 0 for view in problem.views]
    total = many + cells + outside + sum(own)
    bread = np.zeros((total, total))
    weights = np.zeros(problem.shape)
    scores: list[tuple[Floats, Floats]] = []  # of each view: counts, and scores of its reports
    at = many + cells + outside
    free = [problem.cases.whole(np.zeros((cells, values)), unit) for unit in np.eye(outside)]
    for view, rest, more in zip(problem.views, state.others, own, strict=True):
        table = problem.table(state)
        reports = view.forward(view.whole(table, problem.names) * rest).ravel()
        counts = view.likelihood.counts.ravel()
        seen = counts > 0.0
        gains = np.zeros((total, int(seen.sum())))
        along = [problem.cases.whole(one) for one in state.covariates[None, :, None] * changes]
        gains[:many] = _gains(problem, view, rest, along, seen)
        each = np.zeros((cells, cells, values))
        each[np.arange(cells), np.arange(cells)] = chances
        along = [problem.cases.whole(one) for one in each]
        gains[many : many + cells] = _gains(problem, view, rest, along, seen)
        if outside:
            gains[many + cells : many + cells + outside] = _gains(problem, view, rest, free, seen)
        if more:
            gains[at : at + more] = _gains_of_others(problem, view, table, seen)
            at += more
        gains /= reports[seen]
        bread += (gains * counts[seen]) @ gains.T
        scores.append((counts[seen], gains))
        ratio = np.where(seen, counts / np.where(seen, reports, 1.0), 0.0)
        back = view.backward(ratio.reshape(view.likelihood.counts.shape))
        weights += view.spread((rest * back).sum(axis=view.others), problem.names)
    flat = problem.cases.part(weights).reshape(cells, values)
    # The second derivatives: of P(y | x) by the coefficients, and by these and p(x).
    bread[:many, :many] -= _second(problem.matrix, chances, state.covariates, flat)
    cross = (changes * flat[None]).sum(axis=2)
    bread[:many, many : many + cells] -= cross
    bread[many : many + cells, :many] -= cross.T
    return _without_nuisance(bread, scores, many)


def _gains(
    problem: Problem, view: View, rest: Floats, tables: Sequence[Floats], seen: Seen
) -> Floats:
    """How the chances of the reports change along some tables."""
    return np.array(
        [view.forward(view.whole(one, problem.names) * rest).ravel()[seen] for one in tables]
    )


def _gains_of_others(problem: Problem, view: View, table: Floats, seen: Seen) -> Floats:
    """The same along the distributions of other attributes, which sum to one for each of the shown
    attributes' values."""
    shape = view.observed.shape
    shown = shape[: len(view.shown)]
    scale = np.broadcast_to(view.whole(table, problem.names), shape).reshape(*shown, -1)
    size = scale.shape[-1]
    found = []
    for place in np.ndindex(*shown):
        for k in range(size):
            one = np.zeros((*shown, size))
            one[place] = -scale[place][k] / size
            one[(*place, k)] += scale[(*place, k)]
            found.append(view.forward(one.reshape(shape)).ravel()[seen])
    return np.array(found)


def _second(matrix: Floats, chances: Floats, covariates: Floats, weights: Floats) -> Floats:
    """sum of weights x p(x) x the second derivatives of P(y | x).

    For a logit it is P (u u' - V), with u the slope of log P and V the curvature.
    """
    changes = slopes(matrix, chances)
    mass = weights * covariates[:, None]
    logs = (changes / np.maximum(chances, 1e-300)[None]).reshape(len(changes), -1)
    outer = (logs * (mass * chances).ravel()) @ logs.T
    inner = curvature(matrix, chances, (mass * chances).sum(axis=1))
    return np.asarray(outer - inner)


def _without_nuisance(bread: Floats, scores: list[tuple[Floats, Floats]], many: int) -> Covariance:
    nuisance = bread[many:, many:]
    scale = np.sqrt(np.maximum(np.diag(nuisance), 1e-300))
    usable = np.diag(nuisance) > 1e-12 * max(float(np.diag(nuisance).max(initial=0.0)), 1e-300)
    inverse = np.linalg.pinv(
        (nuisance / np.outer(scale, scale))[np.ix_(usable, usable)], rcond=1e-10, hermitian=True
    )
    pull = np.zeros((many, len(scale)))
    pull[:, usable] = (bread[:many, many:][:, usable] / scale[usable]) @ inverse / scale[usable]
    efficient = bread[:many, :many] - pull @ bread[many:, :many]
    meat = np.zeros((many, many))
    for counts, gains in scores:
        own = gains[:many] - pull @ gains[many:]
        own = own - (own @ counts / counts.sum())[:, None]
        meat += (own * counts) @ own.T
    efficient = (efficient + efficient.T) / 2
    low = float(np.linalg.eigvalsh(efficient).min())
    if low <= 1e-12 * max(float(np.abs(efficient).max()), 1e-300):
        unknown = np.full((many, many), np.nan)
        return Covariance(unknown, unknown, known=False)
    information: Floats = np.asarray(np.linalg.inv(efficient), dtype=np.float64)
    return Covariance(information, information @ meat @ information, known=True)
