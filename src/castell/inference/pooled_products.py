"""Products over groups of attributes, from several samples of respondents.

A group's table comes from all samples that hold the group: each inverts its own reports, and the
tables are averaged. Samples are of different people, so their variances add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np

from castell.channels.precision import predicted
from castell.counting import Counts, evenly_spread, samples_with
from castell.inference.fitted import Fitted, Solution
from castell.inference.intervals import Normal
from castell.inference.inversion import (
    Groups,
    Observed,
    Query,
    measure,
    names_of,
    observe,
    smoothed,
)
from castell.inference.kronecker import check_cells
from castell.inference.pooling import Source, sources
from castell.inference.products import Pieces, restrict, slopes, weighted_variance, wilson
from castell.inference.reasons import Reasons
from castell.inference.shares import Shares
from castell.linear.axes import expand
from castell.linear.operators import Floats
from castell.study.design import lens_on

POPULATION = "population"


def expected_variance(counts: Counts, names: Sequence[str]) -> float:
    """The variance of a cell of `castell`'s table, on average, if answers are uniform."""
    group = tuple(names)
    return sum(
        source.weights[group] ** 2
        * predicted(lens_on(source.reports.study.design.blocks[0], group))
        / source.reports.n
        for source in sources(counts, [group])
    )


def pooled_model(counts: Counts, groups: Groups, reasons: Reasons) -> Fitted:
    """A model that answers every question with the product over the groups."""
    return Fitted(
        counts,
        partial(_joint, counts, groups, reasons),
        partial(_shares, counts, groups, reasons),
    )


def pooled(found: Sequence[Source], group: tuple[str, ...], max_cells: int | None = None) -> Floats:
    """A group's table: the average over the samples that hold it."""
    return np.asarray(
        sum(
            source.weights[group] * observe(source.reports, group, max_cells).invert()
            for source in found
            if group in source.weights
        )
    )


def _joint(
    counts: Counts,
    groups: Groups,
    reasons: Reasons,
    names: tuple[str, ...],
    max_cells: int | None,
) -> Solution:
    sizes = [counts.study.schema[name].size for name in names]
    check_cells(" x ".join(names), sizes, max_cells)
    groups = restrict(groups, names)
    found = sources(counts, groups)
    tables = [expand(pooled(found, group, max_cells), group, names) for group in groups]
    return Solution(
        np.asarray(prod(tables[1:], start=tables[0])),
        partial(_spread, found, groups),
        reasons(names),
    )


def _margin_sources(found: Sequence[Source], names: tuple[str, ...]) -> list[Source]:
    """The sources of a marginal of a table: its samples with their weights, nobody else.

    Other samples may know about the marginal too, but they are not in the table it is taken of.
    """
    cut = []
    for source in found:
        held = {g: tuple(name for name in names if name in g) for g in source.groups}
        weights = {held[g]: weight for g, weight in source.weights.items() if held[g]}
        cut += [Source(source.reports, weights)] if weights else []
    return cut


def _spread(found: Sequence[Source], groups: Groups, names: tuple[str, ...]) -> Normal:
    groups, found = restrict(groups, names), _margin_sources(found, names)
    if len(groups) == 1:
        return _average([_of_one(source, groups[0]) for source in found])
    tables = [expand(pooled(found, group), group, names) for group in groups]
    others = {
        group: prod((t for k, t in enumerate(tables) if k != c), start=np.ones(1))
        for c, group in enumerate(groups)
    }
    variance: Floats = np.zeros(1)
    for source in found:
        held = source.groups
        weights = [source.weights[group] * others[group] for group in held]
        everything = tuple(name for group in held for name in group)
        observed = observe(source.reports, everything).smoothed()
        variance = variance + weighted_variance(observed, held, weights, names, POPULATION)
    return Normal(variance)


def _of_one(source: Source, group: tuple[str, ...]) -> tuple[float, Normal]:
    observed: Observed = observe(source.reports, group)
    few = observed.smoothed()
    variance = weighted_variance(few, [group], [np.ones(1)], group, POPULATION)
    spread = wilson(observed.invert(), variance, observed.growth(), observed.n, POPULATION)
    return source.weights[group], spread


def _average(parts: Sequence[tuple[float, Normal]]) -> Normal:
    """The spread of a weighted average of estimates from different people."""
    return Normal(
        np.asarray(sum(w**2 * s.variance for w, s in parts)),
        np.asarray(sum(w**2 * np.asarray(s.slope) for w, s in parts)),
        np.asarray(sum(w**2 * np.asarray(s.bend) for w, s in parts)),
    )


def _shares(
    counts: Counts,
    groups: Groups,
    reasons: Reasons,
    queries: Sequence[Query],
) -> Shares:
    pieces = Pieces.cut(queries, groups)
    many = len(pieces.queries)
    values, slope, bend = np.zeros(many), np.zeros(many), np.zeros(many)
    covariance = np.zeros((many, many))
    homes = _homes(counts, restrict(groups, names_of(queries)), pieces.queries)
    for source in sources(counts, list(dict.fromkeys(homes))):
        mine = [k for k, home in enumerate(homes) if home in source.weights]
        asked = [pieces.queries[k] for k in mine]
        weights = np.array([source.weights[homes[k]] for k in mine])
        even = measure(evenly_spread(source.reports), asked, POPULATION)
        cells = smoothed(measure(source.reports, asked, POPULATION), even)
        growths = slopes(source.reports, asked, cells.n)
        spread = wilson(cells.values, np.zeros(1), growths, cells.n, POPULATION)
        values[mine] += weights * cells.values
        # Samples are of different people.
        covariance[np.ix_(mine, mine)] += np.outer(weights, weights) * cells.covariance
        slope[mine] += weights**2 * spread.slope
        bend[mine] += weights**2 * spread.bend
    variance = np.diag(covariance)
    return pieces.shares(values, covariance, Normal(variance, slope, bend)).because(
        *reasons(names_of(queries))
    )


def _homes(counts: Counts, groups: Groups, queries: Sequence[Query]) -> list[tuple[str, ...]]:
    """Whose reports answer each query: of all attributes asked for, or of its own.

    Shares that are asked for together, such as a group and a part of it, come from the same reports
    where some hold all of them, so that they agree.
    """
    whole = [tuple(g) for g in groups if any(s.n for s in samples_with(counts, g))]
    return [next((g for g in whole if set(q) <= set(g)), tuple(q)) for q in queries]
