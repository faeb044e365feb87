"""The unbiased margins of single attributes, in any design, and how far they may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, samples_of
from castell.inference.intervals import Normal
from castell.inference.inversion import Observed, moment_slope
from castell.inference.pooled_table import average_of_views, views
from castell.linear.operators import Floats

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Margins:
    """Tables of single attributes, counted once each when first asked for."""

    counts: Counts

    @cached_property
    def _views(self) -> dict[str, tuple[tuple[float, Observed], ...]]:
        return {}

    def views(self, name: str) -> tuple[tuple[float, Observed], ...]:
        if name not in self._views:
            self._views[name] = views(self.counts, [name])
        return self._views[name]

    def _views_of_variance(self, name: str) -> list[tuple[float, Observed]]:
        """The same, to read variances from: one of several samples may be small."""
        few = len(samples_of(self.counts)) > 1
        return [(weight, view.smoothed() if few else view) for weight, view in self.views(name)]

    def table(self, name: str) -> Floats:
        return average_of_views(self.views(name))

    def variances(self, name: str) -> Floats:
        """The variance of each value's share."""
        found = np.asarray(
            sum(
                weight**2 * (view.second_moment() - view.invert() ** 2) / view.n
                for weight, view in self._views_of_variance(name)
            )
        )
        # Rounding may leave a share that is certain a hair below zero.
        return np.asarray(np.maximum(found, 0.0))

    @cached_property
    def _spreads(self) -> dict[str, Normal]:
        return {}

    def spread(self, name: str) -> Normal:
        """The spread of each value's share."""
        if name not in self._spreads:
            self._spreads[name] = self._spread(name)
        return self._spreads[name]

    def _spread(self, name: str) -> Normal:
        slope: Floats = np.zeros(1)
        bend = 0.0
        for weight, view in self.views(name):
            slope = slope + weight**2 * (view.moment_slope() - 2.0 * view.invert()) / view.n
            bend -= weight**2 / view.n
        return Normal(self.variances(name), slope, bend)

    def covariance(self, name: str, one: Codes, two: Codes) -> float:
        """How the shares of two groups of values err together."""
        total = 0.0
        for weight, view in self._views_of_variance(name):
            shares, first, second = view.frequencies().ravel(), *_gains(view, [one, two])
            product = float(shares @ (first * second))
            product -= float(shares @ first) * float(shares @ second)
            total += weight**2 * product / view.n
        return total

    def group_spread(self, name: str, group: Codes) -> Normal:
        """The spread of the share of a group of values; that of all values is known."""
        if len(group) == self.counts.study.schema[name].size:
            return Normal(np.zeros(()))
        slope, bend = 0.0, 0.0
        for weight, view in self.views(name):
            (gains,) = _gains(view, [group])
            shares = view.frequencies().ravel()
            smooth = (shares * view.n + 1.0) / (view.n + len(shares))
            powers = [np.asarray((gains**k * smooth).sum()) for k in (1, 2, 3)]
            slope += (
                weight**2
                * (float(moment_slope(powers, view.n)) - 2.0 * float(gains @ shares))
                / view.n
            )
            bend -= weight**2 / view.n
        variance = max(self.covariance(name, group, group), 0.0)
        return Normal(np.asarray(variance), slope, bend)


def _gains(view: Observed, groups: Sequence[Codes]) -> list[Floats]:
    (part,) = view.parts
    return [part.lens.inverse.combine(group) for group in groups]
