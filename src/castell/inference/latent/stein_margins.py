"""Margins where no association was found: those of independence, combined with the unbiased ones.

Reports of a block of several attributes tell the margins of independent attributes better than the
reports of each by itself do, for noise hardly looks like independent answers. But where attributes
are associated, if too weakly to be told, these margins, m, are biased, and the unbiased ones, d,
are not. With D the covariance of d and r its rank, the margins are

    m + max(0, 1 - (r - 2) / H) (d - m),    H = (d - m)' D^- (d - m),

the positive-part James-Stein estimate that shrinks d to m. H compares the two as Hausman (1978)
does; his statistic has the covariance of d - m, D less that of m, in the place of D. That is right
for many reports only: where noise is heavy m lies at the edge of what is possible, varies less than
theory has it, and would too often seem refuted. D is that under independence: few reports of a rare
answer show too little variance. See docs/methods.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from castell.counting import Counts, is_coarse, samples_of
from castell.inference.latent.em import CountedTable
from castell.inference.latent.mixture import Mixture
from castell.inference.latent.settings import SETTINGS
from castell.inference.pooled_table import Source, sources
from castell.inference.postprocess import simplex
from castell.linear.operators import Floats
from castell.study.design import lens_on
from castell.study.schema import Schema

Margins = tuple[Floats, ...]


def stein_margins(
    counts: Counts,
    statistics: Sequence[CountedTable],
    alone: Margins,
    folds: Sequence[tuple[Sequence[CountedTable], Margins]] = (),
) -> list[Margins]:
    """The combination, from `alone`, the most likely margins of independent attributes.

    Then the same without each fold, with the same weight: for each the tables of the reports held
    out, and the most likely margins of the others. All are kept as they are where the reports of
    single blocks do not tell unbiased margins of everything.
    """
    if not _is_readable(counts):
        return [alone, *(margins for _, margins in folds)]
    unbiased = UnbiasedMargins.of(counts)
    tables = [table.counts for table in statistics]
    weight = stein_weight(*unbiased.distance(statistics, alone))
    seen = [[t - h.counts for t, h in zip(tables, held, strict=True)] for held, _ in folds]
    rest = [unbiased.combine(t, m, weight) for t, (_, m) in zip(seen, folds, strict=True)]
    return [unbiased.combine(tables, alone, weight), *rest]


def stein_weight(square: float, numbers: int) -> float:
    """The weight of unbiased numbers next to others, by how far apart the two are.

    Of two numbers or fewer no shrinking is better everywhere (Stein 1956), and nothing is combined.
    """
    if numbers <= 2 or square <= numbers - 2:
        return 0.0
    return 1.0 - (numbers - 2) / square


def _is_readable(counts: Counts) -> bool:
    """Whether each sample is one block, counted whole and asked as it is, and all have reports.

    (Reports of several blocks from each respondent are not in their tables alone, and of a wide
    block there are tables of pairs of its attributes.) What a report adds to each share has to be
    written out.
    """
    schema, every = counts.study.schema, samples_of(counts)
    if schema.impossible.rules or any(map(is_coarse, every)):
        return False
    blocks = [sample.study.design.blocks for sample in every]
    if any(len(some) > 1 for some in blocks) or not all(sample.n for sample in every):
        return False
    sizes = [max(prod(block.sizes), block.channel.outputs) for (block,) in blocks]
    small = max(sizes) * sum(schema.sizes) <= SETTINGS.most_numbers
    return small and max(sizes) <= SETTINGS.most_table_cells


@dataclass(frozen=True, eq=False)
class UnbiasedMargins:
    """What each report of each sample's block adds to the unbiased margins, all in a row."""

    sizes: tuple[int, ...]
    gains: tuple[Floats, ...]  # of each block: a row for each value, a column for each report

    @classmethod
    def of(cls, counts: Counts) -> UnbiasedMargins:
        schema = counts.study.schema
        every = sources(counts, [(name,) for name in schema.names])
        return cls(schema.sizes, tuple(_gains(source, schema) for source in every))

    def margins(self, tables: Sequence[Floats]) -> Floats:
        """Of the reports that some tables of these blocks count."""
        shares = [table / max(table.sum(), 1.0) for table in tables]
        return np.asarray(sum(g @ each for g, each in zip(self.gains, shares, strict=True)))

    def distance(self, tables: Sequence[CountedTable], alone: Margins) -> tuple[float, int]:
        """The squared distance of other margins from these, in units of the variance that these
        have if attributes are independent, and how many numbers they are."""
        # The last share of each attribute follows from the others.
        free = np.delete(np.arange(sum(self.sizes)), np.cumsum(self.sizes) - 1)
        shares = np.maximum(np.concatenate(alone), SETTINGS.least_start_share)
        model = Mixture(np.ones(1), shares[None, :], self.sizes)
        covariance = np.zeros((len(free), len(free)))
        for table, gains in zip(tables, self.gains, strict=True):
            expected, each = table.report_probabilities(model), gains[free]
            mean = each @ expected
            covariance += ((each * expected) @ each.T - np.outer(mean, mean)) / table.counts.sum()
        apart = (self.margins([table.counts for table in tables]) - shares)[free]
        return float(apart @ np.linalg.solve(covariance, apart)), len(free)

    def combine(self, tables: Sequence[Floats], alone: Margins, weight: float) -> Margins:
        """Other margins, and these with a weight."""
        unbiased = np.split(self.margins(tables), np.cumsum(self.sizes)[:-1])
        pairs = zip(alone, unbiased, strict=True)
        return tuple((1.0 - weight) * margin + weight * simplex(own) for margin, own in pairs)


def _gains(source: Source, schema: Schema) -> Floats:
    (block,) = source.reports.study.design.blocks
    axes = block.axes(0, block.names)
    shape = [axis.size for axis in axes]
    codes = np.unravel_index(np.arange(prod(shape)), shape)
    starts = np.cumsum([0, *schema.sizes])
    gains = np.zeros((starts[-1], prod(shape)))
    for name in block.names:
        (own,), place = block.axes(0, [name]), schema.names.index(name)
        inverse = lens_on(block, [name]).inverse.dense()[:, codes[axes.index(own)]]
        gains[starts[place] : starts[place + 1]] = source.weights[(name,)] * inverse
    return gains
