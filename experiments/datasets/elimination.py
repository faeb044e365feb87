"""Joint distributions of a few variables of a Bayesian network, exact: the others are summed out.

Only the ancestors of what is asked count. They go one at a time, first the one whose product with
all it appears with is the smallest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from castell.linear.operators import Floats
from experiments.datasets.bif import Node

Factor = tuple[tuple[str, ...], Floats]


def ancestors(nodes: Sequence[Node], names: Iterable[str]) -> tuple[Node, ...]:
    """Those named and all they depend on, in the order of the nodes: parents come first."""
    wanted = set(names)
    for node in reversed(nodes):
        if node.name in wanted:
            wanted.update(node.parents)
    return tuple(node for node in nodes if node.name in wanted)


def joint(nodes: Sequence[Node], names: Sequence[str]) -> Floats:
    """The joint distribution of the named variables, an axis for each in the order asked."""
    used = ancestors(nodes, names)
    size = {node.name: len(node.values) for node in used}
    factors: list[Factor] = [((*node.parents, node.name), node.table) for node in used]
    hidden = [name for name in size if name not in names]
    while hidden:
        out = min(hidden, key=lambda name: _cells(factors, name, size))
        hidden.remove(out)
        holding = [factor for factor in factors if out in factor[0]]
        left = tuple(name for name in _scope(holding) if name != out)
        factors = [factor for factor in factors if out not in factor[0]]
        factors.append((left, _product(holding, left)))
    return _product(factors, tuple(names))


def _scope(factors: Iterable[Factor]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for scope, _ in factors for name in scope))


def _cells(factors: Iterable[Factor], name: str, size: dict[str, int]) -> int:
    return prod(size[other] for other in _scope(f for f in factors if name in f[0]))


def _product(factors: Sequence[Factor], left: tuple[str, ...]) -> Floats:
    """The factors multiplied, and summed over all variables that are not left."""
    axis = {name: k for k, name in enumerate(_scope(factors))}
    operands: list[Any] = []
    for scope, table in factors:
        operands += [table, [axis[name] for name in scope]]
    return np.asarray(np.einsum(*operands, [axis[name] for name in left], optimize="greedy"))
