"""A mixture of products on the combinations that can occur: structural zeros.

A mixture gives every combination some chance. Where a schema declares combinations impossible, with
m(x) = 1 for what is possible and else 0, its answers come from

    P(x) = q(x) m(x) prod_a u_a(x_a) / Z,

q being the mixture and u_a such that P has about q's margins of single attributes, t_a. It is the
distribution on what is possible that minimises

    KL(P | q) + lambda sum_a KL(P_a | t_a).

The margins are kept because they are what reports tell best: cutting the impossible off and scaling
what is left up would move them by what the mixture had put there. Not exactly, because estimated
margins may contradict the rules by noise: with a rule "no husband is female" there are no more
husbands than men, and an estimate may say so all the same. For a mixture of one class and a large
lambda that is quasi-independence. u is found by raking, u_a <- (t_a / K_a)^(lambda / (1 + lambda))
with K_a the margin without u_a, in cycles (Chizat et al. 2018), and goes into the classes: q(x)
prod_a u_a(x_a) is a mixture too.

Within a class attributes are independent, so the chance of being possible is a product over the
connected components of attributes that rules name together, each summed attribute by attribute.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from castell.inference.latent.mixture import Mixture
from castell.inference.latent.settings import SETTINGS
from castell.linear.elimination import (
    Eliminated,
    Factor,
    eliminate,
    elimination_order,
    multiply,
)
from castell.linear.operators import Floats
from castell.study.schema import Schema
from castell.study.structural_zeros import StructuralZeros


class Answers(Protocol):
    """What a model of all attributes answers; attributes by their places in the schema."""

    def table(self, attributes: Sequence[int]) -> Floats: ...

    def independent_table(self, attributes: Sequence[int]) -> Floats: ...

    def share(self, asked: Mapping[int, NDArray[np.intp]]) -> float: ...

    def sample(self, people: int, generator: np.random.Generator) -> list[NDArray[np.intp]]: ...


def restrict(mixture: Mixture, schema: Schema) -> Answers:
    """The mixture's answers, with nobody in what the schema declares impossible."""
    if not schema.impossible.rules:
        return mixture
    names, zeros = schema.names, schema.impossible
    return RestrictedMixture(_rake(mixture, names, zeros), names, zeros)


@dataclass(frozen=True, eq=False)
class RestrictedMixture:
    """A mixture, conditional on combinations that can occur."""

    mixture: Mixture
    names: tuple[str, ...]
    zeros: StructuralZeros

    @cached_property
    def allowed(self) -> tuple[Floats, ...]:
        """The chance of being possible in each class, for each component of the rules."""
        return tuple(self._sum_out(component).total() for component in self.zeros.components)

    @cached_property
    def weights(self) -> Floats:
        """Of the classes, among those who are possible; they sum to the share Z of these."""
        return np.asarray(self.mixture.weights * prod(self.allowed))

    def table(self, attributes: Sequence[int]) -> Floats:
        """The joint distribution of some attributes, an axis for each."""
        asked = tuple(self.names[a] for a in attributes)
        sizes = [self.mixture.sizes[a] for a in attributes]
        outside = [c for c in self.zeros.components if not c & set(asked)]
        weights = self.mixture.weights * prod(
            allowed
            for component, allowed in zip(self.zeros.components, self.allowed, strict=True)
            if component in outside
        )
        table: Floats = np.zeros(1)
        order: tuple[str, ...] = ()
        for some in self._classes(prod(sizes)):
            left, right = _halves(self._factors(asked, some))
            order = left.names + right.names
            one = left.values.reshape(len(left.values), -1) * weights[some, None]
            two = right.values.reshape(len(right.values), -1)
            table = table + (one.T @ two)
        table = table.reshape([sizes[asked.index(name)] for name in order])
        table = table.transpose([order.index(name) for name in asked])
        # Rules among the attributes asked for are the same in every class.
        inside = [f for f in self.zeros.factors if set(f.names) <= set(asked)]
        table = table * multiply(inside, asked)[0]
        return np.asarray(table / table.sum())

    def independent_table(self, attributes: Sequence[int]) -> Floats:
        """The same margins, but independent as far as that is possible."""
        return self._independent.table(attributes)

    @cached_property
    def _independent(self) -> RestrictedMixture:
        each = [self.table([a]) for a in range(len(self.names))]
        plain = Mixture(np.ones(1), np.concatenate(each)[None, :], self.mixture.sizes)
        return RestrictedMixture(_rake(plain, self.names, self.zeros), self.names, self.zeros)

    def share(self, asked: Mapping[int, NDArray[np.intp]]) -> float:
        """How many have one of the given values in each of some attributes."""
        groups = {self.names[a]: codes for a, codes in asked.items()}
        inside: Floats = self.mixture.weights
        for component, allowed in zip(self.zeros.components, self.allowed, strict=True):
            met = {name: codes for name, codes in groups.items() if name in component}
            inside = inside * (self._sum_out(component, met).total() if met else allowed)
        for a, codes in asked.items():
            if self.names[a] not in self.zeros.size_of:
                inside = inside * self.mixture.parts[a][:, codes].sum(axis=1)
        return float(inside.sum() / self.weights.sum())

    def sample(self, people: int, generator: np.random.Generator) -> list[NDArray[np.intp]]:
        """Synthetic people: the codes of each attribute, none of them impossible."""
        weights = self.weights / self.weights.sum()
        chosen = generator.choice(len(weights), size=people, p=weights)
        sampled: dict[str, NDArray[np.intp]] = {}
        for component in self.zeros.components:
            # The last one summed out depends on nothing but the class, the one before on it.
            for step in reversed(self._sum_out(component).steps):
                *others, name = step.names
                rows = step.values[(chosen, *(sampled[other] for other in others))]
                sampled[name] = _sample_codes(rows, generator)
        for a, name in enumerate(self.names):
            if name not in sampled:
                sampled[name] = _sample_codes(self.mixture.parts[a][chosen], generator)
        return [sampled[name] for name in self.names]

    def _sum_out(
        self, component: Collection[str], groups: Mapping[str, NDArray[np.intp]] | None = None
    ) -> Eliminated:
        """All attributes of a component summed out, as far as they are in some groups."""
        factors = [f for f in self.zeros.factors if set(f.names) <= set(component)]
        order, _ = elimination_order([f.names for f in factors], self.zeros.size_of)
        for name in order:
            part = self.mixture.parts[self.names.index(name)]
            if groups and name in groups:
                inside = np.zeros(part.shape[1])
                inside[groups[name]] = 1.0
                part = part * inside
            factors.append(Factor((name,), part))
        return eliminate(factors, order)

    def _factors(self, asked: Sequence[str], some: slice) -> list[Factor]:
        """What classes give the attributes asked for, those connected to them summed out.

        Rules wholly among the attributes asked for are left out.
        """
        met = [component for component in self.zeros.components if component & set(asked)]
        connected = frozenset[str]().union(*met)
        rules = [
            factor
            for factor in self.zeros.factors
            if set(factor.names) <= connected and not set(factor.names) <= set(asked)
        ]
        involved = [*dict.fromkeys([*asked, *sorted(name for f in rules for name in f.names)])]
        each = [
            Factor((name,), self.mixture.parts[self.names.index(name)][some]) for name in involved
        ]
        order, _ = elimination_order([f.names for f in rules], self.zeros.size_of, asked)
        return list(eliminate([*each, *rules], order).left)

    def _classes(self, cells: int) -> Iterator[slice]:
        """The classes, so many at a time that their tables fit in memory."""
        many = len(self.mixture.weights)
        step = max(1, SETTINGS.most_numbers // max(cells, 1))
        return (slice(start, start + step) for start in range(0, many, step))


def _halves(factors: Sequence[Factor]) -> tuple[Factor, Factor]:
    """Factors multiplied into two, of about the same size, that have no name in common.

    Half of a table times the other half is one matrix product over the classes.
    """
    groups: list[list[Factor]] = []
    for factor in factors:
        met = [g for g in groups if any(set(factor.names) & set(f.names) for f in g)]
        groups = [g for g in groups if g not in met]
        groups.append([factor, *(f for g in met for f in g)])
    joined = []
    for group in groups:
        names = tuple(sorted({name for factor in group for name in factor.names}))
        joined.append(Factor(names, multiply(group, names)))
    joined.sort(key=lambda factor: (-factor.values[0].size, factor.names))
    sides: tuple[list[Factor], list[Factor]] = [], []
    for factor in joined:
        min(sides, key=lambda side: prod(f.values[0].size for f in side)).append(factor)
    cases = max(len(factor.values) for factor in joined)
    return _multiply_factors(sides[0], cases), _multiply_factors(sides[1], cases)


def _multiply_factors(factors: Sequence[Factor], cases: int) -> Factor:
    names = tuple(name for factor in factors for name in factor.names)
    values = multiply(factors, names)
    return Factor(names, np.broadcast_to(values, (cases, *values.shape[1:])))


def _sample_codes(rows: Floats, generator: np.random.Generator) -> NDArray[np.intp]:
    """A code from each row of chances, which need not sum to one; never one without a chance."""
    ends = np.cumsum(rows, axis=1)
    # Below the last end even if rounded, so that a code without a chance at the end is not taken.
    most = np.nextafter(ends[:, -1], 0.0)
    uniform = np.minimum(generator.random(len(rows)) * ends[:, -1], most)
    return np.asarray((uniform[:, None] >= ends[:, :-1]).sum(axis=1), dtype=np.intp)


def _rake(mixture: Mixture, names: tuple[str, ...], zeros: StructuralZeros) -> Mixture:
    """The mixture tilted until it has about its own margins, conditional on what is possible."""
    wanted = [np.maximum(mixture.weights @ part, SETTINGS.least_share) for part in mixture.parts]
    tilts = [np.ones(size) for size in mixture.sizes]
    for _ in range(SETTINGS.most_raking_sweeps):
        furthest = 0.0
        for a in range(len(names)):
            have = np.maximum(
                RestrictedMixture(mixture, names, zeros).table([a]), SETTINGS.least_share
            )
            tilt = (wanted[a] * tilts[a] / have) ** SETTINGS.margin_pull
            by = tilt / tilts[a]
            moved = have * by / (have @ by)
            furthest = max(furthest, float(np.abs(moved - have).max()))
            mixture, tilts[a] = _tilt(mixture, a, by), tilt
        if furthest < SETTINGS.raking_tolerance:
            break
    return mixture


def _tilt(mixture: Mixture, attribute: int, by: Floats) -> Mixture:
    """A mixture times a function of one attribute, made to sum to one."""
    parts = list(mixture.parts)
    tilted = np.maximum(parts[attribute] * by, SETTINGS.least_share)
    sums = tilted.sum(axis=1)
    parts[attribute] = tilted / sums[:, None]
    weights = mixture.weights * sums
    return Mixture(weights / weights.sum(), np.concatenate(parts, axis=1), mixture.sizes)
