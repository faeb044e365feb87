"""Mixtures of products: a model of all attributes at once that answers any set of any width.

People fall into classes; within a class the attributes are independent. With enough classes that is
every distribution, with few it is a smooth one, and no table of all combinations is ever needed.
Randomising keeps the form, so a mixture is fitted to reports as they come: by expectation and
maximisation, through the channels, from the tables of whole blocks or of all pairs of attributes,
whatever the number of reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from castell.operators import Floats, Operator

# No share is ever exactly zero, or it could never be left.
LEAST = 1e-12
# How much longer the steps get while they lead upwards.
FASTER = 1.15
LONGEST = 8.0


@dataclass(frozen=True, eq=False)
class Mixture:
    """`weights` of the classes, and their `profiles`: a row for each class, the attributes' shares
    side by side, of the given sizes."""

    weights: Floats
    profiles: Floats
    sizes: tuple[int, ...]

    @cached_property
    def parts(self) -> list[Floats]:
        """The shares of each attribute's values, a row for each class."""
        return np.split(self.profiles, np.cumsum(self.sizes)[:-1], axis=1)

    def table(self, attributes: Sequence[int]) -> Floats:
        """The joint distribution of some attributes, an axis for each."""
        half = max(1, len(attributes) // 2)
        left = self.classwise(attributes[:half]) * self.weights[:, None]
        # Half of the attributes times the other half: one matrix product over the classes.
        right = self.classwise(attributes[half:])
        return (left.T @ right).reshape([self.sizes[a] for a in attributes])

    def share(self, asked: Mapping[int, NDArray[np.intp]]) -> float:
        """How many have one of the given values in each of some attributes."""
        inside = [self.parts[a][:, codes].sum(axis=1) for a, codes in asked.items()]
        return float(self.weights @ np.prod(inside, axis=0))

    def sample(self, people: int, generator: np.random.Generator) -> list[NDArray[np.intp]]:
        """Synthetic people: the codes of each attribute."""
        chosen = generator.choice(len(self.weights), size=people, p=self.weights)
        columns = []
        for part in self.parts:
            ends = np.cumsum(part, axis=1)[:, :-1]
            drawn = generator.random(people)
            columns.append((drawn[:, None] >= ends[chosen]).sum(axis=1).astype(np.intp))
        return columns

    def classwise(self, attributes: Sequence[int]) -> Floats:
        """The distribution of the combinations of some attributes in each class, in rows."""
        result = np.ones((len(self.weights), 1))
        for a in attributes:
            result = (result[:, :, None] * self.parts[a][:, None, :]).reshape(len(result), -1)
        return result


def average(mixtures: Sequence[Mixture], shares: Sequence[float] | None = None) -> Mixture:
    """The average of mixtures is a mixture of all their classes."""
    each = [1.0 / len(mixtures)] * len(mixtures) if shares is None else shares
    return Mixture(
        np.concatenate([m.weights * share for m, share in zip(mixtures, each, strict=True)]),
        np.concatenate([m.profiles for m in mixtures]),
        mixtures[0].sizes,
    )


@dataclass(frozen=True, eq=False)
class Expected:
    """How many people of each class, and how many of these with each value, given the reports."""

    classes: Floats
    values: Floats
    log: float  # the likelihood of the reports


class Evidence(Protocol):
    """Reports that say something about a mixture."""

    @property
    def counts(self) -> Floats: ...

    def counting(self, counts: Floats) -> Evidence:
        """The same kind of reports, with other counts."""
        ...

    def expect(self, mixture: Mixture) -> Expected:
        """The share of each class in each report, added up, and the reports' likelihood."""
        ...


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

    def expect(self, mixture: Mixture) -> Expected:
        joint = mixture.classwise(self.attributes)
        joint *= mixture.weights[:, None]
        seen = self.forward.turn(joint.sum(axis=0)[:, None])[0]
        ratio = self.counts / np.maximum(seen, 1e-300)
        joint *= self._backward.turn(ratio[:, None])[0]
        values = np.zeros_like(mixture.profiles)
        sizes = [mixture.sizes[a] for a in self.attributes]
        starts = np.cumsum((0, *mixture.sizes))
        cells = joint.reshape(-1, *sizes)
        for i, a in enumerate(self.attributes):
            others = tuple(k + 1 for k in range(len(sizes)) if k != i)
            values[:, starts[a] : starts[a + 1]] = cells.sum(axis=others)
        log = float(self.counts @ np.log(np.maximum(seen, 1e-300)))
        return Expected(joint.sum(axis=1), values, log)


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
    def _backward(self) -> list[Operator]:
        return [operator.transpose() for operator in self.forward]

    def expect(self, mixture: Mixture) -> Expected:
        shown = np.concatenate(
            [f.turn(part.T) for f, part in zip(self.forward, mixture.parts, strict=True)], axis=1
        )
        weighted = shown * mixture.weights[:, None]
        seen = np.maximum(shown.T @ weighted, 1e-300)
        blame = (self.counts / seen) @ weighted.T
        ends = np.cumsum([f.rows for f in self.forward])[:-1]
        back = np.concatenate(
            [b.turn(part) for b, part in zip(self._backward, np.split(blame, ends), strict=True)],
            axis=1,
        )
        values = mixture.profiles * back
        # Every pair stands in the matrix twice.
        log = 0.5 * float((self.counts * np.log(seen)).sum())
        return Expected(0.5 * values.sum(axis=1), values, log)


def likelihood(mixture: Mixture, evidence: Sequence[Evidence]) -> float:
    return sum(e.expect(mixture).log for e in evidence)


def _step(mixture: Mixture, evidence: Sequence[Evidence]) -> tuple[Mixture, float]:
    """The next mixture, and how likely the reports are under this one."""
    found = [e.expect(mixture) for e in evidence]
    classes = np.sum([f.classes for f in found], axis=0)
    values = np.sum([f.values for f in found], axis=0) + LEAST
    next_one = _mixture(classes + LEAST, values, mixture.sizes)
    return next_one, sum(f.log for f in found)


def _mixture(weights: Floats, profiles: Floats, sizes: tuple[int, ...]) -> Mixture:
    """Weights and profiles made to sum to one."""
    starts = np.cumsum((0, *sizes[:-1]))
    sums = np.add.reduceat(profiles, starts, axis=1)
    return Mixture(weights / weights.sum(), profiles / np.repeat(sums, sizes, axis=1), sizes)


class Climb:
    """Expectation and maximisation with strides that lengthen while they lead upwards.

    Plain EM crawls where noise is large. Its steps are stretched, in logarithms so that shares stay
    positive, until one leads downwards; that one is taken back and the next is a plain one, which
    never does.
    """

    def __init__(self, start: Mixture, evidence: Sequence[Evidence]) -> None:
        self.evidence = evidence
        self.mixture = start
        self.log = -np.inf
        self._safe: Mixture | None = None
        self._stride = 1.0

    def step(self) -> float:
        """One step; returns how much likelier the reports became by the one before."""
        plain, log = _step(self.mixture, self.evidence)
        if log < self.log and self._safe is not None:
            self.mixture, self._stride, self._safe = self._safe, 1.0, None
            plain, log = _step(self.mixture, self.evidence)
        gained = log - self.log
        self.log, self._safe = log, plain
        self.mixture = _stretched(self.mixture, plain, self._stride)
        self._stride = min(self._stride * FASTER, LONGEST)
        return gained


def _stretched(old: Mixture, new: Mixture, stride: float) -> Mixture:
    if stride == 1.0:
        return new
    weights = new.weights * (new.weights / old.weights) ** (stride - 1.0)
    ratio = np.clip(new.profiles / np.maximum(old.profiles, LEAST), 1e-3, 1e3)
    profiles = np.maximum(new.profiles, LEAST) * ratio ** (stride - 1.0)
    return _mixture(np.maximum(weights, LEAST), np.maximum(profiles, LEAST), old.sizes)


def scattered(
    margins: Sequence[Floats], classes: int, scatter: float, generator: np.random.Generator
) -> Mixture:
    """A start: classes that differ by chance and have the given margins together."""
    sizes = tuple(len(margin) for margin in margins)
    wanted = np.maximum(np.concatenate(list(margins)), 1e-6)
    profiles = wanted * np.exp(scatter * generator.standard_normal((classes, sum(sizes))))
    for _ in range(20):
        start = _mixture(np.ones(classes), profiles, sizes)
        profiles = start.profiles * (wanted / start.profiles.mean(axis=0))
    return start
