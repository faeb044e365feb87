"""Maximum likelihood of a multinomial logit through the channels.

A report r has the chance P_r = sum over (x, y) of P(r | x, y) P(y | x; t) p(x), with any
distribution p of the covariates. Its likelihood is maximised over t and p together by EM: each
report is shared out over the answers it may come from, then the coefficients are those of a logit
of the shared-out answers, and p is their distribution. Two EM steps show where it is going; the
longer stride of SQUAREM follows, and is taken back where the likelihood would fall. Where blocks
hold attributes besides the regression's, their distribution given these is estimated along.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from castell.inference.regression.complete_cases import CompleteCases
from castell.inference.regression.logit import newton, probabilities
from castell.inference.regression.views import View
from castell.linear.operators import Floats

MOST_ROUNDS = 300
# EM has arrived where log odds have less than this to go, and a step gains less log likelihood.
CLOSE, LEAST_GAIN = 1e-6, 1e-7
# Log odds beyond this are on their way to infinity: the reports tell some outcome for sure.
FARTHEST = 15.0


@dataclass(frozen=True, eq=False)
class State:
    """Coefficients, the covariates' distribution among complete cases times their share, and each
    view's distribution of others."""

    coefficients: Floats
    covariates: Floats
    others: tuple[Floats, ...]
    incomplete: Floats  # the shares of cells in which some question is not answered


@dataclass(frozen=True, eq=False)
class Problem:
    """The reports, and the logit they are to be explained by; the outcome is the last name."""

    views: tuple[View, ...]
    names: tuple[str, ...]
    shape: tuple[int, ...]
    matrix: Floats
    complete: CompleteCases | None = None  # all of them, if it is not said

    @cached_property
    def cases(self) -> CompleteCases:
        return self.complete or CompleteCases.everybody(self.shape)

    @property
    def values(self) -> int:
        """How many values of the outcome are answers."""
        return self.cases.sizes[-1]

    @property
    def n(self) -> int:
        return sum(view.n for view in self.views)

    def start(self) -> State:
        cells, values = len(self.matrix), self.values
        outside = int(self.cases.incomplete.sum())
        share = 1.0 / (cells * values + outside)
        return State(
            np.zeros((self.matrix.shape[1], values - 1)),
            np.full(cells, values * share),
            tuple(view.even() for view in self.views),
            np.full(outside, share),
        )

    def table(self, state: State) -> Floats:
        """How all answers are distributed."""
        chances = probabilities(self.matrix, state.coefficients)
        return self.cases.whole(state.covariates[:, None] * chances, state.incomplete)

    def step(self, state: State) -> tuple[State, float]:
        """One EM step, and the log likelihood before it."""
        table, log = self.table(state), 0.0
        weights, others = np.zeros(self.shape), []
        for view, rest in zip(self.views, state.others, strict=True):
            own = view.whole(table, self.names) * rest
            chances = np.maximum(view.forward(own), 1e-300)
            counts = view.likelihood.counts
            log += float((counts * np.log(chances)).sum())
            back = view.backward(counts / chances)
            weights += view.spread((rest * back).sum(axis=view.others), self.names)
            shared = own * back
            whole = shared.sum(axis=view.others, keepdims=True)
            others.append(np.where(whole > 0.0, shared / np.maximum(whole, 1e-300), rest))
        shared = table * weights
        answers = self.cases.part(shared).reshape(len(self.matrix), -1)
        better, _ = newton(self.matrix, answers, state.coefficients, steps=2)
        all_of_them = float(shared.sum())
        covariates = answers.sum(axis=1) / all_of_them
        incomplete = shared[self.cases.incomplete] / all_of_them
        return State(better, covariates, tuple(others), incomplete), log


def maximize(problem: Problem) -> tuple[State, float, bool]:
    """The most likely state, its log likelihood, and whether the search arrived."""
    state, best = problem.start(), -np.inf
    for _ in range(MOST_ROUNDS):
        first, log = problem.step(state)
        second, after = problem.step(first)
        steps = [
            float(np.abs(problem.matrix @ (two.coefficients - one.coefficients)).max(initial=0.0))
            for one, two in ((state, first), (first, second))
        ]
        if _ahead(*steps) < CLOSE and after - log < LEAST_GAIN:
            return second, problem.step(second)[1], True
        if float(np.abs(problem.matrix @ second.coefficients).max(initial=0.0)) > FARTHEST:
            return second, problem.step(second)[1], False
        far = _stride(state, first, second)
        landed, reached = problem.step(far)
        # A stride that overshoots is taken back: EM itself never makes the likelihood worse.
        state = landed if reached >= max(log, best) - 1e-12 * abs(log) else second
        best = max(best, log)
    return state, problem.step(state)[1], False


def _ahead(before: float, after: float) -> float:
    """How far it still is: EM's steps shrink by a steady ratio at last, and may be small from the
    start."""
    return after / max(1.0 - after / before, 1e-3) if before > 0.0 else after


def _stride(zero: State, one: State, two: State) -> State:
    """Squared extrapolation from three states in a row (Varadhan and Roland 2008)."""
    packed = [
        np.concatenate([s.coefficients.ravel(), np.sqrt(s.covariates), np.sqrt(s.incomplete)])
        for s in (zero, one, two)
    ]
    go, bend = packed[1] - packed[0], packed[2] - 2.0 * packed[1] + packed[0]
    length = max(1.0, float(np.sqrt((go**2).sum() / max((bend**2).sum(), 1e-300))))
    length = min(length, 200.0)
    far = packed[0] + 2.0 * length * go + length**2 * bend
    many = zero.coefficients.size
    shares = np.maximum(far[many:], 0.1 * packed[2][many:]) ** 2
    shares /= shares.sum()
    covariates, incomplete = np.split(shares, [len(zero.covariates)])
    return State(far[:many].reshape(zero.coefficients.shape), covariates, two.others, incomplete)
