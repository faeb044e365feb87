"""Domains that are too fine: what merged rare values and coarser bins would gain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats
from castell.planning.population import Population
from castell.study.schema import Attribute, Schema

Codes = NDArray[np.intp]

# Values rarer than this are offered to be merged.
RARE = 0.05
# Attributes with fewer values are as coarse as they can be.
FEWEST = 5
# A smaller gain is not worth a question that tells less.
WORTH = 0.05
# Attributes that are looked at, those with most values first.
MOST = 6


@dataclass(frozen=True)
class Coarser:
    """An attribute with fewer values: the half-width of what is wanted before and after."""

    name: str
    groups: tuple[tuple[str, ...], ...]
    how: str
    before: float
    after: float

    @property
    def gain(self) -> float:
        return 1.0 - self.after / self.before

    @property
    def put_together(self) -> tuple[tuple[str, ...], ...]:
        """The values that are put together."""
        return tuple(group for group in self.groups if len(group) > 1)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "how": self.how,
            "values": [list(group) for group in self.groups],
            "half_width_before": self.before,
            "half_width_after": self.after,
        }


@dataclass(frozen=True, eq=False)
class Merged:
    """A population whose answers to one question are put together in groups."""

    of: Population
    name: str
    groups: Sequence[Codes]
    schema: Schema

    @property
    def known(self) -> bool:
        return self.of.known

    @property
    def people(self) -> float:
        return self.of.people

    def table(self, names: Sequence[str]) -> Floats:
        table = self.of.table(names)
        if self.name not in names:
            return table
        axis = list(names).index(self.name)
        parts = [table.take(group, axis=axis).sum(axis=axis) for group in self.groups]
        return np.stack(parts, axis=axis)

    def sample(self, n: int, generator: np.random.Generator) -> dict[str, Codes]:
        codes = dict(self.of.sample(n, generator))
        new = np.empty(sum(len(group) for group in self.groups), dtype=np.intp)
        for k, group in enumerate(self.groups):
            new[group] = k
        codes[self.name] = new[codes[self.name]]
        return codes


def merge(population: Population, name: str, groups: Sequence[Codes]) -> Merged:
    """The population, and the schema, with some values of one attribute put together."""
    schema = population.schema
    old = schema[name]
    values = [" or ".join(old.values[code] for code in group) for group in groups]
    attributes = [Attribute(name, values, old.question) if a.name == name else a for a in schema]
    return Merged(population, name, groups, Schema(attributes))


def proposals(population: Population, name: str) -> list[tuple[str, list[Codes]]]:
    """Ways to put values of an attribute together; not those beside them, as a refusal is."""
    margin = population.table([name])
    size = len(margin) - population.schema[name].beside
    if size < FEWEST:
        return []
    beside = [np.array([code]) for code in range(size, len(margin))]
    found = []
    rare = np.flatnonzero(margin[:size] < RARE)
    if population.known and 2 <= len(rare) < size:
        kept = [np.array([code]) for code in range(size) if code not in set(rare.tolist())]
        found.append(("rare values merged", [*kept, rare, *beside]))
    halves = [np.arange(k, min(k + 2, size)) for k in range(0, size, 2)]
    found.append(("neighbours merged", [*halves, *beside]))
    return found


def coarser(
    population: Population,
    names: Sequence[str],
    before: Mapping[str, float],
    error: Callable[[Merged], float],
) -> tuple[Coarser, ...]:
    """Proposals that shorten intervals of what is wanted by a twentieth or more, the best first.

    `before` is what the tables with an attribute have, `error` what they have afterwards.
    """
    schema = population.schema
    widest = sorted(names, key=lambda name: -schema[name].size)[:MOST]
    found = []
    for name in widest if not schema.impossible else ():
        for how, groups in proposals(population, name):
            after = error(merge(population, name, groups))
            values = tuple(tuple(schema[name].values[c] for c in group) for group in groups)
            found.append(Coarser(name, values, how, before[name], after))
    worth = [each for each in found if each.gain >= WORTH]
    return tuple(sorted(worth, key=lambda each: -each.gain)[:3])
