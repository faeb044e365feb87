"""Shares as products over groups of attributes: cut along the groups, measured, multiplied.

No table is built. The pieces are measured in every sample of respondents that reported them, each
with its weight; samples are of different people, so their covariances add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from castell.counting import Counts, evenly_spread, samples_of, samples_with
from castell.inference.intervals import Normal
from castell.inference.inversion import (
    Cells,
    Groups,
    Query,
    factors,
    growth,
    margin_powers,
    measure,
    names_of,
    smooth_covariance,
)
from castell.inference.pooling import sources
from castell.inference.reasons import Reasons
from castell.inference.shares import Shares
from castell.linear.operators import Floats


def restrict(groups: Groups, names: Sequence[str]) -> Groups:
    """The groups as far as they hold some names; names in no group stand alone."""
    held = [tuple(name for name in names if name in group) for group in groups]
    rest = [(name,) for name in names if not any(name in group for group in groups)]
    return [group for group in held if group] + rest


def wilson(pi: Floats, variance: Floats, growth: Floats, n: int, target: str) -> Normal:
    """The spread of an inverted cell: the mean square less the square of the mean, or less it."""
    if target == "population":
        return Normal(variance, (growth - 2.0 * pi) / n, -1.0 / n)
    return Normal(variance, (growth - 1.0) / n)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Product queries cut along groups of attributes: a share is the product of its pieces."""

    queries: tuple[Query, ...]
    of: tuple[tuple[int, ...], ...]  # which pieces make each share

    @classmethod
    def cut(cls, queries: Sequence[Query], groups: Groups) -> Pieces:
        pieces: list[Query] = []
        of = []
        for query in queries:
            own = [{a: query[a] for a in group} for group in restrict(groups, tuple(query))]
            of.append(tuple(range(len(pieces), len(pieces) + len(own))))
            pieces += own
        return cls(tuple(pieces), tuple(of))

    def multiply(self, values: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """The shares and their covariance, to first order, from those of the pieces."""
        slopes = np.zeros((len(self.of), len(values)))
        for i, own in enumerate(self.of):
            for piece in own:
                slopes[i, piece] = prod(values[k] for k in own if k != piece)
        shares = np.array([prod(values[k] for k in own) for own in self.of])
        return shares, slopes @ covariance @ slopes.T

    def shares(self, values: Floats, covariance: Floats, pieces: Normal) -> Shares:
        """The shares, from estimates of the pieces and the spread of each."""
        found, covariance = self.multiply(values, covariance)
        variance = np.maximum(np.diag(covariance), 0.0)
        # A share of one piece keeps the slope of it; that of a product is not known.
        alone = np.array([len(own) == 1 for own in self.of])
        first = [own[0] for own in self.of]
        slope, bend = (
            np.where(alone, np.broadcast_to(part, values.shape)[first], 0.0)
            for part in (pieces.slope, pieces.bend)
        )
        report = float(-bend.min()) if alone.all() else 0.0
        return Shares(found, Normal(variance, slope, bend), (covariance,), report=report)


def answer_shares(
    counts: Counts, groups: Groups, target: str, reasons: Reasons, queries: Sequence[Query]
) -> Shares:
    """Product queries, with their error and the reasons for it."""
    return product_shares(counts, queries, groups, target).because(*reasons(names_of(queries)))


def product_shares(counts: Counts, queries: Sequence[Query], groups: Groups, target: str) -> Shares:
    """Product queries, with their error, from the reports themselves."""
    pieces = Pieces.cut(queries, groups)
    many = len(pieces.queries)
    values, slope, bend = np.zeros(many), np.zeros(many), np.zeros(many)
    covariance = np.zeros((many, many))
    homes = _homes(counts, restrict(groups, names_of(queries)), pieces.queries)
    several = len(samples_of(counts)) > 1
    for source in sources(counts, list(dict.fromkeys(homes))):
        mine = [k for k, home in enumerate(homes) if home in source.weights]
        asked = [pieces.queries[k] for k in mine]
        weights = np.array([source.weights[homes[k]] for k in mine])
        cells = _measure(source.reports, asked, target, few=several)
        spread = wilson(
            cells.values, np.zeros(1), slopes(source.reports, asked, cells.n), cells.n, target
        )
        values[mine] += weights * cells.values
        covariance[np.ix_(mine, mine)] += np.outer(weights, weights) * cells.covariance
        slope[mine] += weights**2 * spread.slope
        bend[mine] += weights**2 * spread.bend
    return pieces.shares(values, covariance, Normal(np.diag(covariance), slope, bend))


def _measure(sample: Counts, queries: Sequence[Query], target: str, *, few: bool) -> Cells:
    """Pieces in one sample; of several, one may be so small that it shows too little scatter."""
    cells = measure(sample, queries, target)
    return (
        smooth_covariance(cells, measure(evenly_spread(sample), queries, target)) if few else cells
    )


def slopes(counts: Counts, queries: Sequence[Query], n: int) -> Floats:
    """How the variance of each unbiased share goes along with the share, times n."""
    found = []
    for query in queries:
        powers = np.ones(3)
        for factor in factors(counts.study, query):
            powers *= margin_powers(factor, counts.table(factor.axes))
        found.append(float(growth(list(powers), n)))
    return np.array(found)


def _homes(counts: Counts, groups: Groups, queries: Sequence[Query]) -> list[tuple[str, ...]]:
    """Whose reports answer each query: of all attributes asked for, or of its own.

    Shares that are asked for together, such as a group and a part of it, come from the same reports
    where some hold all of them, so that they agree.
    """
    whole = [tuple(g) for g in groups if any(s.n for s in samples_with(counts, g))]
    return [next((g for g in whole if set(q) <= set(g)), tuple(q)) for q in queries]
