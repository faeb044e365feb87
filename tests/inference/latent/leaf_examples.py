"""Blocks that ask coarsely, small enough to write all combinations of answers out."""

from __future__ import annotations

import numpy as np

from castell.channels import CyclicResponse, KaryResponse, MatrixResponse, PartitionResponse
from castell.channels.difference_sets import singer
from castell.channels.partition import Box, Inner
from castell.inference.latent.sufficient_statistics import LeafTable
from castell.linear.operators import Floats

SIZES = (2, 3, 4)
MARGINS = (np.array([0.3, 0.7]), np.array([0.1, 0.3, 0.6]), np.array([0.4, 0.3, 0.2, 0.1]))
# Boxes over all three, and a grid over the last two in another order.
TREE: tuple[Box, ...] = (
    *(((0,), (b,), c) for b in range(3) for c in ((0, 1), (2, 3))),
    *(((1,), b, c) for b in ((0, 1), (2,)) for c in ((0,), (1,), (2, 3))),
)
INNERS: dict[str, Inner] = {
    "kary": KaryResponse.with_epsilon(12, 2.0),
    "cyclic": CyclicResponse.with_epsilon(12, 13, singer(3, 2), 1.0),
    "matrix": MatrixResponse(
        [[200 - 11 * x if x == y else x for y in range(1, 13)] for x in range(1, 13)]
    ),
}


def leaf_table(channel: PartitionResponse, places: tuple[int, ...], counts: Floats) -> LeafTable:
    members = tuple(channel.members(k) for k in range(len(places)))
    return LeafTable(places, channel.inner.forward, counts, members, channel.inner.inverse)


def tree_table(kind: str = "kary") -> LeafTable:
    channel = PartitionResponse(SIZES, TREE, INNERS[kind])
    counts = np.random.default_rng(3).integers(20, 90, channel.outputs).astype(np.float64)
    return leaf_table(channel, (0, 1, 2), counts)


def grid_table() -> LeafTable:
    boxes = tuple(PartitionResponse.grid((4, 3), ([[0], [1, 2], [3]], [[0, 1], [2]])))
    channel = PartitionResponse((4, 3), boxes, KaryResponse.with_epsilon(6, 1.0))
    return leaf_table(channel, (2, 1), np.array([30.0, 10.0, 20.0, 50.0, 40.0, 10.0]))


def leaf_functions(tables: list[LeafTable]) -> Floats:
    """The indicator of each leaf over all combinations of answers."""
    rows = []
    for table in tables:
        held = dict(zip(table.attributes, table.members, strict=True))
        for leaf in range(len(table.members[0])):
            row = np.ones(SIZES)
            for a in held:
                row *= held[a][leaf].reshape([-1 if k == a else 1 for k in range(3)])
            rows.append(row.ravel())
    return np.array(rows)


def chances_of_all() -> Floats:
    chances: Floats = np.einsum("a,b,c->abc", *MARGINS).ravel()
    return chances


def main_effects_of(function: Floats) -> Floats:
    """The mean and the main effects of a function, by summing."""
    chances, cube = chances_of_all().reshape(SIZES), function.reshape(SIZES)
    mean = (cube * chances).sum()
    found = np.full(SIZES, mean)
    for a in range(3):
        others = tuple(k for k in range(3) if k != a)
        effect = (cube * chances).sum(axis=others) / MARGINS[a] - mean
        found += effect.reshape([-1 if k == a else 1 for k in range(3)])
    return found.ravel()
