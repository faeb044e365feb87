"""Estimates that are products over groups of attributes, each group's table inverted.

One group is castell, a group for each attribute is RR-Independent, anything between is
RR-Clusters: one rule, one variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import prod, sqrt

import numpy as np

from castell.counting import Counts
from castell.errors import OptionError
from castell.inference.fitted import Fitted, Solution
from castell.inference.intervals import Normal
from castell.inference.inversion import (
    Groups,
    Observed,
    Query,
    cross_moment,
    factors,
    growth,
    margin_powers,
    measure,
    names_of,
    observe,
)
from castell.inference.reasons import Reason, Reasons, no_reasons
from castell.inference.shares import Shares
from castell.linear.axes import expand
from castell.linear.operators import Floats

TARGETS = ("population", "respondents")


def check_target(target: str) -> str:
    if target not in TARGETS:
        raise OptionError(
            f"target is {target!r}",
            "use 'population' (the respondents are a sample of it) or 'respondents' (just them)",
        )
    return target


def restrict(groups: Groups, names: Sequence[str]) -> Groups:
    """The groups as far as they hold some names; names in no group stand alone."""
    held = [tuple(name for name in names if name in group) for group in groups]
    rest = [(name,) for name in names if not any(name in group for group in groups)]
    return [group for group in held if group] + rest


def product_table(observed: Observed, groups: Groups) -> Floats:
    """The product of the groups' inverted tables."""
    names = observed.names
    tables = [expand(observed.project(g).invert(), g, names) for g in groups]
    return np.asarray(prod(tables[1:], start=tables[0]))


def product_variance(observed: Observed, groups: Groups, target: str) -> Floats:
    """The variance of each cell of `product_table`, to first order (exact for one group).

    A report adds to the product sum_c L_c g_c, with g_c what it adds to group c and L_c the
    product of the other groups. Its variance over the population is the mean square less the
    squared mean. If only the n respondents are meant, each one's own expectation is taken out
    instead: what they add to group c is 1 if they are in its cell, else 0.
    """
    names = observed.names
    tables = [expand(observed.project(g).invert(), g, names) for g in groups]
    others = [
        prod((t for k, t in enumerate(tables) if k != c), start=np.ones(1))
        for c in range(len(groups))
    ]
    return weighted_variance(observed, groups, others, observed.names, target)


def weighted_variance(
    observed: Observed,
    groups: Groups,
    weights: Sequence[Floats],
    names: Sequence[str],
    target: str,
) -> Floats:
    """The variance of the sum over groups of weights times the group's inverted table.

    Weights are tables over `names`, or broadcast to them.
    """
    tables = [expand(observed.project(g).invert(), g, names) for g in groups]
    population = target == "population"
    total: Floats = np.zeros(1)
    for c, group in enumerate(groups):
        square = expand(observed.project(group).second_moment(), group, names)
        total = total + weights[c] ** 2 * (square if population else square - tables[c])
    for c, d in combinations(range(len(groups)), 2):
        both = groups[c] + groups[d]
        cross = cross_moment(observed, groups[c], groups[d])
        if not population:
            cross = cross - observed.project(both).invert()
        total = total + 2.0 * weights[c] * weights[d] * expand(cross, both, names)
    if population:
        total = total - sum(w * t for w, t in zip(weights, tables, strict=True)) ** 2
    # Rounding may leave a cell that is certain a hair below zero.
    return np.maximum(total, 0.0) / observed.n


def solve(
    observed: Observed, groups: Groups, target: str, reasons: Sequence[Reason] = ()
) -> Solution:
    """The table of a product over groups, with its error."""
    groups = restrict(groups, observed.names)
    return Solution(
        product_table(observed, groups),
        partial(_spread, observed, groups, target),
        tuple(reasons),
    )


def _spread(observed: Observed, groups: Groups, target: str, names: tuple[str, ...]) -> Normal:
    # Every group's table sums to one, so a marginal of the product is the product of marginals.
    observed, groups = observed.project(names), restrict(groups, names)
    variance = product_variance(observed, groups, target)
    if len(groups) > 1:
        return Normal(variance)
    return wilson(observed.invert(), variance, observed.growth(), observed.n, target)


def wilson(pi: Floats, variance: Floats, growth: Floats, n: int, target: str) -> Normal:
    """The spread of an inverted cell: the mean square less the square of the mean, or less it."""
    if target == "population":
        return Normal(variance, (growth - 2.0 * pi) / n, -1.0 / n)
    return Normal(variance, (growth - 1.0) / n)


# -- shares ----------------------------------------------------------------------------------------


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


def slopes(counts: Counts, queries: Sequence[Query], n: int) -> Floats:
    """How the variance of each unbiased share goes along with the share, times n."""
    found = []
    for query in queries:
        powers = np.ones(3)
        for factor in factors(counts.study, query):
            powers *= margin_powers(factor, counts.table(factor.axes))
        found.append(float(growth(list(powers), n)))
    return np.array(found)


def shares(counts: Counts, queries: Sequence[Query], groups: Groups, target: str) -> Shares:
    """Product queries, with their error, from the reports themselves."""
    pieces = Pieces.cut(queries, groups)
    cells = measure(counts, pieces.queries, target)
    growths = slopes(counts, pieces.queries, cells.n)
    variance = np.diag(cells.covariance)
    spread = wilson(cells.values, variance, growths, cells.n, target)
    return pieces.shares(cells.values, cells.covariance, spread)


def _answer(
    counts: Counts, groups: Groups, target: str, reasons: Reasons, queries: Sequence[Query]
) -> Shares:
    return shares(counts, queries, groups, target).because(*reasons(names_of(queries)))


def model(counts: Counts, groups: Groups, target: str, reasons: Reasons = no_reasons) -> Fitted:
    """A model that answers every question with the product over the groups."""
    return Fitted(
        counts,
        partial(_joint, counts, groups, check_target(target), reasons),
        partial(_answer, counts, groups, target, reasons),
    )


def _joint(
    counts: Counts,
    groups: Groups,
    target: str,
    reasons: Reasons,
    names: tuple[str, ...],
    max_cells: int | None,
) -> Solution:
    return solve(observe(counts, names, max_cells), groups, target, reasons(names))


def joint_is_better(
    observed: Observed, groups: Groups, doubt: float = 2.0
) -> tuple[bool, float, float]:
    """Whether inverting the whole table is expected to err less than the product over groups.

    Returns the verdict and both expected squared errors. The whole table errs by its variance.
    The product errs by its own variance and by what it gets wrong however many answer; that bias
    is seen in the difference of the two tables, less the noise of the difference. As in Hausman's
    test, where the groups are independent the product is the better estimate of the same thing,
    and the noise of the difference is the difference of the variances. A bias counts only as far
    as it stands out from that noise by `doubt` of its standard deviations: mistaking noise for an
    association costs all the noise of the whole table.
    """
    whole = float(product_variance(observed, [observed.names], "population").sum())
    split = float(product_variance(observed, groups, "population").sum())
    gap = float(((observed.invert() - product_table(observed, groups)) ** 2).sum())
    sizes = dict(zip(observed.names, observed.shape, strict=True))
    many = prod(sizes.values()) - sum(prod(sizes[a] for a in group) - 1 for group in groups) - 1
    product = product_risk(whole, split, gap, many, doubt)
    return whole <= product, whole, product


def product_risk(whole: float, split: float, gap: float, many: int, doubt: float = 2.0) -> float:
    """The squared error expected of a product: its variance `split`, and its bias.

    `whole` is the variance of the unbiased estimate, `gap` the squared difference of the two,
    summed over cells that have `many` ways to differ.
    """
    # A sum of so many squares of noise, relative to its mean, varies by about sqrt(2 / many).
    noise = max(whole - split, 0.0) * (1.0 + doubt * sqrt(2.0 / max(many, 1)))
    return max(gap - noise, 0.0) + split
