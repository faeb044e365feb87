"""What reports say about a mixture: tables of blocks, and of all pairs of attributes.

Given a mixture, each report says a little of which class its respondent is in and which answers
they gave. Added up over all reports, that is all that a step of fitting needs; from tables, however
many reports they count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from castell.inference.latent.mixture import Mixture
from castell.linear.operators import Floats, Operator


@dataclass(frozen=True, eq=False)
class Expected:
    """How many people of each class, and how many of these with each value, given the reports."""

    classes: Floats
    values: Floats
    log: float  # the likelihood of the reports


class Evidence(Protocol):
    """Reports that say something about a mixture."""

    def expect(self, mixture: Mixture) -> Expected:
        """The share of each class in each report, added up, and the reports' likelihood."""
        ...

    def between(self, attribute: int, low: Mixture, high: Mixture, shares: Floats) -> Floats:
        """The log likelihood, up to a constant, if the chances of reports lie between those of two
        mixtures that differ in one attribute."""
        ...


class Table(Evidence, Protocol):
    """Reports that were counted."""

    @property
    def counts(self) -> Floats: ...

    def counting(self, counts: Floats) -> Table:
        """The same kind of reports, with other counts."""
        ...

    def chances(self, mixture: Mixture) -> Floats:
        """How likely each report is, as `counts` has them."""
        ...

    def log(self, chances: Floats) -> float:
        """How likely all that were counted are, if each is as likely as given."""
        ...


def logs(chances: Floats) -> Floats:
    return np.log(np.maximum(chances, 1e-300))


def _between(counts: Floats, low: Floats, high: Floats, shares: Floats) -> Floats:
    return np.array([(counts * logs(low + share * (high - low))).sum() for share in shares])


@dataclass(frozen=True, eq=False)
class BlockEvidence:
    """The reports of one block: some attributes through one channel."""

    attributes: tuple[int, ...]
    forward: Operator
    counts: Floats

    def counting(self, counts: Floats) -> BlockEvidence:
        return replace(self, counts=counts)

    @cached_property
    def _backward(self) -> Operator:
        return self.forward.transpose()

    def between(self, attribute: int, low: Mixture, high: Mixture, shares: Floats) -> Floats:
        if attribute not in self.attributes:
            return np.zeros(len(shares))
        return _between(self.counts, self.chances(low), self.chances(high), shares)

    def chances(self, mixture: Mixture) -> Floats:
        joint: Floats = mixture.weights @ mixture.classwise(self.attributes)
        return self._seen(joint)

    def _seen(self, joint: Floats) -> Floats:
        seen: Floats = self.forward.turn(joint[:, None])[0]
        return seen

    def log(self, chances: Floats) -> float:
        return float(self.counts @ logs(chances))

    def expect(self, mixture: Mixture) -> Expected:
        joint = mixture.classwise(self.attributes)
        joint *= mixture.weights[:, None]
        seen = self._seen(joint.sum(axis=0))
        ratio = self.counts / np.maximum(seen, 1e-300)
        joint *= self._backward.turn(ratio[:, None])[0]
        values = by_attribute(mixture, self.attributes, joint)
        return Expected(joint.sum(axis=1), values, self.log(seen))


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
class PairEvidence:
    """The tables of all pairs of attributes that are reported apart, side by side in one matrix.

    `counts` is symmetric, with nothing where an attribute would meet itself or one of its block.
    All pairs are then a few matrix products over the classes.
    """

    forward: tuple[Operator, ...]  # one for each attribute
    counts: Floats

    def counting(self, counts: Floats) -> PairEvidence:
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

    def between(self, attribute: int, low: Mixture, high: Mixture, shares: Floats) -> Floats:
        # Its pairs with the others: no other table is touched.
        ends = np.cumsum([0, *(f.rows for f in self.forward)])
        own = slice(ends[attribute], ends[attribute + 1])

        def chances(mixture: Mixture) -> Floats:
            shown = self._shown(mixture)
            return (shown[:, own] * mixture.weights[:, None]).T @ shown

        return _between(self.counts[own], chances(low), chances(high), shares)

    def chances(self, mixture: Mixture) -> Floats:
        shown = self._shown(mixture)
        return shown.T @ (shown * mixture.weights[:, None])

    def log(self, chances: Floats) -> float:
        # Every pair stands in the matrix twice.
        return 0.5 * float((self.counts * logs(chances)).sum())

    def expect(self, mixture: Mixture) -> Expected:
        shown = self._shown(mixture)
        weighted = shown * mixture.weights[:, None]
        seen = np.maximum(shown.T @ weighted, 1e-300)
        blame = (weighted @ (self.counts / seen)) @ self._whole
        values = mixture.profiles * blame
        return Expected(0.5 * values.sum(axis=1), values, self.log(seen))


def likelihood(mixture: Mixture, evidence: Sequence[Table]) -> float:
    """The log likelihood of counted reports."""
    return sum(e.log(e.chances(mixture)) for e in evidence)
