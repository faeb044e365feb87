"""What will be learned from n respondents under a design: how long 95 % intervals will be.

The formulas are those of `inference`, read off the reports that are expected. Of the unbiased
method (`castell`) they are all there is; of a model (`auto`) the error of its associations is
predicted too (`association.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from castell.counting import Counts
from castell.errors import CastellError
from castell.inference.goodness_of_fit import detectable
from castell.inference.intervals import Normal, Spread
from castell.inference.inversion import Observed, wilson
from castell.inference.margins import Margins
from castell.inference.method import Fitted, Solution
from castell.inference.model_error import DirectEstimate, ModelError, UnbiasedPairs
from castell.inference.model_intervals import ModelIntervals
from castell.inference.pooled_table import spread_of_views
from castell.inference.products import product_model, product_variance
from castell.inference.queries import Query
from castell.inference.shares import Shares
from castell.inference.sum_interval import sum_interval
from castell.linear.operators import Floats
from castell.planning.association import Associations
from castell.planning.expected_reports import ExpectedReports
from castell.planning.expected_samples import ExpectedSamples, shown_by_small_samples
from castell.planning.expected_width import LEVEL, expected_half_widths
from castell.planning.population import Population
from castell.study.study import Study

METHODS = ("auto", "castell")
# Enough reports that rounding how many report each block does not matter.
_MANY = 10**9


@dataclass(frozen=True, eq=False)
class ExpectedMargins(Margins):
    """Margins of the reports that are expected."""

    forecast: Forecast

    def views(self, name: str) -> tuple[tuple[float, Observed], ...]:
        return self.forecast.views([name])

    def table(self, name: str) -> Floats:
        return self.forecast.outlook.population.table([name])


@dataclass(frozen=True, eq=False)
class ExpectedIntervals(ModelIntervals):
    """Intervals of a model, next to the unbiased ones that are expected."""

    unbiased: Fitted = field(kw_only=True)

    @property
    def direct(self) -> Fitted:
        return self.unbiased


class AsShown:
    """What is known of two attributes, as a model's error reads it: the square of what is estimated
    is on average that of the truth and the variance of the estimate."""

    def beside(self, direct: UnbiasedPairs) -> UnbiasedPairs:
        def table(pair: tuple[str, str], known: DirectEstimate | None) -> DirectEstimate | None:
            return _twice(direct.table(pair, known))

        def shares(queries: Sequence[Query], known: DirectEstimate | None) -> DirectEstimate | None:
            return _twice(direct.shares(queries, known))

        return UnbiasedPairs(table, shares)


def _twice(found: DirectEstimate | None) -> DirectEstimate | None:
    return found and replace(found, variance=2.0 * found.variance)


@dataclass(frozen=True, eq=False)
class Outlook:
    """A design and a population: what can be said for any number of respondents."""

    study: Study
    population: Population
    method: str = "auto"
    # Careless respondents pull every share towards chance; to take that back out lengthens.
    careless: float = 0.0
    _made: dict[int, Forecast] = field(default_factory=dict)

    @cached_property
    def reports(self) -> ExpectedReports:
        return ExpectedReports(self.study, self.population)

    @cached_property
    def _many(self) -> Counts:
        return self.reports.of(_MANY)

    @cached_property
    def samples(self) -> ExpectedSamples:
        return ExpectedSamples(self._many)

    @cached_property
    def associations(self) -> Associations:
        return Associations(self._many, self.population)

    def at(self, n: int) -> Forecast:
        """With n reports."""
        if n not in self._made:
            self._made[n] = Forecast(self, n)
        return self._made[n]


@dataclass(frozen=True, eq=False)
class Forecast:
    """What n reports will tell."""

    outlook: Outlook
    n: int

    @cached_property
    def counts(self) -> Counts:
        return self.outlook.reports.of(self.n)

    def views(self, names: Sequence[str]) -> tuple[tuple[float, Observed], ...]:
        """The expected reports of samples that hold some attributes, and weights whose squares
        are those of an average over all of them."""
        return self.outlook.samples.views(tuple(names), self.n)

    @cached_property
    def direct(self) -> Fitted:
        """The unbiased answers."""
        plain = product_model(self.counts, [self.outlook.study.names], "population")
        return replace(plain, joint=self._joint)

    def _joint(self, names: tuple[str, ...], max_cells: int | None) -> Solution:
        del max_cells
        whole = self.outlook.population.table(names)
        return Solution(whole, lambda kept: self._unbiased_spread(kept), ())

    def _unbiased_spread(self, names: tuple[str, ...]) -> Normal:
        views = self.views(names)
        if self.outlook.samples.are_several:
            return shown_by_small_samples(views, spread_of_views(views))
        ((_, view),) = views
        variance = product_variance(view, [view.names], "population")
        return wilson(view.invert(), variance, view.moment_slope(), view.n, "population")

    @cached_property
    def intervals(self) -> ModelIntervals:
        error = self.outlook.associations.error(self.n)
        margins = ExpectedMargins(self.counts, self)
        return ExpectedIntervals(ModelError(margins, error), AsShown(), unbiased=self.direct)

    def table(self, names: Sequence[str]) -> Floats:
        """Half the expected length of the interval of every cell; infinite where none is told."""
        kept = tuple(names)
        truth = self.outlook.population.table(kept)
        try:
            # A model's intervals of single attributes are the unbiased ones.
            if self.outlook.method == "castell" or len(kept) == 1:
                spread: Spread = self._unbiased_spread(kept)
            else:
                spread = self.intervals.table(kept, truth, kept)
        except CastellError:
            return np.full(truth.shape, inf)
        return self._allow_for_careless(expected_half_widths(spread, truth))

    def half_width(self, names: Sequence[str]) -> float:
        """Of a table: the mean over its cells."""
        return float(np.mean(self.table(names)))

    def share(self, query: Query) -> float:
        """Of one share of some attributes."""
        found = self._shares([query])
        if found is None:
            return inf
        return float(self._allow_for_careless(expected_half_widths(found.spread, found.values))[0])

    def difference(self, one: Query, two: Query) -> float:
        """Of one share less another."""
        found = self._shares([one, two])
        if found is None:
            return inf
        low, high = sum_interval(found, np.array([1.0, -1.0]), LEVEL)
        return float(self._allow_for_careless(np.array((high - low) / 2)))

    def conditional(self, asked: Query, given: Query) -> float:
        """Of a share among those with other values."""
        found = self._shares([{**asked, **given}, given])
        if found is None:
            return inf
        low, high = found.ratio_interval(LEVEL)
        return float(self._allow_for_careless(np.array((high - low) / 2)))

    def _allow_for_careless(self, widths: Floats) -> Floats:
        careless = self.outlook.careless
        return np.minimum(widths / (1.0 - careless), 0.5) if careless else widths

    def _shares(self, queries: Sequence[Query]) -> Shares | None:
        try:
            if self.outlook.method == "castell":
                return self.direct.shares(queries)
            return self.intervals.shares(queries, self._truth)
        except CastellError:
            return None

    def _truth(self, query: Query) -> float:
        table = self.outlook.population.table(tuple(query))
        return float(table[np.ix_(*query.values())].sum())

    # -- power -----------------------------------------------------------------------------------

    def cramers_v(self, one: str, two: str) -> float:
        """The smallest Cramer's V that the test of two attributes finds with 80 % power at 5 %."""
        margins = [self.outlook.population.table([name]) for name in (one, two)]
        try:
            found = detectable(self.counts, (one, two), margins)
        except CastellError:
            return 1.0
        return min(1.0, found / (1.0 - self.outlook.careless))

    def detectable_difference(self, one: str, two: str) -> float:
        """The smallest difference in a share of one attribute's values between groups of the other
        that is found with 80 % power at 5 %; both parted as evenly as their values allow.

        With groups of shares p and q it is phi sqrt(q (1 - q) / (p (1 - p))), phi being the
        correlation of the two indicators.
        """
        groups = [_half(self.outlook.population.table([name])) for name in (one, two)]
        p, q = (
            float(self.outlook.population.table([n])[g].sum())
            for n, g in zip((one, two), groups, strict=True)
        )
        if not (0.0 < p < 1.0 and 0.0 < q < 1.0):
            return 1.0  # everybody answers alike, so there are no two groups
        queries: list[Query] = [
            {one: groups[0], two: groups[1]},
            {one: groups[0]},
            {two: groups[1]},
        ]
        try:
            found = self.direct.shares(queries)
        except CastellError:
            return 1.0
        # The covariance of the indicators, to first order in the three shares.
        weights = np.array([1.0, -q, -p])
        variance = max(float(weights @ found.covariances[0] @ weights), 0.0)
        normal = NormalDist()
        reach = (normal.inv_cdf(0.975) + normal.inv_cdf(0.8)) * sqrt(variance)
        return min(1.0, reach / (p * (1.0 - p)) / (1.0 - self.outlook.careless))


def odds_ratio(difference: float) -> float:
    """Of two shares that lie evenly around a half."""
    if difference >= 1.0:
        return inf
    return ((0.5 + difference / 2) / (0.5 - difference / 2)) ** 2


def _half(margin: Floats) -> Any:
    """Values whose share is as near a half as taking the commonest first allows."""
    order = np.argsort(-margin, kind="stable")
    sums = np.cumsum(margin[order])[:-1]
    many = int(np.argmin(np.abs(sums - 0.5))) + 1
    return np.sort(order[:many])
