"""How wrong a model will be about associations, before there are reports to measure it by.

`inference/association_error.py` measures a model's mean squared error for a unit of association,
beta^2, and relative to what it shows, kappa^2, on reports held out from the model. Here the same
calculation is done on what is expected of these reports. For a pair of attributes and functions of
their values, let r be the association in the population and v the variance of its unbiased estimate
from all reports. A model keeps the share c of the associations that reports show, one share for all
pairs, and the best one (James and Stein):

    c = R / (R + b V),   e^2 = (1 - c)^2 r^2 + c^2 b v,

R and V being the means of r^2 and v over all pairs, and b = `BORROWED` what is left of the variance
because a model of all attributes learns an association from other pairs too. The held-out reports,
a fifth of all, then differ from the model by e^2 + 5 v in mean square, where the model shows an
association of mean square c^2 (r^2 + b v). beta^2 and kappa^2 are what the composite likelihood of
such differences gives.

The samples that hold a pair are one estimate of it. They may be so few people's that m of them
report it on average: nobody does with a chance of exp(-m), and then nothing is tried on it
(Poisson). With m as small as that, folds that somebody is in have (m / 5) / (1 - exp(-m / 5))
reports on average, at least one, and not a fifth of m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import expm1

import numpy as np

from castell.counting import Counts, samples_of, samples_with
from castell.counting.folds import FOLDS
from castell.inference.association_error import (
    GROUPS,
    AssociationError,
    HeldOut,
    Rates,
    Residuals,
    error_rates,
    groups_of,
    residuals,
)
from castell.inference.inversion import observe
from castell.inference.latent.cross_fit_error import evenly
from castell.inference.latent.settings import SETTINGS
from castell.linear.operators import Floats
from castell.planning.population import Population

# Chosen on Fair's survey and on Nursery; benchmarks/plan.py measures it on others.
BORROWED = 0.75
# Pairs that stand for all in the overall beta^2, and samples that stand for all that hold a pair.
SOME_PAIRS = 48
SOME_SAMPLES = 2


@dataclass(frozen=True, eq=False)
class PairNoise:
    """A pair of attributes: some associations squared, of groups of values at random and then of
    its first singular functions, and the variance of the estimate of each for one report of the
    pair."""

    squares: Floats
    variances: Floats
    weights: Floats
    reports: float  # the share of all reports that hold the pair
    tried: float = 1.0  # the share of these that a model is tried on

    def residuals(self, n: int, kept: float) -> Residuals:
        """What held-out reports are expected to differ by, if a model keeps a share of the
        associations that n reports show."""
        learned = self.model_variance(n)
        wrong = (1.0 - kept) ** 2 * self.squares + kept**2 * learned
        fold = self.variances / _mean_if_any(self._people(n) / FOLDS)
        shown = kept * np.sqrt(self.squares + learned)
        weights = self.weights * -expm1(-self._people(n))
        return Residuals(np.sqrt(wrong + fold), fold, weights, shown)

    def _people(self, n: int) -> float:
        """How many reports a model is tried on."""
        return self.reports * self.tried * n

    def model_variance(self, n: int) -> Floats:
        """The variance of a model's estimates, from the reports of the pair and of others."""
        return BORROWED * self.variances / (self.reports * n)

    @property
    def at_random(self) -> slice:
        return slice(0, GROUPS)


@dataclass(frozen=True, eq=False)
class Associations:
    """What reports of a design tell of the associations of a population; nothing depends on n."""

    counts: Counts  # so many that how they are rounded does not matter
    population: Population
    _found: dict[tuple[str, str], PairNoise | None] = field(default_factory=dict)

    @cached_property
    def _groups(self) -> Mapping[str, Floats]:
        # Repeatable: nobody's privacy depends on it.
        generator = np.random.default_rng(0)
        table = self.population.table
        return {n: groups_of(table([n]), generator) for n in self.counts.study.names}

    @cached_property
    def _holders(self) -> Mapping[tuple[str, str], int]:
        """How many samples hold each pair that somebody reports."""
        order = {name: i for i, name in enumerate(self.counts.study.names)}
        found: dict[tuple[str, str], int] = {}
        for sample in samples_of(self.counts):
            for pair in combinations(sorted(sample.study.names, key=order.__getitem__), 2):
                found[pair] = found.get(pair, 0) + 1
        return found

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        """All pairs that somebody reports, or some that stand for them."""
        return evenly(list(self._holders), SOME_PAIRS)

    @property
    def pairs_tried(self) -> int:
        """On how many pairs a model is tried."""
        many = len(self._holders)
        return -(-many // max(-(-many // SETTINGS.most_pairs), 1))

    @property
    def are_all_tried(self) -> bool:
        return self.pairs_tried == len(self._holders)

    def noise(self, one: str, two: str) -> PairNoise | None:
        if (one, two) not in self._found:
            self._found[one, two] = self._noise(one, two)
        return self._found[one, two]

    def _noise(self, one: str, two: str) -> PairNoise | None:
        holding = sorted(samples_with(self.counts, [one, two]), key=_outputs)
        views = [observe(sample, [one, two]) for sample in evenly(holding, SOME_SAMPLES)]
        told = residuals(
            [HeldOut([view], view.frequencies()) for view in views],
            [self.population.table([one, two])],
            self._groups[one],
            self._groups[two],
        )
        if told is None:
            return None
        # A sample of people shows associations where there are none.
        squares = np.maximum(told.associations**2 - 1.0 / self.population.people, 0.0)
        variances = told.variances * sum(view.n for view in views)
        reports = sum(sample.n for sample in holding) / self.counts.n
        most = max(SETTINGS.most_tables_of_pairs // self.pairs_tried, 1)
        tried = min(1.0, most / len(holding))
        return PairNoise(squares, variances, told.weights, reports, tried)

    def error(self, n: int) -> PredictedError:
        """beta^2, overall and of each pair, and kappa^2, as n reports would measure them."""
        told = [each for pair in self._pairs if (each := self.noise(*pair)) is not None]
        kept = _shrinkage(told, n)
        found = [each.residuals(n, kept) for each in told]
        stands_for = self.pairs_tried / max(len(told), 1)
        scaled = [replace(r, weights=r.weights * stands_for) for r in found]
        return PredictedError(error_rates(scaled), {}, self, n, kept)


@dataclass(frozen=True, eq=False)
class PredictedError(AssociationError):
    """beta^2 and kappa^2 overall, and of a pair when it is asked for."""

    of_design: Associations
    n: int
    kept: float

    def of(self, one: str, two: str) -> Rates:
        names = self.of_design.counts.study.names
        pair = (one, two) if names.index(one) < names.index(two) else (two, one)
        noise = self.of_design.noise(*pair)
        # Of many pairs most are not tried, and have the overall rates.
        if noise is None or not self.of_design.are_all_tried:
            return self.overall
        return error_rates([noise.residuals(self.n, self.kept)], self.overall.absolute)


def _outputs(sample: Counts) -> int:
    return max(block.channel.outputs for block in sample.study.design.blocks)


def _mean_if_any(mean: float) -> float:
    """The mean of a Poisson number that is not 0."""
    return mean / -expm1(-mean)


def _shrinkage(told: Sequence[PairNoise], n: int) -> float:
    """How much of the associations that n reports show a model keeps."""
    signal = noise = 0.0
    for each in told:
        some = each.at_random
        signal += float(each.weights[some] @ each.squares[some])
        noise += float(each.weights[some] @ each.model_variance(n)[some])
    return signal / (signal + noise) if signal else 0.0
