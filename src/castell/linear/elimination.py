"""Sums of products of small tables that overlap, without the table of all their names.

Names are summed out one after the other: the tables that hold a name are multiplied, and the
product summed over it (variable elimination). It is large only where tables are connected
closely; the order that keeps it small is found greedily.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class Factor:
    """A table over some names, for each of several cases: the first axis, of length 1 if alike."""

    names: tuple[str, ...]
    values: Floats

    def along(self, names: Sequence[str]) -> Floats:
        """The values with axes in the order of more names, of length one where it has none."""
        order = [self.names.index(name) for name in names if name in self.names]
        sizes = dict(zip(self.names, self.values.shape[1:], strict=True))
        turned = self.values.transpose([0, *(place + 1 for place in order)])
        return turned.reshape([len(turned), *(sizes.get(name, 1) for name in names)])


@dataclass(frozen=True, eq=False)
class Eliminated:
    """What is left of a product after some names were summed out.

    `steps` are the products just before each sum, its name the last: given the names before it
    they are, up to a factor, the conditional distribution of that name.
    """

    left: tuple[Factor, ...]
    steps: tuple[Factor, ...]

    def total(self) -> Floats:
        """The sum over everything, for each case; of use where no name is left."""
        return multiply(self.left, ())


def multiply(factors: Iterable[Factor], names: Sequence[str]) -> Floats:
    """The product of some factors, with an axis for the cases and one for each name."""
    found: Floats = np.ones((1,) * (1 + len(names)))
    for factor in factors:
        found = found * factor.along(names)
    return found


def elimination_order(
    sets: Iterable[Collection[str]], sizes: Mapping[str, int], keep: Collection[str] = ()
) -> tuple[tuple[str, ...], int]:
    """An order in which to sum out all names but those to keep, and the largest table on the way.

    >>> star = [("a", "b"), ("a", "c"), ("a", "d")]
    >>> elimination_order(star, dict.fromkeys("abcd", 10))
    (('b', 'c', 'a', 'd'), 100)
    """
    left_sets = [frozenset(names) for names in sets]
    left = sorted(frozenset().union(*left_sets) - set(keep))
    order, largest = [], max((_cells(names, sizes) for names in left_sets), default=1)
    while left:
        joined = {
            name: frozenset().union(*(names for names in left_sets if name in names))
            for name in left
        }
        name = min(left, key=lambda one: (_cells(joined[one], sizes), one))
        largest = max(largest, _cells(joined[name], sizes))
        left_sets = [names for names in left_sets if name not in names] + [joined[name] - {name}]
        left.remove(name)
        order.append(name)
    return tuple(order), largest


def _cells(names: Iterable[str], sizes: Mapping[str, int]) -> int:
    return prod(sizes[name] for name in names)


def eliminate(
    factors: Sequence[Factor], order: Sequence[str], *, any_of: bool = False
) -> Eliminated:
    """Sum some names out of a product, in this order.

    With `any_of` the largest takes the place of the sum: of tables of 0 and 1 that is whether any
    combination of what was left out is 1.
    """
    left, steps = list(factors), []
    for name in order:
        touching = [factor for factor in left if name in factor.names]
        others = sorted({one for factor in touching for one in factor.names} - {name})
        whole = Factor((*others, name), multiply(touching, (*others, name)))
        left = [factor for factor in left if name not in factor.names]
        summed = whole.values.max(axis=-1) if any_of else whole.values.sum(axis=-1)
        left.append(Factor(tuple(others), summed))
        steps.append(whole)
    return Eliminated(tuple(left), tuple(steps))
