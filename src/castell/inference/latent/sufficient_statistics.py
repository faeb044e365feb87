"""Sufficient statistics of the (composite) likelihood: tables of blocks, and of all pairs.

Given a mixture, each report has responsibilities: how likely its respondent is in each class and
gave each answer. Added up over all reports they are all that an M-step needs; from tables, however
many reports these count. Where a respondent reports one block, the tables of blocks are all there
is. Where everybody reports every block, the pairs of attributes are: they hold what a mixture can
learn from much noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Protocol

import numpy as np

from castell.channels import PartitionResponse
from castell.counting import Counts, samples_of
from castell.inference.latent.mixture import Mixture
from castell.linear.operators import Floats, Operator
from castell.study.design import Axis, Design, lens_on
from castell.study.study import Study


@dataclass(frozen=True, eq=False)
class Expectation:
    """Expected numbers of people in each class, and of these with each value, given the reports."""

    classes: Floats
    values: Floats
    log_likelihood: float


class Statistics(Protocol):
    """Reports, as far as an E-step needs them."""

    def e_step(self, mixture: Mixture) -> Expectation:
        """Responsibilities added up over the reports, and the log-likelihood of the mixture."""
        ...

    def log_likelihood_between(
        self, attribute: int, low: Mixture, high: Mixture, shares: Floats
    ) -> Floats:
        """The log-likelihood, up to a constant, where the probabilities of reports are interpolated
        between those of two mixtures that differ in one attribute."""
        ...


class CountedTable(Statistics, Protocol):
    """Reports that were counted."""

    @property
    def counts(self) -> Floats: ...

    def with_counts(self, counts: Floats) -> CountedTable:
        """The same kind of reports, with other counts."""
        ...

    def report_probabilities(self, mixture: Mixture) -> Floats:
        """How likely each report is, as `counts` has them."""
        ...

    def log_likelihood(self, probabilities: Floats) -> float:
        """Of what was counted, under given probabilities of each report."""
        ...


def logs(chances: Floats) -> Floats:
    return np.log(np.maximum(chances, 1e-300))


def _log_likelihood_between(counts: Floats, low: Floats, high: Floats, shares: Floats) -> Floats:
    return np.array([(counts * logs(low + share * (high - low))).sum() for share in shares])


@dataclass(frozen=True, eq=False)
class BlockTable:
    """The reports of one block: some attributes through one channel."""

    attributes: tuple[int, ...]
    forward: Operator
    counts: Floats

    def with_counts(self, counts: Floats) -> BlockTable:
        return replace(self, counts=counts)

    @cached_property
    def _backward(self) -> Operator:
        return self.forward.transpose()

    def log_likelihood_between(
        self, attribute: int, low: Mixture, high: Mixture, shares: Floats
    ) -> Floats:
        if attribute not in self.attributes:
            return np.zeros(len(shares))
        return _log_likelihood_between(
            self.counts, self.report_probabilities(low), self.report_probabilities(high), shares
        )

    def report_probabilities(self, mixture: Mixture) -> Floats:
        joint: Floats = mixture.weights @ mixture.classwise(self.attributes)
        return self._seen(joint)

    def _seen(self, joint: Floats) -> Floats:
        seen: Floats = self.forward.turn(joint[:, None])[0]
        return seen

    def log_likelihood(self, chances: Floats) -> float:
        return float(self.counts @ logs(chances))

    def e_step(self, mixture: Mixture) -> Expectation:
        joint = mixture.classwise(self.attributes)
        joint *= mixture.weights[:, None]
        seen = self._seen(joint.sum(axis=0))
        ratio = self.counts / np.maximum(seen, 1e-300)
        joint *= self._backward.turn(ratio[:, None])[0]
        values = by_attribute(mixture, self.attributes, joint)
        return Expectation(joint.sum(axis=1), values, self.log_likelihood(seen))


def by_attribute(mixture: Mixture, attributes: Sequence[int], joint: Floats) -> Floats:
    """How many have each value, from how many have each combination, of some attributes."""
    values = np.zeros_like(mixture.profiles)
    sizes = [mixture.sizes[a] for a in attributes]
    starts = mixture.starts
    cells = joint.reshape(-1, *sizes)
    for i, a in enumerate(attributes):
        others = tuple(k + 1 for k in range(len(sizes)) if k != i)
        values[:, starts[a] : starts[a + 1]] = cells.sum(axis=others)
    return values


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
        held = zip(self.attributes, self.members, strict=True)
        return [mixture.parts[a] @ inside.T for a, inside in held]

    def report_probabilities(self, mixture: Mixture) -> Floats:
        leaves: Floats = mixture.weights @ np.prod(self._inside(mixture), axis=0)
        return self._seen(leaves)

    def e_step(self, mixture: Mixture) -> Expectation:
        inside = self._inside(mixture)
        joint = np.prod(inside, axis=0) * mixture.weights[:, None]
        seen = self._seen(joint.sum(axis=0))
        ratio = self.counts / np.maximum(seen, 1e-300)
        joint *= self._backward.turn(ratio[:, None])[0]
        values = np.zeros_like(mixture.profiles)
        starts = mixture.starts
        for a, own, members in zip(self.attributes, inside, self.members, strict=True):
            # Within a leaf and a class the values are as likely as in the class.
            share = joint / np.maximum(own, 1e-300)
            values[:, starts[a] : starts[a + 1]] = mixture.parts[a] * (share @ members)
        return Expectation(joint.sum(axis=1), values, self.log_likelihood(seen))


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

    @cached_property
    def _whole(self) -> Floats:
        """All channels at once: one product is faster than one for each attribute."""
        matrix = np.zeros((sum(f.rows for f in self.forward), sum(f.columns for f in self.forward)))
        row = column = 0
        for f in self.forward:
            matrix[row : row + f.rows, column : column + f.columns] = f.dense()
            row, column = row + f.rows, column + f.columns
        return matrix

    def _shown(self, mixture: Mixture) -> Floats:
        """How likely each report of each attribute is in each class."""
        return mixture.profiles @ self._whole.T

    def log_likelihood_between(
        self, attribute: int, low: Mixture, high: Mixture, shares: Floats
    ) -> Floats:
        # Its pairs with the others: no other table is touched.
        ends = np.cumsum([0, *(f.rows for f in self.forward)])
        own = slice(ends[attribute], ends[attribute + 1])

        def chances(mixture: Mixture) -> Floats:
            shown = self._shown(mixture)
            return (shown[:, own] * mixture.weights[:, None]).T @ shown

        return _log_likelihood_between(self.counts[own], chances(low), chances(high), shares)

    def report_probabilities(self, mixture: Mixture) -> Floats:
        shown = self._shown(mixture)
        return shown.T @ (shown * mixture.weights[:, None])

    def log_likelihood(self, chances: Floats) -> float:
        # Every pair stands in the matrix twice.
        return 0.5 * float((self.counts * logs(chances)).sum())

    def e_step(self, mixture: Mixture) -> Expectation:
        shown = self._shown(mixture)
        weighted = shown * mixture.weights[:, None]
        seen = np.maximum(shown.T @ weighted, 1e-300)
        blame = (weighted @ (self.counts / seen)) @ self._whole
        values = mixture.profiles * blame
        return Expectation(0.5 * values.sum(axis=1), values, self.log_likelihood(seen))


def composite_log_likelihood(mixture: Mixture, tables: Sequence[CountedTable]) -> float:
    """The sum over tables: composite where the same reports stand in several of them."""
    return sum(e.log_likelihood(e.report_probabilities(mixture)) for e in tables)


# Wider blocks are looked at in pairs.
MOST_CELLS = 1 << 14


def sufficient_statistics(counts: Counts) -> list[CountedTable]:
    """All that some reports say: first of each sample the tables of blocks, then of pairs."""
    place = {name: i for i, name in enumerate(counts.study.names)}
    found: list[CountedTable] = []
    for sample in samples_of(counts):
        for i, names in _within_blocks(sample.study.design):
            block = sample.study.design.blocks[i]
            counted = sample.table(block.axes(i, names)).ravel().astype(np.float64)
            attributes = tuple(place[name] for name in names)
            if isinstance(block.channel, PartitionResponse):
                members = tuple(block.channel.members(k) for k in range(len(names)))
                inner = block.channel.inner
                found.append(LeafTable(attributes, inner.forward, counted, members, inner.inverse))
            else:
                found.append(BlockTable(attributes, lens_on(block, names).forward, counted))
        if len(sample.study.design.blocks) > 1:
            found.append(_across_blocks(sample))
    return found


def studies_of_tables(counts: Counts) -> list[Study]:
    """The study of the sample that each of the sufficient statistics was counted in."""
    found = []
    for study in (sample.study for sample in samples_of(counts)):
        across = len(study.design.blocks) > 1
        found += [study] * (len(_within_blocks(study.design)) + across)
    return found


def _within_blocks(design: Design) -> list[tuple[int, tuple[str, ...]]]:
    """Blocks of several attributes; a block of one only if there is no other."""
    found: list[tuple[int, tuple[str, ...]]] = []
    for i, block in enumerate(design.blocks):
        if len(block.names) == 1 and len(design.blocks) > 1:
            continue
        wide = prod(block.sizes) > MOST_CELLS and not block.is_coarse
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
    ends = np.cumsum([0, *(axis.size for axis in axes)])
    for i, one in enumerate(owners):
        for k, two in enumerate(owners):
            if one == two:
                met[ends[i] : ends[i + 1], ends[k] : ends[k + 1]] = 0.0
    return PairTables(forward, met)


def _axes(design: Design, names: Sequence[str]) -> tuple[list[Axis], list[int]]:
    owners = [design.holders(name)[0] for name in names]
    axes = [design.blocks[i].axes(i, [name])[0] for name, i in zip(names, owners, strict=True)]
    return axes, owners
