"""Junction trees: attributes that depend on each other in overlapping groups, sampled in turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from castell.inference.bloom_filters import Shares

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Clique:
    """Attributes estimated together; `known` of them are sampled by cliques before."""

    names: tuple[str, ...]
    known: tuple[str, ...]


def cliques(names: Sequence[str], edges: Iterable[tuple[str, str]]) -> list[Clique]:
    """The maximal cliques of a graph, triangulated, in an order in which they can be sampled.

    The node whose removal adds the fewest edges goes first (least fill). The cliques left behind,
    taken in reverse, have the running intersection property: what a clique shares with all before
    it lies in one of them.

    >>> [c.names for c in cliques("abcd", [("a", "b"), ("b", "c")])]
    [('b', 'c'), ('a', 'b'), ('d',)]
    """
    near: dict[str, set[str]] = {name: set() for name in names}
    for one, two in edges:
        near[one].add(two)
        near[two].add(one)

    def fill(name: str) -> int:
        return sum(two not in near[one] for one, two in combinations(sorted(near[name]), 2))

    found: list[set[str]] = []
    left = list(names)
    while left:
        name = min(left, key=lambda n: (fill(n), len(near[n]), left.index(n)))
        clique = near[name] | {name}
        if not any(clique <= other for other in found):
            found.append(clique)
        for one, two in combinations(sorted(near[name]), 2):
            near[one].add(two)
            near[two].add(one)
        for other in near.pop(name):
            near[other].discard(name)
        left.remove(name)
    result: list[Clique] = []
    seen: set[str] = set()
    for clique in reversed(found):
        ordered = tuple(name for name in names if name in clique)
        result.append(Clique(ordered, tuple(name for name in ordered if name in seen)))
        seen |= clique
    return result


def sample(
    order: Sequence[Clique],
    tables: Sequence[Shares],
    rows: int,
    generator: np.random.Generator,
) -> Mapping[str, Codes]:
    """Rows sampled clique by clique, each given the values of the cliques before it.

    Where a clique has no share for what was sampled before, its other attributes are sampled as if
    nothing were known.
    """
    sampled: dict[str, Codes] = {}
    for clique, table in zip(order, tables, strict=True):
        known = [clique.names.index(name) for name in clique.known]
        fresh = [i for i in range(len(clique.names)) if i not in known]
        before = [sampled[name] for name in clique.known]
        picked = np.empty(rows, dtype=np.intp)
        for index, likely in _groups(before, table, known, rows):
            picked[index] = generator.choice(len(likely), len(index), p=likely)
        for i in fresh:
            sampled[clique.names[i]] = table.codes[picked, i]
    return sampled


def _groups(
    before: Sequence[Codes], table: Shares, known: Sequence[int], rows: int
) -> Iterable[tuple[Codes, NDArray[np.float64]]]:
    """Rows that agree in what is known of them, and how likely each candidate is for them."""
    if not known:
        yield np.arange(rows), table.shares / table.shares.sum()
        return
    both = np.concatenate([table.codes[:, known], np.stack(before, axis=1)])
    which = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    of_candidate, of_row = which[: len(table.codes)], which[len(table.codes) :]
    possible = np.unique(of_candidate[table.shares > 0])
    for value in possible:
        likely = np.where(of_candidate == value, table.shares, 0.0)
        yield np.flatnonzero(of_row == value), likely / likely.sum()
    yield np.flatnonzero(~np.isin(of_row, possible)), table.shares / table.shares.sum()
