"""The most likely distribution of answers, given reports, through the study's own channels.

Maximum likelihood stays on the simplex, where inversion does not, and uses what the reports say in
full. With much noise it overfits like anything that follows the data all the way; a prior of
pseudo-respondents shrinks it towards a plain model. The problem is concave, so what is found does
not depend on where the search starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from castell.inference.inversion import Observed
from castell.linear.operators import Floats, Operator, Uniform, apply

# How far from the maximum a search may stop, in parts of 1 / sqrt(n): of what chance moves anyway.
CLOSE = 1e-3
MOST_STEPS = 500


class Prior(Protocol):
    """A prior of the answers: what is known before the reports."""

    def m_step(self, expected: Floats) -> Floats:
        """The shares, up to their sum, of a distribution with these expected respondents."""
        ...


@dataclass(frozen=True, eq=False)
class DirichletPrior:
    """A Dirichlet prior: pseudo-respondents in each cell, added to the real ones."""

    counts: Floats

    def m_step(self, expected: Floats) -> Floats:
        return expected + self.counts


@dataclass(frozen=True, eq=False)
class GammaPrior:
    """Independent gamma priors on the cells' rates, each with its mode at a model's cell.

    Reports are taken as Poisson counts of rates r, and the shares are r / sum r. The prior of a
    cell has shape c + 1 and rate c / model, so it adds c (log r - r / model) to the log-likelihood
    sum y log(Phi' r) - n sum r. The concentration c is how many respondents in a cell it takes to
    weigh as much as the model: a large cell speaks for itself, a small one is the model's.
    """

    model: Floats
    concentration: float
    n: float

    def m_step(self, expected: Floats) -> Floats:
        # Times the model above and below, so that a cell that it says is impossible stays 0.
        c = self.concentration
        return np.asarray((expected + c) * self.model / (self.n * self.model + c))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The reports of some attributes: counts with one axis for each part, and the way there."""

    counts: Floats
    forward: tuple[Operator, ...]
    backward: tuple[Operator, ...]

    @classmethod
    def of(cls, observed: Observed) -> Likelihood:
        forward = tuple(part.lens.forward for part in observed.parts)
        backward = tuple(operator.transpose() for operator in forward)
        return cls(observed.frequencies() * observed.n, forward, backward)

    @property
    def n(self) -> float:
        return float(self.counts.sum())

    def replace(self, counts: Floats) -> Likelihood:
        return Likelihood(counts, self.forward, self.backward)

    def log(self, pi: Floats) -> float:
        """The log likelihood of a distribution of answers."""
        seen = self.counts > 0
        return float(self.counts[seen] @ self.logs(pi, seen))

    def logs(self, pi: Floats, of: NDArray[np.bool_]) -> Floats:
        """The log of the chance of each of some reports."""
        return np.log(np.maximum(apply(self.forward, pi)[of], 1e-300))

    def step(self, pi: Floats, prior: Prior) -> Floats:
        """One step of expectation and maximisation.

        Each report is shared out over the answers it may come from, in proportion to how likely
        they are now; the shares and the prior make the next distribution.
        """
        updated = prior.m_step(self.expected_answers(pi))
        return np.asarray(updated / updated.sum())

    def expected_answers(self, pi: Floats) -> Floats:
        """How many of these respondents gave each answer, expected from their reports.

        If people answer as `pi` says, that is Bayes' rule for each report.
        """
        expected = apply(self.forward, pi)
        ratio = self.counts / np.maximum(expected, 1e-300)
        return np.asarray(pi * apply(self.backward, ratio))

    def fit(self, start: Floats, prior: Prior, close: float = CLOSE) -> Floats:
        """The most likely distribution, by EM with squared extrapolation (SQUAREM).

        Plain EM crawls where noise is large. Two steps show where it is going; a longer stride in
        that direction, followed by a step that mends what it broke, gets there many times faster.
        """
        pi = start
        for _ in range(MOST_STEPS):
            first = self.step(pi, prior)
            second = self.step(first, prior)
            stride, bend = first - pi, second - 2.0 * first + pi
            if _ahead(stride, second - first) < close / max(self.n, 1.0) ** 0.5:
                return second
            length = max(1.0, float(np.sqrt((stride**2).sum() / max((bend**2).sum(), 1e-300))))
            far = pi + 2.0 * length * stride + length**2 * bend
            # Where it would leave the simplex a cell keeps some of what two steps gave it.
            far = np.maximum(far, 0.1 * second)
            pi = self.step(far / far.sum(), prior)
        return pi


def _ahead(one: Floats, two: Floats) -> float:
    """How far it still is, from two steps: they shrink by a steady ratio, as EM's do at last.

    A small step alone says little. Through a noisy channel the steps are a small part of the way.
    """
    before, after = float(np.abs(one).sum()), float(np.abs(two).sum())
    if after == 0.0:
        return 0.0
    return after / max(1.0 - after / before, 1e-4)


def margin(observed: Observed) -> Floats:
    """The most likely distribution over one part: in closed form for k-ary response."""
    (part,) = observed.parts
    if isinstance(part.lens.forward, Uniform):
        flat = _kary_maximum(part.lens.forward, observed.frequencies())
        return observed.in_order_asked(flat)
    likelihood = Likelihood.of(observed)
    size = part.lens.forward.columns
    return observed.in_order_asked(
        likelihood.fit(np.full(size, 1.0 / size), DirichletPrior(np.zeros(size)), CLOSE / 100)
    )


def _kary_maximum(forward: Uniform, shares: Floats) -> Floats:
    """Where reports are the answer with p and any other with q: pour until it is full.

    The likelihood is largest where share / (pi + r), r = q / (p - q), is one number for all cells
    with pi > 0 and no larger for the others. With the cells in order that is found in one pass.
    """
    floor = forward.rest / (forward.diagonal - forward.rest)
    ordered = np.sort(shares)[::-1]
    scales = np.cumsum(ordered) / (1.0 + floor * np.arange(1, len(ordered) + 1))
    last = int(np.flatnonzero(ordered > floor * scales)[-1])
    pi = np.maximum(shares / scales[last] - floor, 0.0)
    return np.asarray(pi / pi.sum())
