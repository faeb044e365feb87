"""Products over groups of attributes, where each respondent reported one block of a drawn design.

A group's table comes from all blocks that hold the group: each inverts its own reports, and the
tables are averaged. Reports of different blocks are of different people, so their variances add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from castell.capabilities import one_of
from castell.counting import Counts, HistogramCounts, drawn_blocks
from castell.design import lens_on
from castell.errors import QueryError, ReportError
from castell.grouped import cell, expand, restrict, weighted_variance, wilson
from castell.inversion import Groups, Observed, Query, measure, observe
from castell.kronecker import check_cells
from castell.model import Cell, Model, Solution
from castell.operators import Floats
from castell.pooling import predicted, shares
from castell.spread import Spread

POPULATION = "population"


@dataclass(frozen=True, eq=False)
class Source:
    """A block with some reports, the groups of a question it holds, and its weight in each."""

    reports: HistogramCounts
    weights: dict[tuple[str, ...], float]

    @property
    def groups(self) -> list[tuple[str, ...]]:
        return list(self.weights)


def sources(blocks: Sequence[HistogramCounts], groups: Groups) -> list[Source]:
    """Who knows about the groups of a question. A group nobody reported together is refused."""
    weights: list[dict[tuple[str, ...], float]] = [{} for _ in blocks]
    for group in groups:
        holding = [i for i, b in enumerate(blocks) if set(group) <= set(b.study.names)]
        if not holding:
            raise _apart(group)
        able = [i for i in holding if blocks[i].n]
        if not able:
            raise ReportError(f"nobody reported {', '.join(group)} yet", "collect some more")
        views = [blocks[i] for i in able]
        variances = [predicted(lens_on(v.study.design.blocks[0], group)) for v in views]
        each = shares(variances, [v.n for v in views])
        for i, weight in zip(able, each, strict=True):
            weights[i][tuple(group)] = float(weight)
    return [Source(b, w) for b, w in zip(blocks, weights, strict=True) if w]


def _apart(group: Sequence[str]) -> QueryError:
    from castell.estimators import methods_across

    return QueryError(
        f"no respondent reported {', '.join(group)} together",
        f"ask for fewer attributes, or use {one_of(methods_across())}",
    )


def expected_variance(blocks: Sequence[HistogramCounts], names: Sequence[str]) -> float:
    """The variance of a cell of `castell`'s table, on average, if answers are uniform."""
    group = tuple(names)
    return sum(
        source.weights[group] ** 2
        * predicted(lens_on(source.reports.study.design.blocks[0], group))
        / source.reports.n
        for source in sources(blocks, [group])
    )


def drawn_model(counts: Counts, groups: Groups, notes: tuple[str, ...]) -> Model:
    """A model that answers every question with the product over the groups."""
    blocks = drawn_blocks(counts)
    return Model(
        counts,
        partial(_joint, blocks, groups, notes),
        partial(_cell, blocks, groups, notes),
    )


def pooled(found: Sequence[Source], group: tuple[str, ...], max_cells: int | None = None) -> Floats:
    """A group's table: the average over the blocks that hold it."""
    return np.asarray(
        sum(
            source.weights[group] * observe(source.reports, group, max_cells).invert()
            for source in found
            if group in source.weights
        )
    )


def _joint(
    blocks: Sequence[HistogramCounts],
    groups: Groups,
    notes: tuple[str, ...],
    names: tuple[str, ...],
    max_cells: int | None,
) -> Solution:
    _refuse_too_large(blocks, names, max_cells)
    groups = restrict(groups, names)
    found = sources(blocks, groups)
    tables = [expand(pooled(found, group, max_cells), group, names) for group in groups]
    return Solution(
        np.asarray(prod(tables[1:], start=tables[0])),
        partial(_spread, found, groups),
        notes,
    )


def _refuse_too_large(
    blocks: Sequence[HistogramCounts], names: Sequence[str], limit: int | None
) -> None:
    size = {a.name: a.size for b in blocks for a in b.study.schema}
    check_cells(" x ".join(names), [size[name] for name in names], limit)


def narrowed(found: Sequence[Source], names: tuple[str, ...]) -> list[Source]:
    """The sources of a marginal of a table: its blocks with their weights, nobody else.

    Other blocks may know about the marginal too, but they are not in the table it is taken of.
    """
    cut = []
    for source in found:
        held = {g: tuple(name for name in names if name in g) for g in source.groups}
        weights = {held[g]: weight for g, weight in source.weights.items() if held[g]}
        cut += [Source(source.reports, weights)] if weights else []
    return cut


def _spread(found: Sequence[Source], groups: Groups, names: tuple[str, ...]) -> Spread:
    groups, found = restrict(groups, names), narrowed(found, names)
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
        observed = observe(source.reports, everything)
        variance = variance + weighted_variance(observed, held, weights, names, POPULATION)
    return Spread(variance)


def _of_one(source: Source, group: tuple[str, ...]) -> tuple[float, Spread]:
    observed: Observed = observe(source.reports, group)
    variance = weighted_variance(observed, [group], [np.ones(1)], group, POPULATION)
    spread = wilson(observed.invert(), variance, observed.growth(), observed.n, POPULATION)
    return source.weights[group], spread


def _average(parts: Sequence[tuple[float, Spread]]) -> Spread:
    """The spread of a weighted average of estimates from different people."""
    return Spread(
        np.asarray(sum(w**2 * s.variance for w, s in parts)),
        np.asarray(sum(w**2 * np.asarray(s.slope) for w, s in parts)),
        float(sum(w**2 * s.bend for w, s in parts)),
    )


def _cell(
    blocks: Sequence[HistogramCounts],
    groups: Groups,
    notes: tuple[str, ...],
    query: Query,
) -> Cell:
    groups = [tuple(group) for group in restrict(groups, tuple(query))]
    found = sources(blocks, groups)
    if len(groups) == 1:
        parts = [
            (source.weights[groups[0]], cell(source.reports, query, groups, POPULATION))
            for source in found
        ]
        value = sum(w * c.value for w, c in parts)
        return Cell(float(value), _average([(w, c.spread) for w, c in parts]), notes)
    measured = []
    values = dict.fromkeys(groups, 0.0)
    for source in found:
        held = source.groups
        asked = {name: query[name] for group in held for name in group}
        seen = measure(source.reports, asked, held, POPULATION)
        measured.append((source, seen))
        for group, value in zip(held, seen.values, strict=True):
            values[group] += source.weights[group] * value
    variance = 0.0
    for source, seen in measured:
        slopes = np.array(
            [
                source.weights[g] * prod(v for other, v in values.items() if other != g)
                for g in source.groups
            ]
        )
        variance += float(slopes @ seen.covariance @ slopes)
    return Cell(float(prod(values.values())), Spread(np.asarray(max(variance, 0.0))), notes)
