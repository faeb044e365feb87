"""Bayesian model averaging of one table: a gamma prior around a model's table, its concentration
and the model averaged over by cross-validated likelihood.

That is a table of people like the respondents. What they themselves answered differs from it by
sampling variation, and with little noise their reports say how: the finite-population posterior
mean is one step of Bayes' rule from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from castell.inference.inversion import Observed
from castell.inference.likelihood import GammaPrior, Likelihood
from castell.linear.operators import Floats

# Prior concentrations: how many respondents in a cell weigh as much as the model. No model is right
# to better than a few per cent of a large cell, which is what a thousand respondents can tell.
# Never nothing: with much noise plain maximum likelihood heaps a wide table on a few cells.
CONCENTRATIONS = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
# The prior probability of each smaller concentration next to the one before; weights left out.
PRIOR_RATIO = 0.5
NEGLIGIBLE = 0.01
# Stop once so many concentrations in a row lowered the cross-validated likelihood.
MOST_LOSSES = 2
# The most that the least cells of a prior's centre have together.
MOST_LEAST = 0.003
# How far from the maximum a fit may stop (`Likelihood.fit`): of a fold, and of the table itself.
FOLD_TOLERANCE, TOLERANCE = 0.05, 0.01


@dataclass(frozen=True, eq=False)
class HeldOutFold:
    """Reports to fit to, reports held out, and a model that was fitted without the latter."""

    seen: Likelihood
    held_out: Likelihood
    model: Floats

    @classmethod
    def of(cls, seen: Observed, held_out: Observed, model: Floats) -> HeldOutFold:
        return cls(Likelihood.of(seen), Likelihood.of(held_out), _centre(seen, model))

    @classmethod
    def each(
        cls, seen: Observed, held_out: Observed, models: Sequence[Floats]
    ) -> list[HeldOutFold]:
        """The same reports, for some models."""
        first = cls.of(seen, held_out, models[0])
        return [first, *(replace(first, model=_centre(seen, model)) for model in models[1:])]

    def logs(self, table: Floats) -> Floats:
        """The log chance of each kind of held-out report, under a table."""
        return self.seen.logs(table, self.held_out.counts > 0)

    @property
    def weights(self) -> Floats:
        return self.held_out.counts[self.held_out.counts > 0]

    def fit(self, start: Floats, concentration: float) -> Floats:
        return _near(self.seen, self.model, concentration, start, FOLD_TOLERANCE)


def posterior_mode(
    observed: Observed,
    model: Floats,
    concentration: float,
    close: float = TOLERANCE,
    start: Floats | None = None,
) -> Floats:
    """The posterior mode of a table with a gamma prior around a model's (`GammaPrior`)."""
    likelihood, near = Likelihood.of(observed), _centre(observed, model)
    begin = near if start is None else _positive(observed, start)
    return observed.in_order_asked(_near(likelihood, near, concentration, begin, close))


def _near(
    likelihood: Likelihood, model: Floats, concentration: float, start: Floats, close: float
) -> Floats:
    prior = GammaPrior(model, concentration, likelihood.n)
    return likelihood.fit(np.where(model > 0.0, np.maximum(start, 1e-12), 0.0), prior, close)


def finite_population_mean(observed: Observed, table: Floats) -> Floats:
    """The finite-population posterior mean: what these respondents answered, given a table of the
    population they are from.

    Through much noise that is the table itself; without any, it is what they report.
    """
    likelihood = Likelihood.of(observed)
    expected = likelihood.expected_answers(_positive(observed, table))
    return observed.in_order_asked(expected / likelihood.n)


def _positive(observed: Observed, table: Floats, least: float = 1e-12) -> Floats:
    """A table in the order of blocks, no cell of it empty that is not impossible.

    A mixture has no cell of exactly 0; one that is 0 was declared so, and stays it.
    """
    given = observed.in_block_order(table)
    cells: Floats = np.where(given > 0.0, np.maximum(given, least), 0.0)
    return np.asarray(cells / cells.sum())


def _centre(observed: Observed, model: Floats) -> Floats:
    """What a gamma prior is around: a model's table, no cell of it far below one respondent.

    The prior of a smaller cell would be surer of it than any number of reports, and no model can
    tell so little from nothing. The least cells of wide tables are smaller: together they have
    next to nothing.
    """
    return _positive(observed, model, min(1.0 / max(observed.n, 1), MOST_LEAST / model.size))


@dataclass(frozen=True)
class Component:
    """One of some models, a prior concentration, and the weight of the two in the average."""

    model: int
    concentration: float
    weight: float


@dataclass(frozen=True)
class ModelAverage:
    """Models and prior concentrations, with their posterior weights."""

    components: tuple[Component, ...]  # by model, the largest concentration of each first

    @property
    def only_model(self) -> bool:
        """Whether all weight is on the first model at the largest concentration."""
        found = [(c.model, c.concentration) for c in self.components]
        return found == [(0, CONCENTRATIONS[0])]

    @property
    def concentration(self) -> float:
        """The geometric mean, to speak of."""
        logs = (c.weight * np.log(c.concentration) for c in self.components)
        return float(np.exp(sum(logs)))

    def weight_of(self, model: int) -> float:
        """The posterior weight of a model."""
        return sum(c.weight for c in self.components if c.model == model)

    def table(
        self, observed: Observed, models: Sequence[Floats], close: float = TOLERANCE
    ) -> Floats:
        """The averaged table, and from there the finite-population posterior mean."""
        table, starts = np.zeros(models[0].shape), list(models)
        for c in self.components:
            fitted = posterior_mode(
                observed, models[c.model], c.concentration, close, starts[c.model]
            )
            table, starts[c.model] = table + c.weight * fitted, fitted
        return finite_population_mean(observed, table)


def average_models(models: Sequence[Sequence[HeldOutFold]]) -> ModelAverage:
    """Posterior weights of models and concentrations, from the likelihood of held-out reports.

    A priori all models are alike, and each smaller concentration is less likely than the one
    before: mistaking noise for an association costs more than missing some of it.
    """
    weights = np.concatenate([fold.weights for fold in models[0]])
    first = np.array(_logs(models[0], -np.inf))
    top = float((first @ weights).max())
    found = [first, *(np.array(_logs(folds, top)) for folds in models[1:])]
    likely = [np.exp(f @ weights - top) * PRIOR_RATIO ** np.arange(len(f)) for f in found]
    total = sum(float(each.sum()) for each in likely)
    kept = [
        (model, concentration, float(chance) / total)
        for model, each in enumerate(likely)
        for concentration, chance in zip(CONCENTRATIONS, each, strict=False)
        if chance / total >= NEGLIGIBLE
    ]
    whole = sum(share for _, _, share in kept)
    return ModelAverage(tuple(Component(m, c, share / whole) for m, c, share in kept))


def _logs(folds: Sequence[HeldOutFold], top: float) -> list[Floats]:
    """The held-out log-likelihoods for each concentration, as long as it is worth trying.

    A model next to another is not, if a large concentration on it makes reports far less likely: a
    small one is hardly a prior at all.
    """
    weights = np.concatenate([fold.weights for fold in folds])
    tables = [fold.model for fold in folds]
    logs: list[Floats] = []
    best, worse = -np.inf, 0
    for concentration in CONCENTRATIONS:
        tables = [d.fit(t, concentration) for d, t in zip(folds, tables, strict=True)]
        logs.append(np.concatenate([d.logs(t) for d, t in zip(folds, tables, strict=True)]))
        log = float(weights @ logs[-1])
        worse = 0 if log > best else worse + 1
        best = max(best, log)
        if worse >= MOST_LOSSES or best < top + np.log(NEGLIGIBLE):
            break
    return logs
