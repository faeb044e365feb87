"""Estimates that are products over groups of attributes, each group's table inverted.

One group is castell, a group for each attribute is RR-Independent, anything between is
RR-Clusters: one rule, one variance. A group's table comes from all samples of respondents who
reported the group (`pooled_table`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np

from castell.counting import Counts, samples_of
from castell.errors import OptionError
from castell.inference.intervals import Normal
from castell.inference.inversion import Groups, Observed, cross_moment, observe, restrict, wilson
from castell.inference.method import Fitted, Solution, Why
from castell.inference.pooled_table import (
    Source,
    View,
    average_of_views,
    cell_variance,
    sources,
    spread_of_views,
)
from castell.inference.reasons import Reasons, no_reasons
from castell.inference.shares import answer_shares
from castell.inference.top_cells import unbiased_prefixes
from castell.linear.operators import Floats
from castell.linear.table import Table, product

TARGETS = ("population", "respondents")


def check_target(target: str) -> str:
    if target not in TARGETS:
        raise OptionError(
            f"target is {target!r}",
            "use 'population' (the respondents are a sample of it) or 'respondents' (just them)",
        )
    return target


def product_model(
    counts: Counts, groups: Groups, target: str, reasons: Reasons = no_reasons
) -> Fitted:
    """A model that answers every question with the product over the groups.

    Of several samples each is one of the respondents, so `target` can be the population only.
    """
    check_target(target)
    return Fitted(
        counts,
        partial(_joint, counts, groups, target, reasons),
        partial(answer_shares, counts, groups, target, reasons),
        prefixes=partial(unbiased_prefixes, counts, groups),
    )


def _joint(
    counts: Counts,
    groups: Groups,
    target: str,
    reasons: Reasons,
    names: tuple[str, ...],
    max_cells: int | None,
) -> Solution:
    if len(samples_of(counts)) == 1:
        return solve(observe(counts, names, max_cells), groups, target, partial(reasons, names))
    counts.study.schema.check_cells(names, max_cells)
    groups = restrict(groups, names)
    found = sources(counts, groups)
    return Solution(
        product([_pool_group(found, group, max_cells) for group in groups], names),
        partial(_pooled_spread, found, groups),
        partial(reasons, names),
    )


# -- from one sample -------------------------------------------------------------------------------


def solve(observed: Observed, groups: Groups, target: str, why: Why = ()) -> Solution:
    """The table of a product over groups, with its error, from one table of reports."""
    groups = restrict(groups, observed.names)
    table = product_table(observed, groups)
    return Solution(table, partial(_spread, observed, groups, target, table), why)


def _invert_groups(observed: Observed, groups: Groups) -> list[Table]:
    return [Table(tuple(group), observed.project(group).invert()) for group in groups]


def product_table(observed: Observed, groups: Groups) -> Floats:
    """The product of the groups' inverted tables."""
    return product(_invert_groups(observed, groups), observed.names)


def product_variance(observed: Observed, groups: Groups, target: str) -> Floats:
    """The variance of each cell of `product_table`, to first order (exact for one group).

    A report adds to the product sum_c L_c g_c, with g_c what it adds to group c and L_c the
    product of the other groups. Its variance over the population is the mean square less the
    squared mean. If only the n respondents are meant, each one's own expectation is taken out
    instead: what they add to group c is 1 if they are in its cell, else 0.
    """
    tables = _invert_groups(observed, groups)
    if len(groups) == 1:
        return cell_variance(observed, tables[0].along(observed.names), target)
    weights = _others(tables, observed.names)
    return _weighted_variance(observed, groups, weights, observed.names, target)


def _others(tables: Sequence[Table], names: Sequence[str]) -> list[Floats]:
    """For each of some tables the product of the others."""
    return [product([*tables[:c], *tables[c + 1 :]], names) for c in range(len(tables))]


def _weighted_variance(
    observed: Observed,
    groups: Groups,
    weights: Sequence[Floats],
    names: Sequence[str],
    target: str,
) -> Floats:
    """The variance of the sum over groups of weights times the group's inverted table.

    Weights are tables over `names`, or broadcast to them.
    """
    tables = [table.along(names) for table in _invert_groups(observed, groups)]
    population = target == "population"
    total: Floats = np.zeros(1)
    for c, group in enumerate(groups):
        square = Table(tuple(group), observed.project(group).second_moment()).along(names)
        total = total + weights[c] ** 2 * (square if population else square - tables[c])
    for c, d in combinations(range(len(groups)), 2):
        both = groups[c] + groups[d]
        cross = cross_moment(observed, groups[c], groups[d])
        if not population:
            cross = cross - observed.project(both).invert()
        total = total + 2.0 * weights[c] * weights[d] * Table(both, cross).along(names)
    if population:
        total = total - sum(w * t for w, t in zip(weights, tables, strict=True)) ** 2
    # Rounding may leave a cell that is certain a hair below zero.
    return np.maximum(total, 0.0) / observed.n


def _spread(
    whole: Observed, groups: Groups, target: str, table: Floats, names: tuple[str, ...]
) -> Normal:
    # Every group's table sums to one, so a marginal of the product is the product of marginals.
    observed, groups = whole.project(names), restrict(groups, names)
    if len(groups) > 1:
        return Normal(product_variance(observed, groups, target))
    if observed is not whole:
        table = observed.invert()
    variance = cell_variance(observed, table, target)
    return wilson(table, variance, observed.moment_slope(), observed.n, target)


# -- from several samples --------------------------------------------------------------------------


def _views(
    found: Sequence[Source], group: tuple[str, ...], max_cells: int | None = None
) -> list[View]:
    return [
        (source.weights[group], observe(source.reports, group, max_cells))
        for source in found
        if group in source.weights
    ]


def _pool_group(
    found: Sequence[Source], group: tuple[str, ...], max_cells: int | None = None
) -> Table:
    return Table(group, average_of_views(_views(found, group, max_cells)))


def _pooled_spread(found: Sequence[Source], groups: Groups, names: tuple[str, ...]) -> Normal:
    groups, found = restrict(groups, names), _margin_sources(found, names)
    if len(groups) == 1:
        return spread_of_views(_views(found, groups[0]))
    tables = [_pool_group(found, group) for group in groups]
    others = dict(zip(groups, _others(tables, names), strict=True))
    variance: Floats = np.zeros(1)
    for source in found:
        mine = source.groups
        weights = [source.weights[group] * others[group] for group in mine]
        everything = tuple(name for group in mine for name in group)
        observed = observe(source.reports, everything).smoothed()
        variance = variance + _weighted_variance(observed, mine, weights, names, "population")
    return Normal(variance)


def _margin_sources(found: Sequence[Source], names: tuple[str, ...]) -> list[Source]:
    """The sources of a marginal of a table: its samples with their weights, nobody else.

    Other samples may know about the marginal too, but they are not in the table it is taken of.
    """
    cut = []
    for source in found:
        asked = {g: tuple(name for name in names if name in g) for g in source.groups}
        weights = {asked[g]: weight for g, weight in source.weights.items() if asked[g]}
        cut += [Source(source.reports, weights)] if weights else []
    return cut
