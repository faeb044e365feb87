"""The length of intervals that simulated collections give, known closely from few fits of a model.

Intervals vary from one collection to the next, those of rare answers by a half, and fitting a
model takes its time. The unbiased method's intervals of the same reports vary alike and take
none: how long they are is known from many more collections, and those of the model are corrected
for what theirs were longer or shorter (a control variate).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite, sqrt
from typing import Any

import numpy as np

from castell.linear.operators import Floats
from castell.planning.design_comparison import Progress
from castell.planning.population import Population
from castell.planning.simulation import collections
from castell.planning.targets import Target
from castell.study.study import Study

# Of fewer collections it cannot be told how much they vary.
FEWEST = 8
# So many more are simulated without a fit.
UNFITTED = 30


@dataclass(frozen=True)
class Simulated:
    """The mean half-width over some collections of the question that has the longest intervals,
    and its standard error."""

    half_width: float
    standard_error: float
    collections: int


@dataclass(frozen=True, eq=False)
class Collections:
    """Collections of n reports of a study; what is asked of them are questions by their labels."""

    study: Study
    population: Population
    n: int
    asked: Mapping[str, Sequence[Target]]
    method: str
    careless: float = 0.0

    def simulate(
        self, most: int, close: float, seed: int, tell: Progress = lambda _share: None
    ) -> Simulated:
        """Until half-widths are known to a share of `close`, `most` at most."""
        unbiased = _until(self._draw("castell", seed), most * UNFITTED, close / 2)
        if self.method == "castell":
            return _longest(unbiased, unbiased)
        told: list[list[float]] = []
        for each in islice(self._draw(self.method, seed), min(most, len(unbiased))):
            told.append(each)
            tell(len(told) / most)
            found = _longest(np.array(told), unbiased)
            if len(told) >= FEWEST and found.standard_error <= close * found.half_width:
                break
        return found

    def _draw(self, method: str, seed: int) -> Iterator[list[float]]:
        """One collection after the other: the half-width of each question."""
        every = collections(
            self.study, self.population, self.n, self.asked, method, seed, self.careless
        )
        return (list(each.values()) for each in every)


def _until(drawn: Iterator[list[float]], most: int, close: float) -> Floats:
    """As many collections as it takes to know every half-width so well."""
    found: list[list[float]] = []
    while len(found) < most:
        found += islice(drawn, min(max(FEWEST, len(found) // 2), most - len(found)))
        table: Any = np.array(found)
        if not np.isfinite(table).all():
            break
        if (np.std(table, axis=0, ddof=1) <= close * sqrt(len(table)) * table.mean(axis=0)).all():
            break
    return np.array(found)


def _longest(told: Floats, unbiased: Floats) -> Simulated:
    mean, error = max(mean_with_control(told[:, k], unbiased[:, k]) for k in range(told.shape[1]))
    return Simulated(mean, error, len(told))


def mean_with_control(told: Floats, unbiased: Floats) -> tuple[float, float]:
    """The mean over collections and its error, by regression on what the unbiased method tells of
    the same collections, the first, and of more."""
    many, same = len(told), unbiased[: len(told)]
    plain = float(told.mean())
    if many < 3 or not isfinite(plain):
        return plain, 0.0
    spread = float(((same - same.mean()) ** 2).sum()) if np.isfinite(unbiased).all() else 0.0
    if not spread:
        return plain, float(np.std(told, ddof=1)) / sqrt(many)
    slope = float(((same - same.mean()) * (told - plain)).sum()) / spread
    apart = float(unbiased.mean() - same.mean())
    left = told - plain - slope * (same - same.mean())
    own = float((left**2).sum()) / (many - 2) * (1.0 / many + apart**2 / spread)
    more = slope**2 * float(np.var(unbiased, ddof=1)) / len(unbiased)
    return plain + slope * apart, sqrt(own + more)
