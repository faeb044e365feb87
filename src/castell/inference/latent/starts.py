"""Where fits start: at random near independence, or seeded at positive residuals from it.

EM finds no class that it does not start near to. Near independence, rare answers that are
associated in one block are taken for its channel's noise: the next step makes them rarer, and they
never come back, however many reports there are. Where blocks of several attributes are asked, a
start is offered that has seen their tables: the most likely table of answers to a block less the
product of its own margins. Classes are put at combinations with a positive residual, sampled in
proportion to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

import numpy as np

from castell.inference.latent.em import CountedTable
from castell.inference.latent.mixture import Mixture, normalise, random_start
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.sufficient_statistics import BlockTable, LeafTable
from castell.linear.operators import Floats


@dataclass(frozen=True)
class Start:
    """How a fit starts: with how many classes, how far apart, and whether seeded at positive
    residuals from independence."""

    classes: int
    scale: float
    seeded: bool = False

    def margins(
        self, alone: Sequence[Floats], residuals: Sequence[PositiveResiduals]
    ) -> tuple[Floats, ...]:
        """The margins to start with, and to shrink to: the most likely ones of independent
        attributes, `alone`, or those of the blocks' own tables, which hold however they are
        associated."""
        return block_margins(alone, residuals) if self.seeded else tuple(alone)

    def mixture(
        self,
        alone: Sequence[Floats],
        residuals: Sequence[PositiveResiduals],
        generator: np.random.Generator,
    ) -> Mixture:
        margins = self.margins(alone, residuals)
        plain = random_start(margins, self.classes, self.scale, generator)
        return seed(plain, residuals, generator) if self.seeded else plain


@dataclass(frozen=True, eq=False)
class PositiveResiduals:
    """Of the combinations of a block's attributes from independence: by how much each is more
    frequent than the product of the margins; and how many reported each value."""

    attributes: tuple[int, ...]
    excess: Floats  # an axis for each attribute
    margins: tuple[Floats, ...]


def whole_blocks(tables: Sequence[CountedTable]) -> list[BlockTable]:
    """The tables of blocks of several attributes that were asked as they are."""
    blocks = (table for table in tables if isinstance(table, BlockTable))
    return [b for b in blocks if len(b.attributes) > 1 and not isinstance(b, LeafTable)]


def positive_residuals(table: BlockTable, sizes: Sequence[int]) -> list[PositiveResiduals]:
    """Of a block's most likely table from independence, by its reports, or those of several
    folds."""
    shape = [sizes[a] for a in table.attributes]
    counts = np.atleast_2d(table.counts)
    n: Floats = counts.sum(axis=1)
    answers = np.full((len(counts), prod(shape)), 1.0 / prod(shape))
    backward = table.forward.transpose()
    for _ in range(SETTINGS.block_steps):
        seen = np.maximum(table.forward.apply_last(answers), 1e-300)
        answers = answers * backward.apply_last(counts / seen) / np.maximum(n, 1.0)[:, None]
    return [
        _from_independence(table.attributes, found.reshape(shape), float(many))
        for found, many in zip(answers, n, strict=True)
    ]


def _from_independence(attributes: tuple[int, ...], table: Floats, n: float) -> PositiveResiduals:
    axes = range(table.ndim)
    margins = [table.sum(axis=tuple(k for k in axes if k != axis)) for axis in axes]
    excess = np.maximum(table - reduce(np.multiply.outer, margins), 0.0)
    return PositiveResiduals(attributes, excess, tuple(n * margin for margin in margins))


def seed(
    plain: Mixture, residuals: Sequence[PositiveResiduals], generator: np.random.Generator
) -> Mixture:
    """The same with most classes at combinations with a positive residual, sampled in proportion
    to it."""
    excess = np.concatenate([each.excess.ravel() for each in residuals]) / len(residuals)
    classes = len(plain.weights)
    many = min(int(SETTINGS.seeded * classes), int((excess > SETTINGS.least_share).sum()))
    if not many:
        return plain
    everybody, profiles = plain.weights @ plain.profiles, plain.profiles.copy()
    chosen = generator.choice(len(excess), size=many, replace=False, p=excess / excess.sum())
    first = np.cumsum([0, *(each.excess.size for each in residuals)])
    for k, cell in enumerate(chosen):
        which = int(np.searchsorted(first, cell, side="right")) - 1
        each = residuals[which]
        codes = np.unravel_index(cell - first[which], each.excess.shape)
        profiles[k] = everybody
        for a, code in zip(each.attributes, codes, strict=True):
            start = plain.starts[a]
            profiles[k, start : plain.starts[a + 1]] *= 1.0 - SETTINGS.certain
            profiles[k, start + code] += SETTINGS.certain
    weights = np.full(classes, (1.0 - excess[chosen].sum()) / (classes - many))
    weights[:many] = excess[chosen]
    return normalise(
        np.maximum(weights, SETTINGS.least_share),
        np.maximum(profiles, SETTINGS.least_share),
        plain.sizes,
    )


def block_margins(
    alone: Sequence[Floats], residuals: Sequence[PositiveResiduals]
) -> tuple[Floats, ...]:
    """The margins of the blocks' tables, by how many reported them; those `alone` elsewhere."""
    told = [np.zeros(len(margin)) for margin in alone]
    for each in residuals:
        for a, margin in zip(each.attributes, each.margins, strict=True):
            told[a] += margin
    return tuple(
        counted / counted.sum() if counted.sum() > 0.0 else margin
        for counted, margin in zip(told, alone, strict=True)
    )
