"""How wrong a model will be about associations, before there are reports to measure it by.

`inference/association_error.py` measures a model's mean squared error for a unit of association,
beta^2, and relative to what it shows, kappa^2, on reports held out from the model. Here the same
calculation is done on what is expected of these reports. A model keeps a share c_i of each factor
of the associations (`factors.py`), and the noise that comes with it. Of functions f and g of two
attributes, of mean 0 and variance 1, let r be the association in the population, v the variance of
its unbiased estimate from all reports, and p_i, q_i what f and g have of factor i. The model shows
m = sum c_i lambda_i p_i q_i, and errs by

    e^2 = (r - m)^2 + w v,   w = P + Q - P Q,   P = sum (c_i p_i)^2,   Q = sum (c_i q_i)^2,

w being the part of the noise that lies along the factors that are kept. The held-out reports, a
fifth of all, then differ from the model by e^2 + 5 v in mean square, where the model shows an
association of mean square m^2 + w v. beta^2 and kappa^2 are what the composite likelihood of such
differences gives.

The samples that hold a pair are one estimate of it. They may be so few people's that m of them
report it on average: nobody does with a chance of exp(-m), and then nothing is tried on it
(Poisson). With m as small as that, folds that somebody is in have (m / 5) / (1 - exp(-m / 5))
reports on average, at least one, and not a fifth of m.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    leading_functions,
    residuals,
)
from castell.inference.inversion import observe
from castell.inference.latent.cross_fit_error import evenly
from castell.inference.latent.settings import SETTINGS
from castell.linear.operators import Floats
from castell.planning.factors import Factors, factors_of
from castell.planning.population import Population

# Pairs that stand for all in the overall beta^2, and samples that stand for all that hold a pair.
SOME_PAIRS = 48
SOME_SAMPLES = 2


@dataclass(frozen=True, eq=False)
class PairNoise:
    """A pair of attributes: some of its associations, of groups of values at random and then of its
    first singular functions, and the variance of the estimate of each for one report of the pair.
    `one` and `two` are what the functions have of the factors that a model keeps."""

    associations: Floats
    one: Floats
    two: Floats
    people: float  # who the associations are known from
    variances: Floats
    weights: Floats
    reports: float  # the share of all reports that hold the pair
    tried: float = 1.0  # the share of these that a model is tried on

    def residuals(self, n: int, sizes: Floats, kept: Floats) -> Residuals:
        """What held-out reports are expected to differ by, if a model keeps a share of each factor
        that n reports show."""
        model = (self.one * self.two) @ (kept * sizes)
        learned = self._noise_along(kept) * self.variances / (self.reports * n)
        # A sample of people shows associations where there are none.
        wrong = np.maximum((self.associations - model) ** 2 - 1.0 / self.people, 0.0) + learned
        fold = self.variances / _mean_if_any(self._people(n) / FOLDS)
        weights = self.weights * -expm1(-self._people(n))
        return Residuals(np.sqrt(wrong + fold), fold, weights, np.sqrt(model**2 + learned))

    def _noise_along(self, kept: Floats) -> Floats:
        """The part of the noise that lies along what is kept."""
        one, two = self.one**2 @ kept**2, self.two**2 @ kept**2
        return np.asarray(np.minimum(one + two - one * two, 1.0))

    def _people(self, n: int) -> float:
        """How many reports a model is tried on."""
        return self.reports * self.tried * n

    def noise(self, n: int) -> float:
        """The variance of an unbiased estimate, on average over groups at random."""
        return float(np.mean(self.variances[:GROUPS])) / (self.reports * n)


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

    @property
    def factors(self) -> Factors:
        return factors_of(self.population)

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
        pair, groups = (one, two), (self._groups[one], self._groups[two])
        table = self.population.table(pair)
        told = residuals([HeldOut([view], view.frequencies()) for view in views], [table], *groups)
        if told is None:
            return None
        functions = zip(groups, leading_functions(table), strict=True)
        first, second = (
            np.concatenate(each) * self.population.table([name]) ** 0.5 @ self.factors.parts[name]
            for name, each in zip(pair, functions, strict=True)
        )
        reports = sum(sample.n for sample in holding) / self.counts.n
        most = max(SETTINGS.most_tables_of_pairs // self.pairs_tried, 1)
        return PairNoise(
            told.associations,
            first,
            second,
            self.population.people,
            told.variances * sum(view.n for view in views),
            told.weights,
            reports,
            tried=min(1.0, most / len(holding)),
        )

    def error(self, n: int) -> PredictedError:
        """beta^2, overall and of each pair, and kappa^2, as n reports would measure them."""
        told = {pair: each for pair in self._pairs if (each := self.noise(*pair)) is not None}
        kept = self.factors.kept_shares({pair: each.noise(n) for pair, each in told.items()})
        found = [each.residuals(n, self.factors.sizes, kept) for each in told.values()]
        stands_for = self.pairs_tried / max(len(told), 1)
        scaled = [replace(r, weights=r.weights * stands_for) for r in found]
        return PredictedError(error_rates(scaled), {}, self, n, kept)


@dataclass(frozen=True, eq=False)
class PredictedError(AssociationError):
    """beta^2 and kappa^2 overall, and of a pair when it is asked for."""

    of_design: Associations
    n: int
    kept: Floats

    def of(self, one: str, two: str) -> Rates:
        names = self.of_design.counts.study.names
        pair = (one, two) if names.index(one) < names.index(two) else (two, one)
        noise = self.of_design.noise(*pair)
        # Of many pairs most are not tried, and have the overall rates.
        if noise is None or not self.of_design.are_all_tried:
            return self.overall
        sizes = self.of_design.factors.sizes
        return error_rates([noise.residuals(self.n, sizes, self.kept)], self.overall.absolute)


def _outputs(sample: Counts) -> int:
    return max(block.channel.outputs for block in sample.study.design.blocks)


def _mean_if_any(mean: float) -> float:
    """The mean of a Poisson number that is not 0."""
    return mean / -expm1(-mean)
