"""Sufficient statistics of the (composite) likelihood: tables of blocks, and of all pairs.

Responsibilities added up over all reports (`expectation`) come from tables, however many reports
these count. Where a respondent reports one block, the tables of blocks are all there
is. Where everybody reports every block, the pairs of attributes are: they hold what a mixture can
learn from much noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import prod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, samples_of
from castell.inference.latent.em import CountedTable, Expectation, add_halves, logs
from castell.inference.latent.mixture import (
    Mixture,
    PositiveResiduals,
    likely_answers,
    sums_within,
)
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.whole_block_pairs import tables_apart, units_apart
from castell.linear.kronecker_product import KroneckerProduct, identity
from castell.linear.operators import Floats, Operator, Uniform
from castell.study.design import Axis, Design, lens_on
from castell.study.study import Study


def _log_likelihood_between(counts: Floats, low: Floats, high: Floats, shares: Floats) -> Floats:
    return np.array([np.vdot(counts, logs(low + share * (high - low))) for share in shares])


@dataclass(frozen=True, eq=False)
class BlockTable:
    """The reports of one block: some attributes through one channel."""

    attributes: tuple[int, ...]
    forward: Operator
    counts: Floats  # of each kind of report, the last axis

    def with_counts(self, counts: Floats) -> Self:
        return replace(self, counts=counts)

    def of_members(self, members: NDArray[np.intp]) -> Self:
        return self if self.counts.ndim == 1 else self.with_counts(self.counts[members])

    @cached_property
    def _backward(self) -> Operator:
        return self.forward.transpose()

    def positive_residuals(self, sizes: Sequence[int]) -> list[PositiveResiduals]:
        """Of the most likely table of answers from independence, by fold if there are any."""
        shape = [sizes[a] for a in self.attributes]
        counts = np.atleast_2d(self.counts)
        forward, backward = self.forward.apply_last, self._backward.apply_last
        answers = likely_answers(counts, (prod(shape),), forward, backward)
        return [
            PositiveResiduals.of(self.attributes, found.reshape(shape), float(many))
            for found, many in zip(answers, counts.sum(axis=1), strict=True)
        ]

    def log_likelihood_between(
        self, attribute: int, low: Mixture, high: Mixture, shares: Floats
    ) -> Floats:
        if attribute not in self.attributes:
            return np.zeros(len(shares))
        return _log_likelihood_between(
            self.counts, self.report_probabilities(low), self.report_probabilities(high), shares
        )

    def report_probabilities(self, mixture: Mixture) -> Floats:
        left, right = mixture.halves(self.attributes)
        return self.forward.apply_last(_cells(left.swapaxes(-1, -2) @ right))

    def log_likelihood(self, chances: Floats) -> Floats:
        return np.asarray((self.counts * logs(chances)).sum(axis=-1))

    def _expected_answers(self, answers: Floats, total: Expectation) -> Floats:
        """What each answer's chance is multiplied by: expected numbers over chances."""
        seen = np.maximum(self.forward.apply_last(answers), 1e-300)
        total.log_likelihood += self.log_likelihood(seen)
        return self._backward.apply_last(self.counts / seen)

    def add_expectation(self, mixture: Mixture, total: Expectation) -> None:
        # With half of the attributes times the other half no class needs a table of its own.
        left, right = mixture.halves(self.attributes)
        joint: Floats = left.swapaxes(-1, -2) @ right
        factor = self._expected_answers(_cells(joint), total).reshape(joint.shape)
        add_halves(mixture, self.attributes, left, right, factor, total)


def _across(one: Floats, two: Floats, tables: Floats) -> Floats:
    return one @ tables @ two.T


def _cells(joint: Floats) -> Floats:
    """The cells of tables in one line."""
    return joint.reshape(*joint.shape[:-2], -1)


@dataclass(frozen=True, eq=False)
class LeafTable(BlockTable):
    """The reports of a block that asks coarsely: leaves of a partition through one channel.

    A leaf is a box: within a class its chance is the product over attributes of the chance of the
    values inside, so the combinations of values are never written out. `members` says for each
    attribute which values each leaf holds: a row of 0 and 1 for each leaf. `inverse` takes the
    channel on leaves back out.
    """

    members: tuple[Floats, ...]
    inverse: Operator

    def _inside(self, mixture: Mixture) -> list[Floats]:
        """How likely each attribute's values inside each leaf are in each class."""
        insides = zip(self.attributes, self.members, strict=True)
        return [mixture.parts[a] @ inside.T for a, inside in insides]

    def report_probabilities(self, mixture: Mixture) -> Floats:
        leaves = np.prod(self._inside(mixture), axis=0) * mixture.weights[..., None]
        return self.forward.apply_last(leaves.sum(axis=-2))

    def add_expectation(self, mixture: Mixture, total: Expectation) -> None:
        inside = self._inside(mixture)
        joint: Floats = np.prod(inside, axis=0) * mixture.weights[..., None]
        joint *= self._expected_answers(joint.sum(axis=-2), total)[..., None, :]
        total.classes += joint.sum(axis=-1)
        starts = mixture.starts
        for a, own, members in zip(self.attributes, inside, self.members, strict=True):
            # Within a leaf and a class the values are as likely as in the class.
            share = joint / np.maximum(own, 1e-300)
            total.values[..., starts[a] : starts[a + 1]] += mixture.parts[a] * (share @ members)


@dataclass(frozen=True, eq=False)
class PairTables:
    """The tables of all pairs of attributes that are reported apart, side by side in one matrix.

    `counts` is symmetric, with nothing where an attribute would meet itself or one of its block.
    All pairs are then a few matrix products over the classes.
    """

    forward: tuple[Operator, ...]  # one for each attribute
    counts: Floats

    def with_counts(self, counts: Floats) -> PairTables:
        return replace(self, counts=counts)

    def of_members(self, members: NDArray[np.intp]) -> PairTables:
        return self if self.counts.ndim == 2 else self.with_counts(self.counts[members])

    def positive_residuals(self) -> list[list[PositiveResiduals]]:
        """The same of each pair. Margins are told by single attributes: a pair's weigh nothing."""
        counts = self.counts if self.counts.ndim == 3 else self.counts[None]
        ends = np.cumsum([0, *(f.rows for f in self.forward)])
        found = []
        for (i, f), (k, g) in combinations(enumerate(each.dense() for each in self.forward), 2):
            own = counts[:, ends[i] : ends[i + 1], ends[k] : ends[k + 1]]
            shape, forward = (f.shape[1], g.shape[1]), partial(_across, f, g)
            tables = likely_answers(own, shape, forward, partial(_across, f.T, g.T))
            found.append([PositiveResiduals.of((i, k), table, 0.0) for table in tables])
        return found

    @cached_property
    def _whole(self) -> Floats:
        """All channels at once: one product is faster than one for each attribute."""
        matrix = np.zeros((sum(f.rows for f in self.forward), sum(f.columns for f in self.forward)))
        row = column = 0
        for f in self.forward:
            matrix[row : row + f.rows, column : column + f.columns] = f.dense()
            row, column = row + f.rows, column + f.columns
        return matrix

    @cached_property
    def _kary(self) -> tuple[Floats, ...] | None:
        """Of k-ary channels, how much more is on the diagonal than beside it, and what is there."""
        kary = [f for f in self.forward if isinstance(f, Uniform)]
        if len(kary) < len(self.forward):
            return None
        entries = np.array([[f.diagonal - f.rest for f in kary], [f.rest for f in kary]])
        return tuple(np.repeat(entries, [f.size for f in kary], axis=1))

    def _report_chances(self, mixture: Mixture) -> Floats:
        """How likely each report of each attribute is in each class."""
        if self._kary is None:
            return mixture.profiles @ self._whole.T
        gain, rest = self._kary
        return np.asarray(mixture.profiles * gain + rest)

    def _back(self, blame: Floats, sizes: tuple[int, ...]) -> Floats:
        """From the reports of each attribute back to its values."""
        if self._kary is None:
            return np.asarray(blame @ self._whole)
        gain, rest = self._kary
        return np.asarray(blame * gain + sums_within(blame, sizes) * rest)

    def log_likelihood_between(
        self, attribute: int, low: Mixture, high: Mixture, shares: Floats
    ) -> Floats:
        # Its pairs with the others: no other table is touched.
        ends = np.cumsum([0, *(f.rows for f in self.forward)])
        own = slice(ends[attribute], ends[attribute + 1])

        def chances(mixture: Mixture) -> Floats:
            shown = self._report_chances(mixture)
            weighted = shown[..., own] * mixture.weights[..., None]
            return np.asarray(weighted.swapaxes(-1, -2) @ shown)

        counts = self.counts[..., own, :]
        return _log_likelihood_between(counts, chances(low), chances(high), shares)

    def report_probabilities(self, mixture: Mixture) -> Floats:
        shown = self._report_chances(mixture)
        found: Floats = shown.swapaxes(-1, -2) @ (shown * mixture.weights[..., None])
        return found

    def log_likelihood(self, chances: Floats) -> Floats:
        # Every pair stands in the matrix twice.
        return np.asarray(0.5 * (self.counts * logs(chances)).sum(axis=(-2, -1)))

    def add_expectation(self, mixture: Mixture, total: Expectation) -> None:
        shown = self._report_chances(mixture)
        weighted = shown * mixture.weights[..., None]
        seen = np.maximum(shown.swapaxes(-1, -2) @ weighted, 1e-300)
        blame = self._back(weighted @ (self.counts / seen), mixture.sizes)
        values = mixture.profiles * blame
        total.classes += 0.5 * values.sum(axis=-1)
        total.values += values
        total.log_likelihood += self.log_likelihood(seen)


def sufficient_statistics(counts: Counts) -> list[CountedTable]:
    """All that some reports say: first of each sample the tables of blocks, then of pairs."""
    place = {name: i for i, name in enumerate(counts.study.names)}
    found: list[CountedTable] = []
    for sample in samples_of(counts):
        if _is_drawn_beside_public(sample.study, counts.study):
            found += _beside_public(sample, place)
            continue
        for i, names in _within_blocks(sample.study.design):
            block = sample.study.design.blocks[i]
            counted = sample.table(block.axes(i, names)).ravel().astype(np.float64)
            attributes = tuple(place[name] for name in names)
            coarse = block.channel.coarse
            if coarse is not None:
                members = tuple(coarse.members(k) for k in range(len(names)))
                inner = coarse.inner
                found.append(LeafTable(attributes, inner.forward, counted, members, inner.inverse))
            else:
                found.append(BlockTable(attributes, lens_on(block, names).forward, counted))
        if sample.study.design.whole_blocks:
            found += [BlockTable(*each) for each in tables_apart(sample, place)]
        elif len(sample.study.design.blocks) > 1:
            found.append(_across_blocks(sample))
    return found


def whole_blocks(tables: Sequence[CountedTable]) -> list[BlockTable]:
    """The tables of blocks of several attributes that were asked as they are."""
    blocks = (table for table in tables if isinstance(table, BlockTable))
    return [b for b in blocks if len(b.attributes) > 1 and not isinstance(b, LeafTable)]


def positive_residuals(
    tables: Sequence[CountedTable], sizes: Sequence[int]
) -> list[list[PositiveResiduals]]:
    """From independence: of whole blocks, or else of pairs of attributes; by fold."""
    found = [block.positive_residuals(sizes) for block in whole_blocks(tables)]
    if not found:
        found = [p for t in tables if isinstance(t, PairTables) for p in t.positive_residuals()]
    return [list(each) for each in zip(*found, strict=True)]


def studies_of_tables(counts: Counts) -> list[Study]:
    """The study of the sample that each of the sufficient statistics was counted in."""
    found = []
    for study in (sample.study for sample in samples_of(counts)):
        whole, blocks = study.design.whole_blocks, study.design.blocks
        across = len(units_apart(study.design)) if whole else len(blocks) > 1
        many = len(_within_blocks(study.design)) + across
        if _is_drawn_beside_public(study, counts.study):
            many = len(_parts_beside_public(study))
        found += [study] * many
    return found


def _is_drawn_beside_public(sample: Study, study: Study) -> bool:
    """Whether a sample is a block that was drawn, and public attributes that all samples hold.

    Such a sample names its attributes in the order of its blocks, even if it has them all.
    """
    return bool(sample.design.public) and sample.names != study.names


def _beside_public(sample: Counts, place: Mapping[str, int]) -> list[CountedTable]:
    """A drawn block together with what is public of its respondents, as one table."""
    block, *public = sample.study.design.blocks
    plain = prod(each.channel.outputs for each in public)
    shown = [axis for i, each in enumerate(public, 1) for axis in each.axes(i, each.names)]
    found: list[CountedTable] = []
    for names in _parts_beside_public(sample.study):
        counted = sample.table([*block.axes(0, names), *shown]).ravel().astype(np.float64)
        together = (*names, *(each.names[0] for each in public))
        forward = KroneckerProduct(lens_on(block, names).forward, identity(plain))
        found.append(BlockTable(tuple(place[name] for name in together), forward, counted))
    return found


def _parts_beside_public(sample: Study) -> list[tuple[str, ...]]:
    """What a drawn block is looked at by: all of it, or pairs of it where it is wide."""
    return [names for _, names in _within_blocks(Design(sample.design.blocks[:1]))]


def _within_blocks(design: Design) -> list[tuple[int, tuple[str, ...]]]:
    """Blocks of several attributes; a block of one only if there is no other."""
    found: list[tuple[int, tuple[str, ...]]] = []
    for i, block in enumerate(design.blocks):
        if len(block.names) == 1 and len(design.blocks) > 1:
            continue
        wide = prod(block.sizes) > SETTINGS.most_table_cells and not block.is_coarse
        found += [(i, names) for names in (combinations(block.names, 2) if wide else [block.names])]
    return found


def _across_blocks(counts: Counts) -> PairTables:
    """The tables of all pairs of attributes in different blocks, in one pass over the reports."""
    study = counts.study
    axes, owners = _axes(study.design, study.names)
    forward = tuple(
        lens_on(study.design.blocks[owner], [name]).forward
        for name, owner in zip(study.names, owners, strict=True)
    )
    met = counts.pairs(axes).astype(np.float64)
    owner_of = np.repeat(owners, [axis.size for axis in axes])
    met[owner_of[:, None] == owner_of] = 0.0
    return PairTables(forward, met)


def _axes(design: Design, names: Sequence[str]) -> tuple[list[Axis], list[int]]:
    owners = [design.holders(name)[0] for name in names]
    axes = [design.blocks[i].axes(i, [name])[0] for name, i in zip(names, owners, strict=True)]
    return axes, owners
