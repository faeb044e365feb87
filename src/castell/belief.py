"""How strongly to believe a model of a table, next to what reports say of the table themselves.

The table is fitted by maximum likelihood with a prior that its cells lie near the model's. How near
is what makes held-out reports most likely. Where there is an unbiased table, the two are averaged.

That is a table of people like the respondents. What they themselves answered differs from it by
chance, and with little noise their reports say how: Bayes' rule gives the expected answer behind
each report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from castell.inversion import Observed
from castell.likelihood import Likelihood, Nearby
from castell.operators import Floats

# How many respondents in a cell it takes to be believed as much as the model. No model is right to
# better than a few per cent of a large cell, which is what a thousand respondents can tell.
# Never nothing: with much noise plain maximum likelihood heaps a wide table on a few cells.
STRENGTHS = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
# A weaker belief must gain this many standard errors of the difference.
DOUBT = 1.0
# Stop looking once this many strengths in a row made held-out reports less likely.
ENOUGH = 2
COARSE, CLOSE = 0.05, 0.01


@dataclass(frozen=True, eq=False)
class Deal:
    """Reports to fit to and reports to judge by, and a model that has not seen the latter."""

    seen: Likelihood
    unseen: Likelihood
    model: Floats

    @classmethod
    def of(cls, seen: Observed, unseen: Observed, model: Floats) -> Deal:
        return cls(Likelihood.of(seen), Likelihood.of(unseen), _positive(seen, model))

    def logs(self, table: Floats) -> Floats:
        """The log chance of each kind of unseen report, under a table."""
        return self.seen.logs(table, self.unseen.counts > 0)

    @property
    def weights(self) -> Floats:
        return self.unseen.counts[self.unseen.counts > 0]

    def fit(self, start: Floats, strength: float) -> Floats:
        prior = Nearby(self.model, strength, self.seen.n)
        return self.seen.fit(np.maximum(start, 1e-12), prior, COARSE)


def drawn_towards(
    observed: Observed, base: Floats, strength: float, close: float = CLOSE
) -> Floats:
    """The most likely table with pseudo-respondents who answer as `base` says."""
    likelihood, start = Likelihood.of(observed), _positive(observed, base)
    fitted = likelihood.fit(start, Nearby(start, strength, likelihood.n), close)
    return observed.in_order_asked(fitted)


def answered(observed: Observed, table: Floats) -> Floats:
    """What the respondents answered, if they come from people who answer as a table says.

    Through much noise that is the table itself; without any, it is what they report.
    """
    likelihood = Likelihood.of(observed)
    expected = likelihood.answered(_positive(observed, table))
    return observed.in_order_asked(expected / likelihood.n)


def _positive(observed: Observed, table: Floats) -> Floats:
    """A table in the order of blocks, no cell of it empty."""
    cells: Floats = np.maximum(observed.in_block_order(table), 1e-12)
    return np.asarray(cells / cells.sum())


def choose(deals: Sequence[Deal]) -> tuple[float, float]:
    """How strongly to believe a model, by reports it has not seen, and how weakly one might.

    The strongest belief that does as well as the best one up to the standard error of their
    difference: mistaking noise for an association costs more than missing some of it. And the
    weakest that does: what reports cannot rule out, intervals must allow for.
    """
    weights = np.concatenate([deal.weights for deal in deals])
    tables = [deal.model for deal in deals]
    logs: list[Floats] = []
    best, worse = 0, 0
    for strength in STRENGTHS:
        tables = [d.fit(t, strength) for d, t in zip(deals, tables, strict=True)]
        logs.append(np.concatenate([d.logs(t) for d, t in zip(deals, tables, strict=True)]))
        if weights @ logs[-1] > weights @ logs[best]:
            best, worse = len(logs) - 1, 0
        else:
            worse += 1
        if worse >= ENOUGH:
            break
    behind = np.array(logs)[best] - np.array(logs)
    total = weights.sum()
    lost = behind @ weights
    error = np.sqrt(np.maximum(behind**2 @ weights - lost**2 / total, 0.0))
    # Through much noise all beliefs do nearly alike: a gain of less than one in the log for each
    # deal is chance, however small its error.
    alike = np.flatnonzero(lost <= np.maximum(DOUBT * error, 1.0))
    strong = 0 if lost[0] < len(deals) else alike[0]
    # Beliefs that were not tried, or not any more, are not ruled out by that.
    weak = STRENGTHS[alike[-1]] if alike[-1] < len(logs) - 1 else 0.0
    return STRENGTHS[strong], weak


def share_of(direct: Floats, model: Floats, variance: float) -> float:
    """How much to believe an unbiased table next to a model's.

    The squared difference is the direct table's noise and the model's error. As James and Stein
    showed, the best share is the part of it that is not noise; only what stands out from noise by
    two standard deviations counts (a sum of so many squares varies by about sqrt(2 / many)).
    """
    square = float(((direct - model) ** 2).sum())
    if square == 0.0:
        return 0.0
    noise = variance * (1.0 + 2.0 * sqrt(2.0 / max(direct.size - 1, 1)))
    return max(0.0, 1.0 - noise / square)
