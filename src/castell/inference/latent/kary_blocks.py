"""The tables of many blocks side by side: one E-step for all that were asked by k-ary response.

A block's table is small, and an E-step through it takes its time in being called. Here blocks are
stacked, each with the combinations of half of its attributes in rows and those of the others in
columns, and filled up to the largest of the stack. What is filled up has no chance and no reports,
so it adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from castell.inference.latent.em import CountedTable, Expectation, Likelihood, logs
from castell.inference.latent.mixture import Mixture, even_cut
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.sufficient_statistics import BlockTable
from castell.linear.operators import Floats, Uniform

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Halves:
    """The combinations of half of the attributes of each block, one block after the other.

    `values` says which value of each attribute a combination holds. After the last value stands
    what an attribute too few is, certain, and then what a combination too many is, impossible.
    """

    values: Places  # attributes x (blocks x combinations)
    blocks: int
    certain: int

    @classmethod
    def of(cls, each: Sequence[Sequence[int]], sizes: Sequence[int]) -> Halves:
        starts, certain = np.cumsum([0, *sizes]), sum(sizes)
        most = max(prod(sizes[a] for a in own) for own in each)
        values = np.full((max(1, *map(len, each)), len(each), most), certain)
        values[0] = certain + 1
        for block, own in enumerate(each):
            shape = [sizes[a] for a in own]
            values[0, block, : prod(shape)] = certain
            for k, (a, codes) in enumerate(zip(own, np.indices(shape), strict=True)):
                values[k, block, : prod(shape)] = starts[a] + codes.ravel()
        return cls(values.reshape(len(values), -1), len(each), certain)

    def chances(self, by_value: Floats) -> Floats:
        """Of each combination: blocks x combinations x mixtures x classes."""
        first, *others = self.values
        found: Floats = by_value[first]
        for values in others:
            found *= by_value[values]
        return found.reshape(self.blocks, -1, *by_value.shape[1:])

    def add_by_value(self, expected: Floats, totals: Floats) -> None:
        """Add how many have each value, from how many have each combination."""
        combinations, starts, present = self._holding
        every = expected.reshape(-1, *totals.shape[1:])
        totals[present] += np.add.reduceat(every[combinations], starts, axis=0)

    @cached_property
    def _holding(self) -> tuple[Places, Places, Places]:
        """The combinations that hold each value, value by value, and where those of each begin."""
        attribute, combination = np.nonzero(self.values < self.certain)
        values = self.values[attribute, combination]
        order = np.argsort(values, kind="stable")
        present, starts = np.unique(values[order], return_index=True)
        return combination[order], starts, present


@dataclass(frozen=True, eq=False)
class KaryBlocks:
    """Blocks through k-ary response: the two halves of each, its channel and its reports."""

    left: Halves
    right: Halves
    gain: Floats  # by how much the diagonal of each channel is above the rest
    rest: Floats
    counts: Floats  # blocks x left x right, the last axes

    @classmethod
    def of(cls, every: Sequence[_Block], sizes: Sequence[int]) -> KaryBlocks:
        left = Halves.of([block.left for block in every], sizes)
        right = Halves.of([block.right for block in every], sizes)
        counts = np.zeros(
            (
                *every[0].counts.shape[:-2],
                len(every),
                max(block.shape[0] for block in every),
                max(block.shape[1] for block in every),
            )
        )
        for k, block in enumerate(every):
            rows, columns = block.shape
            counts[..., k, :rows, :columns] = block.counts
        channels = [block.channel for block in every]
        gain = np.array([channel.diagonal - channel.rest for channel in channels])
        rest = np.array([channel.rest for channel in channels])
        return cls(left, right, gain[:, None, None], rest[:, None, None], counts)

    def with_counts(self, counts: Floats) -> KaryBlocks:
        return replace(self, counts=counts)

    def of_members(self, members: NDArray[np.intp]) -> KaryBlocks:
        return self if self.counts.ndim == 3 else self.with_counts(self.counts[members])

    def report_probabilities(self, mixture: Mixture) -> Floats:
        left, right = self._chances(mixture)
        seen = self._through(_matrices(left) @ _matrices(right).swapaxes(-1, -2))
        return seen.reshape(*mixture.weights.shape[:-1], *seen.shape[1:])

    def log_likelihood(self, probabilities: Floats) -> Floats:
        return np.asarray((self.counts * logs(probabilities)).sum(axis=(-3, -2, -1)))

    def add_expectation(self, mixture: Mixture, total: Expectation) -> None:
        left, right = self._chances(mixture)
        rows, columns = _matrices(left), _matrices(right)
        seen = np.maximum(self._through(rows @ columns.swapaxes(-1, -2)), 1e-300)
        total.log_likelihood += self.log_likelihood(seen).reshape(total.log_likelihood.shape)
        # What each answer's chance is multiplied by: expected numbers over chances.
        factor = self._through(self.counts / seen)
        by_value = np.zeros((sum(mixture.sizes), *left.shape[2:]))
        expected = np.empty_like(left)
        np.matmul(factor, columns, out=_matrices(expected))
        expected *= left
        self.left.add_by_value(expected, by_value)
        total.classes += expected.sum(axis=(0, 1)).reshape(total.classes.shape)
        expected = np.empty_like(right)
        np.matmul(factor.swapaxes(-1, -2), rows, out=_matrices(expected))
        expected *= right
        self.right.add_by_value(expected, by_value)
        total.values += by_value.transpose(1, 2, 0).reshape(total.values.shape)

    def _chances(self, mixture: Mixture) -> tuple[Floats, Floats]:
        """Of the combinations of both halves, those on the left times the weights."""
        weights = mixture.weights.reshape(-1, mixture.weights.shape[-1])
        # Values come first: picking some of them copies whole rows.
        by_value = np.empty((sum(mixture.sizes) + 2, *weights.shape))
        profiles = mixture.profiles.reshape(*weights.shape, -1)
        by_value[:-2] = profiles.transpose(2, 0, 1)
        by_value[-2], by_value[-1] = 1.0, 0.0
        left, right = self.left.chances(by_value), self.right.chances(by_value)
        left *= weights
        return left, right

    def _through(self, cells: Floats) -> Floats:
        """Through the channels, or back: they are symmetric. In place."""
        base = self.rest * cells.sum(axis=(-2, -1), keepdims=True)
        cells *= self.gain
        cells += base
        return cells


def _matrices(chances: Floats) -> Floats:
    """A matrix of combinations and classes for each mixture and block; nothing is copied."""
    return chances.transpose(2, 0, 1, 3)


@dataclass(frozen=True, eq=False)
class _Block:
    """A block's table as a matrix, with no fewer rows than columns."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    shape: tuple[int, int]
    channel: Uniform
    counts: Floats

    @classmethod
    def of(cls, table: BlockTable, channel: Uniform, sizes: Sequence[int]) -> _Block:
        own = table.attributes
        cut = even_cut(tuple(sizes[a] for a in own))
        left, right = own[:cut], own[cut:]
        rows, columns = prod(sizes[a] for a in left), prod(sizes[a] for a in right)
        counts = table.counts.reshape(*table.counts.shape[:-1], rows, columns)
        if rows >= columns:
            return cls(left, right, (rows, columns), channel, counts)
        return cls(right, left, (columns, rows), channel, counts.swapaxes(-1, -2))


def side_by_side(tables: Sequence[CountedTable], sizes: Sequence[int]) -> list[Likelihood]:
    """The same reports, those of blocks through k-ary response stacked."""
    kary, others = list[_Block](), list[Likelihood]()
    for table in tables:
        if type(table) is BlockTable and isinstance(table.forward, Uniform):
            kary.append(_Block.of(table, table.forward, sizes))
        else:
            others.append(table)
    return [*others, *(KaryBlocks.of(stack, sizes) for stack in _stacks(kary))]


def _stacks(blocks: Sequence[_Block]) -> Iterator[list[_Block]]:
    """Blocks of about one size, which fill each other up by no more than they are."""
    stack: list[_Block] = []
    cells = rows = columns = 0
    for block in sorted(blocks, key=lambda block: block.shape, reverse=True):
        many, rows, columns = (
            len(stack) + 1,
            max(rows, block.shape[0]),
            max(columns, block.shape[1]),
        )
        cells += prod(block.shape)
        spare = many * rows * columns - cells
        if stack and (spare > max(cells, SETTINGS.spare_cells) or many * rows > SETTINGS.stacked):
            yield stack
            stack, (rows, columns), cells = [], block.shape, prod(block.shape)
        stack.append(block)
    if stack:
        yield stack
