"""How strongly to believe models of a table, next to what reports say of the table themselves.

The table is fitted by maximum likelihood with a prior that its cells lie near the model's. How near
is averaged over, as likely as it makes held-out reports. Where there is an unbiased table, the two
are averaged.

That is a table of people like the respondents. What they themselves answered differs from it by
chance, and with little noise their reports say how: Bayes' rule gives the expected answer behind
each report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from castell.inference.inversion import Observed
from castell.inference.likelihood import Likelihood, Nearby
from castell.linear.operators import Floats

# How many respondents in a cell it takes to be believed as much as the model. No model is right to
# better than a few per cent of a large cell, which is what a thousand respondents can tell.
# Never nothing: with much noise plain maximum likelihood heaps a wide table on a few cells.
STRENGTHS = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
# How likely each weaker belief is beforehand, next to the one before; and what is left out.
LESS_LIKELY = 0.5
NEGLIGIBLE = 0.01
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

    @classmethod
    def each(cls, seen: Observed, unseen: Observed, models: Sequence[Floats]) -> list[Deal]:
        """The same reports, for some models."""
        first = cls.of(seen, unseen, models[0])
        return [first, *(replace(first, model=_positive(seen, model)) for model in models[1:])]

    def logs(self, table: Floats) -> Floats:
        """The log chance of each kind of unseen report, under a table."""
        return self.seen.logs(table, self.unseen.counts > 0)

    @property
    def weights(self) -> Floats:
        return self.unseen.counts[self.unseen.counts > 0]

    def fit(self, start: Floats, strength: float) -> Floats:
        return _near(self.seen, self.model, strength, start, COARSE)


def drawn_towards(
    observed: Observed,
    model: Floats,
    strength: float,
    close: float = CLOSE,
    start: Floats | None = None,
) -> Floats:
    """The most likely table if cells are believed to lie near a model's."""
    likelihood, near = Likelihood.of(observed), _positive(observed, model)
    begin = near if start is None else _positive(observed, start)
    return observed.in_order_asked(_near(likelihood, near, strength, begin, close))


def _near(
    likelihood: Likelihood, model: Floats, strength: float, start: Floats, close: float
) -> Floats:
    prior = Nearby(model, strength, likelihood.n)
    return likelihood.fit(np.maximum(start, 1e-12), prior, close)


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


@dataclass(frozen=True)
class Belief:
    """One of some models, how strongly it is believed, and how likely that is to be right."""

    model: int
    strength: float
    share: float


@dataclass(frozen=True)
class Beliefs:
    """How likely each belief is."""

    shares: tuple[Belief, ...]  # by model, the strongest belief in each first

    @property
    def all_model(self) -> bool:
        """Whether there is nothing to believe but the first model."""
        return [(b.model, b.strength) for b in self.shares] == [(0, STRENGTHS[0])]

    @property
    def typical(self) -> float:
        """One strength for all, to speak of."""
        return float(np.exp(sum(b.share * np.log(b.strength) for b in self.shares)))

    def likely(self, model: int) -> float:
        """How likely a model is to be the better one to believe."""
        return sum(b.share for b in self.shares if b.model == model)

    def table(self, observed: Observed, models: Sequence[Floats], close: float = CLOSE) -> Floats:
        """What the respondents answered: the average over all beliefs."""
        table, starts = np.zeros(models[0].shape), list(models)
        for b in self.shares:
            fitted = drawn_towards(observed, models[b.model], b.strength, close, starts[b.model])
            table, starts[b.model] = table + b.share * fitted, fitted
        return answered(observed, table)


def weigh(models: Sequence[Sequence[Deal]]) -> Beliefs:
    """How strongly to believe which model, by reports that none of them has seen.

    Before these are looked at all models are alike, and each weaker belief in one is less likely
    than the one before: mistaking noise for an association costs more than missing some of it.
    """
    weights = np.concatenate([deal.weights for deal in models[0]])
    first = np.array(_logs(models[0], -np.inf))
    top = float((first @ weights).max())
    found = [first, *(np.array(_logs(deals, top)) for deals in models[1:])]
    likely = [np.exp(f @ weights - top) * LESS_LIKELY ** np.arange(len(f)) for f in found]
    total = sum(float(each.sum()) for each in likely)
    kept = [
        (model, strength, float(chance) / total)
        for model, each in enumerate(likely)
        for strength, chance in zip(STRENGTHS, each, strict=False)
        if chance / total >= NEGLIGIBLE
    ]
    whole = sum(share for _, _, share in kept)
    return Beliefs(tuple(Belief(m, s, share / whole) for m, s, share in kept))


def _logs(deals: Sequence[Deal], top: float) -> list[Floats]:
    """The log chances of unseen reports for each strength, as long as it is worth trying.

    A model next to another is not, if to believe it firmly makes reports far less likely than that:
    a weak belief in it is hardly one.
    """
    weights = np.concatenate([deal.weights for deal in deals])
    tables = [deal.model for deal in deals]
    logs: list[Floats] = []
    best, worse = -np.inf, 0
    for strength in STRENGTHS:
        tables = [d.fit(t, strength) for d, t in zip(deals, tables, strict=True)]
        logs.append(np.concatenate([d.logs(t) for d, t in zip(deals, tables, strict=True)]))
        log = float(weights @ logs[-1])
        worse = 0 if log > best else worse + 1
        best = max(best, log)
        if worse >= ENOUGH or best < top + np.log(NEGLIGIBLE):
            break
    return logs


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
