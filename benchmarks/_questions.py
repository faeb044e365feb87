"""Questions whose answers are known: whole tables, groups of values, and shares among a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats
from experiments.datasets.truth import Truth

WIDTHS = (1, 2, 3, 4)
MOST_ASKED_CELLS = 4_000
Group = dict[str, NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Asked:
    """A table, and some groups of its cells: alone, and one attribute's given the others'."""

    names: tuple[str, ...]
    truth: Floats
    groups: tuple[Group, ...]

    def share(self, group: Group) -> float:
        return float(self.truth[np.ix_(*(group[name] for name in self.names))].sum())

    def among(self, group: Group) -> float:
        """The share of the group of all but the first attribute."""
        first = self.names[0]
        whole = np.arange(self.truth.shape[0])
        return self.share({**group, first: whole})


def questions(
    truth: Truth, sets: int, groups: int, generator: np.random.Generator
) -> Iterator[Asked]:
    """Some random sets of attributes of each width, and groups of their values."""
    names = truth.schema.names
    for width in (w for w in WIDTHS if w <= len(names)):
        for _ in range(sets):
            chosen = _small_set(truth, names, width, generator)
            if chosen is not None:
                sizes = [truth.schema[name].size for name in chosen]
                yield Asked(
                    chosen,
                    truth.table(chosen),
                    tuple(
                        {n: _group(s, generator) for n, s in zip(chosen, sizes, strict=True)}
                        for _ in range(groups)
                    ),
                )


def _small_set(
    truth: Truth, names: Sequence[str], width: int, generator: np.random.Generator
) -> tuple[str, ...] | None:
    for _ in range(50):
        chosen = tuple(str(name) for name in generator.choice(names, width, replace=False))
        if prod(truth.schema[name].size for name in chosen) <= MOST_ASKED_CELLS:
            return chosen
    return None


def _group(size: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Some of the values, not all of them."""
    while True:
        inside = generator.random(size) < generator.uniform(0.2, 0.8)
        if inside.any() and not inside.all():
            return np.flatnonzero(inside)
