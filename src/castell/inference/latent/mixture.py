"""Mixtures of products: a model of all attributes at once that answers any set of any width.

People fall into classes; within a class the attributes are independent. With enough classes that is
every distribution, with few it is a smooth one, and no table of all combinations is ever needed.
Randomising keeps the form, so a mixture is fitted to reports as they come: by expectation and
maximisation, through the channels.

Fits start at random near independence, or seeded at positive residuals from it. EM finds no class
that it does not start near to. Near independence, rare answers that are associated in one block are
taken for its channel's noise: the next step makes them rarer, and they never come back, however
many reports there are. Where blocks of several attributes are asked, a start is offered that has
seen their tables: the most likely table of answers to a block less the product of its own margins.
Classes are put at combinations with a positive residual, sampled in proportion to it. Where
attributes are reported apart, and nothing else is found, the tables are those of pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import accumulate, pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from castell.inference.latent.settings import SETTINGS
from castell.linear.operators import Floats

# From answers to reports, or the transpose of that.
Channels = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Mixture:
    """`weights` of the classes, and their `profiles`: a row for each class, the attributes' shares
    side by side, of the given sizes.

    Both may have one leading axis: several mixtures of one shape, which are then fitted at once.
    Small matrix products spend their time in being called.
    """

    weights: Floats
    profiles: Floats
    sizes: tuple[int, ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the shares of each attribute begin in a profile, and where the last ones end."""
        return tuple(accumulate(self.sizes, initial=0))

    @cached_property
    def parts(self) -> list[Floats]:
        """The shares of each attribute's values, a row for each class."""
        return [self.profiles[..., a:b] for a, b in pairwise(self.starts)]

    @classmethod
    def stack(cls, mixtures: Sequence[Mixture]) -> Mixture:
        """Several as one, along a leading axis."""
        return cls(
            np.stack([mixture.weights for mixture in mixtures]),
            np.stack([mixture.profiles for mixture in mixtures]),
            mixtures[0].sizes,
        )

    def unstack(self) -> tuple[Mixture, ...]:
        """Each of several."""
        pairs = zip(self.weights, self.profiles, strict=True)
        return tuple(Mixture(weights, profiles, self.sizes) for weights, profiles in pairs)

    def cut(self, attributes: Sequence[int]) -> int:
        """Where attributes are divided so that the two parts have fewest combinations."""
        return even_cut(tuple(self.sizes[a] for a in attributes))

    def halves(self, attributes: Sequence[int]) -> tuple[Floats, Floats]:
        """The combinations of the first and of the other attributes in each class, the former
        times the weights: their product over the classes is the joint distribution."""
        cut = self.cut(attributes)
        left = self.classwise(attributes[:cut]) * self.weights[..., None]
        return left, self.classwise(attributes[cut:])

    def table(self, attributes: Sequence[int]) -> Floats:
        """The joint distribution of some attributes, an axis for each."""
        left, right = self.halves(attributes)
        joint: Floats = left.swapaxes(-1, -2) @ right
        return joint.reshape([*joint.shape[:-2], *(self.sizes[a] for a in attributes)])

    def independent_table(self, attributes: Sequence[int]) -> Floats:
        """The same margins, but independent."""
        table = np.ones(())
        for a in attributes:
            table = np.multiply.outer(table, self.weights @ self.parts[a])
        return table

    def independent(self) -> Mixture:
        """The same margins, but independent: one class."""
        margins: Floats = self.weights[..., None, :] @ self.profiles
        return Mixture(np.ones(margins.shape[:-1]), margins, self.sizes)

    def share(self, asked: Mapping[int, NDArray[np.intp]]) -> float:
        """How many have one of the given values in each of some attributes."""
        inside = [self.parts[a][:, codes].sum(axis=1) for a, codes in asked.items()]
        return float(self.weights @ np.prod(inside, axis=0))

    def extend_cells(self, before: Sequence[int], codes: NDArray[np.intp], then: int) -> Floats:
        """For some cells of some attributes, in rows: the share of each together with each value
        of one more attribute."""
        inside = np.repeat(self.weights[:, None], len(codes), axis=1)
        for a, column in zip(before, codes.T, strict=True):
            inside = inside * self.parts[a][:, column]
        return np.asarray(inside.T @ self.parts[then])

    def sample(self, people: int, generator: np.random.Generator) -> list[NDArray[np.intp]]:
        """Synthetic people: the codes of each attribute."""
        chosen = generator.choice(len(self.weights), size=people, p=self.weights)
        columns = []
        for part in self.parts:
            ends = np.cumsum(part, axis=1)[:, :-1]
            uniform = generator.random(people)
            columns.append((uniform[:, None] >= ends[chosen]).sum(axis=1).astype(np.intp))
        return columns

    def classwise(self, attributes: Sequence[int]) -> Floats:
        """The distribution of the combinations of some attributes in each class, in rows."""
        if not attributes:
            return np.ones((*self.weights.shape, 1))
        result = self.parts[attributes[0]]
        for a in attributes[1:]:
            result = result[..., :, None] * self.parts[a][..., None, :]
            result = result.reshape(*self.weights.shape, -1)
        return result


@lru_cache(maxsize=4096)
def even_cut(sizes: tuple[int, ...]) -> int:
    """Where attributes are divided so that the two parts have fewest combinations."""
    cuts = range(1, max(len(sizes), 2))
    return min(cuts, key=lambda cut: prod(sizes[:cut]) + prod(sizes[cut:]))


def average(mixtures: Sequence[Mixture], shares: Sequence[float] | None = None) -> Mixture:
    """The average of mixtures is a mixture of all their classes."""
    each = [1.0 / len(mixtures)] * len(mixtures) if shares is None else shares
    return Mixture(
        np.concatenate([m.weights * share for m, share in zip(mixtures, each, strict=True)]),
        np.concatenate([m.profiles for m in mixtures]),
        mixtures[0].sizes,
    )


def normalise(weights: Floats, profiles: Floats, sizes: tuple[int, ...]) -> Mixture:
    """Weights and profiles made to sum to one."""
    total = weights.sum(axis=-1, keepdims=True)
    return Mixture(weights / total, profiles / sums_within(profiles, sizes), sizes)


def sums_within(profiles: Floats, sizes: tuple[int, ...]) -> Floats:
    """For each value the sum over the values of its attribute."""
    owners, members = _owners(sizes)
    # A small matrix product takes less time than sums over stretches of a row.
    return np.take(profiles @ members, owners, axis=-1)


@lru_cache(maxsize=256)
def _owners(sizes: tuple[int, ...]) -> tuple[NDArray[np.intp], Floats]:
    """The attribute of each value, and the same as a matrix of 0 and 1."""
    owners = np.repeat(np.arange(len(sizes)), sizes)
    return owners, np.eye(len(sizes))[owners]


def shrink_to_margins(mixture: Mixture, shrinkage: Sequence[float] | Floats) -> Mixture:
    """The same margins, with each attribute's shares in the classes shrunk towards its margin.

    A coefficient of 1 keeps them, 0 makes the attribute independent of all others; its associations
    are proportional to it.
    """
    keep = np.repeat(shrinkage, mixture.sizes)
    profiles = keep * mixture.profiles + (1.0 - keep) * mixture.independent().profiles
    return Mixture(mixture.weights, profiles, mixture.sizes)


def shrink_margins(mixture: Mixture, margins: Sequence[Floats], share: float) -> Mixture:
    """The same classes, raked to a convex combination of their own margins and others."""
    own = mixture.weights @ mixture.profiles
    return _with_margins(mixture, (1.0 - share) * own + share * np.concatenate(list(margins)))


def _with_margins(mixture: Mixture, wanted: Floats) -> Mixture:
    """Raking (iterative proportional fitting) of the class profiles to given margins."""
    wanted = np.maximum(wanted, SETTINGS.least_share)
    for _ in range(SETTINGS.margin_sweeps):
        have = np.maximum(mixture.weights @ mixture.profiles, SETTINGS.least_share)
        profiles = np.maximum(mixture.profiles * (wanted / have), SETTINGS.least_share)
        mixture = normalise(mixture.weights, profiles, mixture.sizes)
    return mixture


# -- where fits start ------------------------------------------------------------------------------


def random_start(
    margins: Sequence[Floats], classes: int, scale: float, generator: np.random.Generator
) -> Mixture:
    """A start: classes that differ by chance and have the given margins together."""
    sizes = tuple(len(margin) for margin in margins)
    wanted = np.maximum(np.concatenate(list(margins)), SETTINGS.least_start_share)
    profiles = wanted * np.exp(scale * generator.standard_normal((classes, sum(sizes))))
    return _with_margins(normalise(np.ones(classes), profiles, sizes), wanted)


@dataclass(frozen=True, eq=False)
class PositiveResiduals:
    """Of the combinations of a block's attributes from independence: by how much each is more
    frequent than the product of the margins; and how many reported each value."""

    attributes: tuple[int, ...]
    excess: Floats  # an axis for each attribute
    margins: tuple[Floats, ...]

    @classmethod
    def of(cls, attributes: tuple[int, ...], table: Floats, n: float) -> PositiveResiduals:
        """Of a table of answers by so many."""
        axes = range(table.ndim)
        margins = [table.sum(axis=tuple(k for k in axes if k != axis)) for axis in axes]
        excess = np.maximum(table - reduce(np.multiply.outer, margins), 0.0)
        return cls(attributes, excess, tuple(n * margin for margin in margins))


def likely_answers(
    counts: Floats, shape: Sequence[int], forward: Channels, backward: Channels
) -> Floats:
    """The most likely table of answers of some shape, by the reports of each of several folds."""
    each = (len(counts), *(1 for _ in counts.shape[1:]))
    n = np.maximum(counts.reshape(len(counts), -1).sum(axis=1), 1.0).reshape(each)
    answers = np.full((len(counts), *shape), 1.0 / prod(shape))
    for _ in range(SETTINGS.block_steps):
        answers = answers * backward(counts / np.maximum(forward(answers), 1e-300)) / n
    return answers


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
