"""Discrete Bayesian networks as text: the interchange format BIF, as far as bnlearn writes it.

    variable rain { type discrete [ 2 ] { yes, no }; }
    variable wet { type discrete [ 2 ] { yes, no }; }
    probability ( rain ) { table 0.2, 0.8; }
    probability ( wet | rain ) { (yes) 0.9, 0.1; (no) 0.1, 0.9; }

Whatever else a text says is an error: a network read half would be another one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from castell.linear.operators import Floats
from experiments.datasets.population import DataError

# Files round to seven digits or so. More than this is no rounding.
TOLERANCE = 1e-3
_REMEDY = "take the file anew, or write it as the bnlearn repository does"
_NETWORK = re.compile(r"network\s[^{}]*\{[^{}]*\}")
_VARIABLE = re.compile(
    r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*(\d+)\s*\]\s*\{([^{}]*)\}\s*;[^{}]*\}"
)
_PROBABILITY = re.compile(r"probability\s*\(([^(){}]*)\)\s*\{([^{}]*)\}")
_ROW = re.compile(r"(?:table\s|\(([^()]*)\))(.*)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Node:
    """A variable, and its distribution given its parents: their axes first, its own the last."""

    name: str
    values: tuple[str, ...]
    parents: tuple[str, ...]
    table: Floats


def read(text: str) -> tuple[Node, ...]:
    """The nodes of a network, parents before their children."""
    rest = _PROBABILITY.sub("", _VARIABLE.sub("", _NETWORK.sub("", text))).strip()
    if rest:
        raise DataError(f"a network's text is not understood at {rest[:40]!r}", _REMEDY)
    values = _values(text)
    nodes: dict[str, Node] = {}
    for head, body in _PROBABILITY.findall(text):
        name, _, given = head.partition("|")
        node = _node(name.strip(), _words(given), body, values)
        if node.name in nodes:
            raise DataError(f"{node.name!r} has two distributions", _REMEDY)
        nodes[node.name] = node
    for name in values:
        if name not in nodes:
            raise DataError(f"{name!r} has no distribution", _REMEDY)
    return _parents_first(nodes)


def _words(listed: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in listed.split(",")) if listed.strip() else ()


def _values(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, count, listed in _VARIABLE.findall(text):
        values = _words(listed)
        if name in found:
            raise DataError(f"there are two variables {name!r}", _REMEDY)
        if len(values) != int(count) or len(set(values)) < len(values):
            raise DataError(f"{name!r} does not list {count} different values", _REMEDY)
        found[name] = values
    if not found:
        raise DataError("a network has no variables", _REMEDY)
    return found


def _node(
    name: str, parents: tuple[str, ...], body: str, values: Mapping[str, tuple[str, ...]]
) -> Node:
    for known in (name, *parents):
        if known not in values:
            raise DataError(f"a distribution is of {known!r}, which is no variable", _REMEDY)
    shape = tuple(len(values[n]) for n in (*parents, name))
    table = np.full(shape, np.nan)
    for statement in filter(None, map(str.strip, body.split(";"))):
        if statement.startswith("property"):
            continue
        row = _ROW.fullmatch(statement)
        if row is None:
            raise DataError(f"a row of {name!r} is not understood: {statement[:40]!r}", _REMEDY)
        place = _place(name, parents, _words(row[1] or ""), values)
        if not np.isnan(table[place]).all():
            raise DataError(f"{name!r} has the same row twice", _REMEDY)
        table[place] = _numbers(name, _words(row[2]), shape[-1])
    if np.isnan(table).any():
        raise DataError(f"{name!r} lacks a row for some values of its parents", _REMEDY)
    return Node(name, values[name], parents, table)


def _place(
    name: str,
    parents: Sequence[str],
    given: Sequence[str],
    values: Mapping[str, tuple[str, ...]],
) -> tuple[int, ...]:
    """Where in the table a row belongs. `table` gives no values: it is for nodes without parents,
    as the order in which it would list them is told differently from program to program.
    """
    if len(given) != len(parents):
        raise DataError(
            f"a row of {name!r} gives {len(given)} of its {len(parents)} parents",
            "write one row for each combination of values, as in (yes, no) 0.1, 0.9;",
        )
    for parent, value in zip(parents, given, strict=True):
        if value not in values[parent]:
            raise DataError(f"{value!r} in a row of {name!r} is no value of {parent!r}", _REMEDY)
    return tuple(values[p].index(v) for p, v in zip(parents, given, strict=True))


def _numbers(name: str, words: Sequence[str], count: int) -> Floats:
    """A distribution; what rounding in the file left over is shared out."""
    try:
        row = np.array([float(word) for word in words])
    except ValueError:
        raise DataError(f"a row of {name!r} holds what is no number", _REMEDY) from None
    if len(row) != count:
        raise DataError(f"a row of {name!r} has {len(row)} numbers for {count} values", _REMEDY)
    if not (row >= 0).all() or not abs(row.sum() - 1.0) <= TOLERANCE:
        raise DataError(f"a row of {name!r} is no distribution: it sums to {row.sum():g}", _REMEDY)
    return np.asarray(row / row.sum())


def _parents_first(nodes: Mapping[str, Node]) -> tuple[Node, ...]:
    done: dict[str, Node] = {}
    while len(done) < len(nodes):
        ready = [
            node
            for node in nodes.values()
            if node.name not in done and all(parent in done for parent in node.parents)
        ]
        if not ready:
            raise DataError("the variables of a network depend on each other in a circle", _REMEDY)
        done |= {node.name: node for node in ready}
    return tuple(done.values())
