"""Estimates that are products over groups of attributes, each group's table inverted.

One group is castell, a group for each attribute is RR-Independent, anything between is
RR-Clusters: one rule, one variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import prod, sqrt

import numpy as np

from castell.counting import Counts
from castell.errors import OptionError
from castell.inversion import (
    Groups,
    Observed,
    Query,
    cross_moment,
    factors,
    growth,
    margin_powers,
    measure,
    observe,
)
from castell.model import Cell, Model, Solution
from castell.operators import Floats
from castell.spread import Spread

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


def expand(table: Floats, names: Sequence[str], over: Sequence[str]) -> Floats:
    """A table over some names with axes of length one for the others, ready to broadcast."""
    order = [names.index(name) for name in over if name in names]
    shape = [table.shape[names.index(name)] if name in names else 1 for name in over]
    return table.transpose(order).reshape(shape)


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


def solve(observed: Observed, groups: Groups, target: str, notes: Sequence[str] = ()) -> Solution:
    """The table of a product over groups, with its error."""
    groups = restrict(groups, observed.names)
    return Solution(
        product_table(observed, groups),
        partial(_spread, observed, groups, target),
        tuple(notes),
    )


def _spread(observed: Observed, groups: Groups, target: str, names: tuple[str, ...]) -> Spread:
    # Every group's table sums to one, so a marginal of the product is the product of marginals.
    observed, groups = observed.project(names), restrict(groups, names)
    variance = product_variance(observed, groups, target)
    if len(groups) > 1:
        return Spread(variance)
    return wilson(observed.invert(), variance, observed.growth(), observed.n, target)


def wilson(pi: Floats, variance: Floats, growth: Floats, n: int, target: str) -> Spread:
    """The spread of an inverted cell: the mean square less the square of the mean, or less it."""
    if target == "population":
        return Spread(variance, (growth - 2.0 * pi) / n, -1.0 / n)
    return Spread(variance, (growth - 1.0) / n)


def cell(counts: Counts, query: Query, groups: Groups, target: str) -> Cell:
    """One product query, with its error, from the reports themselves."""
    groups = restrict(groups, tuple(query))
    cells = measure(counts, query, groups, target)
    slopes = np.array([np.prod(np.delete(cells.values, c)) for c in range(len(groups))])
    variance = np.maximum(slopes @ cells.covariance @ slopes, 0.0)
    value = float(np.prod(cells.values))
    if len(groups) > 1:
        return Cell(value, Spread(variance))
    powers = np.ones(3)
    for factor in factors(counts.study, query):
        powers *= margin_powers(factor, counts.table(factor.axes))
    slope = growth(list(powers), cells.n)
    return Cell(value, wilson(cells.values[0], variance, slope, cells.n, target))


def _noted(
    counts: Counts, groups: Groups, target: str, notes: tuple[str, ...], query: Query
) -> Cell:
    return replace(cell(counts, query, groups, target), notes=notes)


def model(counts: Counts, groups: Groups, target: str, notes: Sequence[str] = ()) -> Model:
    """A model that answers every question with the product over the groups."""
    return Model(
        counts,
        partial(_joint, counts, groups, check_target(target), tuple(notes)),
        partial(_noted, counts, groups, target, tuple(notes)),
    )


def _joint(
    counts: Counts,
    groups: Groups,
    target: str,
    notes: tuple[str, ...],
    names: tuple[str, ...],
    max_cells: int | None,
) -> Solution:
    return solve(observe(counts, names, max_cells), groups, target, notes)


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
