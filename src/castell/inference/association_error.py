"""How wrong a model is about associations, by reports that it has not seen.

For a pair of attributes with margins m and groups A, B of their values, let

    h(x, y) = u(x) v(y),   u = (1_A - m(A)) / sqrt(m(A) (1 - m(A))),   v likewise,

an association of unit norm. The model fitted without fold k says E_k h; the reports of fold k say
an unbiased mean of h, independent of it, with a variance v_k that is computed under the model.
Their difference r_k has mean square

    beta^2 + kappa^2 (E_k h)^2 + v_k:

beta^2 is the model's mean squared error for a unit of association whatever its direction, kappa the
error relative to the association that the model shows. A model that keeps the share c of all
associations has kappa = (1 - c) / c. Groups at random hardly meet the associations there are, so
the first singular functions of the table of the model without the fold are tried too: they go along
with what it has found, and owe nothing to the reports they are tried on. The composite likelihood

    sum of w log N(r_k; 0, beta^2 + kappa^2 (E_k h)^2 + v_k)

over all pairs that reports hold, with exponential priors on beta^2 and kappa^2, gives their
posterior. What a model misses is not spread evenly: each pair has a beta^2 of its own, with the
overall one as the mean of its prior, so that it is the overall one where the reports of the pair
say little. Each has a kappa^2 of its own too, and there nothing is borrowed: that a model keeps the
associations of pairs with little noise does not show that it keeps those of pairs with much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from castell.inference.constants import LEAST_SHARE
from castell.inference.inversion import Observed
from castell.linear.operators import Floats

# Groups of values tried for each pair.
GROUPS = 40
# Groups that hold less than this are tried only if there are no others: their standardised
# indicator is nearly all noise.
RAREST = 0.05
TRIES = 30
# Before any report: associations of survey answers are of this size, root mean square (Cohen's
# small is .1 and medium .3), and what a model misses is at most all of them.
PRIOR = 0.2
# What is allowed for is not the posterior mean but so many standard deviations more: an interval
# that holds too little costs more than one that holds too much.
POSTERIOR_SDS = 0.5
_GRID = np.geomspace(1e-6, 4.0, 160)
# Singular functions tried for each pair and fold.
LEADING = 2
# Before any report: a model errs by as much as it shows, as if it kept half of every association.
RELATIVE_PRIOR = 1.0
_RELATIVE_GRID = np.geomspace(1e-4, 10.0, 80)
# Numbers computed with at once.
_AT_ONCE = 1 << 18
# beta^2 and kappa^2 are found in turn, each given the other; they hardly move after two rounds.
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Residuals:
    """What reports not seen say of some associations, less what the model says, the variance of
    the former, and the `associations` the model says; each counts as much as its `weight`."""

    differences: Floats
    variances: Floats
    weights: Floats
    associations: Floats

    @classmethod
    def join(cls, every: Sequence[Residuals]) -> Residuals:
        return cls(
            np.concatenate([np.empty(0), *(each.differences for each in every)]),
            np.concatenate([np.empty(0), *(each.variances for each in every)]),
            np.concatenate([np.empty(0), *(each.weights for each in every)]),
            np.concatenate([np.empty(0), *(each.associations for each in every)]),
        )


def groups_of(margin: Floats, generator: np.random.Generator) -> Floats:
    """Random groups of values as functions with mean 0 and variance 1, a row each."""
    size = len(margin)
    rows = []
    for _ in range(GROUPS):
        inside = generator.random((TRIES, size)) < generator.uniform(0.2, 0.8, (TRIES, 1))
        share = inside @ margin
        proper = inside.any(axis=1) & ~inside.all(axis=1)
        # The first that is large enough, or the one nearest to a half.
        wanted = proper & (np.abs(share - 0.5) <= 0.5 - RAREST)
        nearest = np.where(proper, np.abs(share - 0.5), np.inf)
        k = int(np.argmax(wanted)) if wanted.any() else int(np.argmin(nearest))
        scale = np.sqrt(max(share[k] * (1.0 - share[k]), 1e-12))
        rows.append((inside[k] - share[k]) / scale)
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Reports of a pair in one sample: those of each fold, if there are any, and how the model
    expects reports of this sample to be distributed."""

    folds: Sequence[Observed | None]
    expected: Floats

    def says(self, one: Floats, two: Floats) -> tuple[dict[int, Floats], Floats] | None:
        """What the reports of each fold say of some associations, and the mean square of what a
        single report is expected to say."""
        seen = {k: view for k, view in enumerate(self.folds) if view is not None and view.n}
        gains = _gains(next(iter(seen.values())), one, two) if seen else None
        if gains is None:
            return None
        means = {k: _mean(gains, view.frequencies()) for k, view in seen.items()}
        return means, _mean([gain**2 for gain in gains], self.expected)

    def n(self, fold: int) -> int:
        view = self.folds[fold]
        return 0 if view is None else view.n


def residuals(
    samples: Sequence[HeldOut], tables: Sequence[Floats], one: Floats, two: Floats
) -> Residuals | None:
    """Of one pair: its reports in each sample that holds it, and the model's table without each
    fold. Samples of a fold are one estimate, each weighted by one over its variance: of samples
    that few people draw, single ones tell next to nothing of how far a model is off.

    The variance is that expected under the model: with few reports in a fold, what they show of it
    is as uncertain as the difference itself.
    """
    ways = (one.shape[1] - 1) * (two.shape[1] - 1)
    along = [leading_functions(model) for model in tables]
    rows = np.concatenate([one, *(first for first, _ in along)])
    columns = np.concatenate([two, *(second for _, second in along)])
    ends = len(one) + np.cumsum([0, *(len(first) for first, _ in along)])
    told = [(each, said) for each in samples if (said := each.says(rows, columns)) is not None]
    found = []
    for fold, model in enumerate(tables):
        own = np.r_[: len(one), ends[fold] : ends[fold + 1]]
        expected = np.einsum("ka,ab,kb->k", rows[own], model, columns[own])
        means, variances = [], []
        for sample, (mean, square) in told:
            if fold in mean:
                means.append(mean[fold][own])
                variances.append(np.maximum(square[own] - expected**2, 1e-12) / sample.n(fold))
        if not means:
            continue
        known = 1.0 / np.array(variances)
        variance = 1.0 / known.sum(axis=0)
        difference = (known * np.array(means)).sum(axis=0) * variance - expected
        # Groups of few values repeat one another, and folds share the model's error.
        weights = np.ones(len(own))
        weights[: len(one)] = min(1.0, ways / GROUPS)
        found.append(Residuals(difference, variance, weights, expected))
    scaled = [replace(each, weights=each.weights / len(found)) for each in found]
    return Residuals.join(scaled) if scaled else None


def leading_functions(table: Floats) -> tuple[Floats, Floats]:
    """The first singular functions of a table of two attributes, a row each: of all functions of
    one attribute and of the other with mean 0 and variance 1, those that are associated most."""
    rows, columns = (np.sqrt(np.maximum(table.sum(axis=k), LEAST_SHARE)) for k in (1, 0))
    left, sizes, right = np.linalg.svd(
        table / np.outer(rows, columns) - np.outer(rows, columns), full_matrices=False
    )
    # One direction is that of the margins, and a table without association has no others.
    some = np.flatnonzero(sizes[: min(LEADING, len(sizes) - 1)] > 1e-9)
    return left.T[some] / rows, right[some] / columns


def _gains(view: Observed, one: Floats, two: Floats) -> list[Floats] | None:
    """What each report adds to every association, as factors: one for each part of the report."""
    if not view.has_small_inverses:
        return None
    inverses = [part.lens.inverse for part in view.parts]
    functions = dict(zip(view.names, (one, two), strict=True))
    if len(view.parts) == 2:
        return [
            functions[part.names[0]] @ inverse.dense()
            for part, inverse in zip(view.parts, inverses, strict=True)
        ]
    first, second = (functions[name] for name in view.parts[0].names)
    both = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
    return [both @ inverses[0].dense()]


def _mean(gains: Sequence[Floats], shares: Floats) -> Floats:
    if len(gains) == 1:
        return np.asarray(gains[0] @ shares.ravel())
    return np.asarray(np.einsum("ka,ab,kb->k", gains[0], shares, gains[1]))


Pair = frozenset[str]


@dataclass(frozen=True)
class Rates:
    """A model's mean squared error for a unit of association, beta^2, and relative to an
    association, kappa^2."""

    absolute: float
    relative: float


@dataclass(frozen=True, eq=False)
class AssociationError:
    """How wrong a model is about associations: of all pairs together, and of those that reports
    hold."""

    overall: Rates
    pairs: Mapping[Pair, Rates]

    def of(self, one: str, two: str) -> Rates:
        return self.pairs.get(frozenset((one, two)), self.overall)


def association_error(found: Mapping[Pair, Sequence[Residuals]]) -> AssociationError:
    """From the residuals of each pair."""
    overall = error_rates([each for several in found.values() for each in several])
    pairs = {pair: error_rates(several, overall.absolute) for pair, several in found.items()}
    return AssociationError(overall, pairs)


def error_rates(every: Sequence[Residuals], prior: float = PRIOR**2) -> Rates:
    """beta^2, with a prior of the given mean, and kappa^2, each with some caution.

    Without any reports they are what the priors say.
    """
    whole = Residuals.join(every)
    square = whole.associations**2
    one = np.ones_like(square)
    absolute, relative = _Posterior(prior, 0.0), _Posterior(RELATIVE_PRIOR, 0.0)
    for _ in range(ROUNDS):
        absolute = _posterior(whole, _GRID, prior, relative.mean * square, one)
        relative = _posterior(whole, _RELATIVE_GRID, RELATIVE_PRIOR, absolute.mean * one, square)
    return Rates(absolute.cautious, relative.cautious)


@dataclass(frozen=True)
class _Posterior:
    mean: float
    deviation: float

    @property
    def cautious(self) -> float:
        """The mean, and half a standard deviation."""
        return self.mean + POSTERIOR_SDS * self.deviation


def _posterior(
    found: Residuals, grid: Floats, prior: float, known: Floats, unit: Floats
) -> _Posterior:
    """Of what `unit` is multiplied by in the mean square of the differences."""
    log = -grid / prior
    apart, noise = found.differences**2, found.variances + known
    at_once = max(_AT_ONCE // max(len(apart), 1), 1)
    for k in range(0, len(grid), at_once):
        total = noise + grid[k : k + at_once, None] * unit
        log[k : k + at_once] -= 0.5 * ((np.log(total) + apart / total) @ found.weights)
    # The grid is even in the logarithm.
    chance = np.exp(log - log.max()) * grid
    chance /= chance.sum()
    mean = float(chance @ grid)
    return _Posterior(mean, float(np.sqrt(max(chance @ grid**2 - mean**2, 0.0))))
