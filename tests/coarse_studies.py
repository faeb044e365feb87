"""Studies that ask coarsely, and draw blocks with unequal weights."""

from __future__ import annotations

from castell import KaryResponse, MatrixResponse, Schema, Study
from castell.channels import Channel, CyclicResponse, PartitionResponse
from castell.channels.difference_sets import singer
from castell.study.design import Block, Design

# Every combination of 2 x 3 x 4 values once: what splitting the heaviest box again and again gives.
BOXES = (
    ((0,), (0,), (0, 1, 2, 3)),
    ((0,), (1, 2), (0,)),
    ((0,), (1, 2), (1, 2, 3)),
    ((1,), (0, 1, 2), (0, 2)),
    ((1,), (0, 2), (1, 3)),
    ((1,), (1,), (1,)),
    ((1,), (1,), (3,)),
)
LEAVES = PartitionResponse((2, 3, 4), BOXES, KaryResponse(7, 30, 4))
ON_A_CIRCLE = PartitionResponse((2, 3, 4), BOXES, CyclicResponse(7, 13, singer(3, 3), 11, 2))
MERGED = PartitionResponse((4,), (((0, 3),), ((1, 2),)), MatrixResponse([[8, 2, 1], [1, 3, 7]]))
GRID = PartitionResponse(
    (3, 4),
    tuple(PartitionResponse.grid((3, 4), ([[0], [1, 2]], [[0, 3], [1], [2]]))),
    KaryResponse(6, 41, 8),
)


def drawn(schema: Schema, weights: tuple[int, ...], *blocks: tuple[str, Channel]) -> Study:
    """A study of blocks that are drawn; each names its attributes by their places, as in "02"."""
    made = []
    for places, channel in blocks:
        names = tuple(schema.names[int(place)] for place in places)
        made.append(Block(names, tuple(schema[name].size for name in names), channel))
    return Study(schema, design=Design(tuple(made), True, weights))


def coarse_studies(schema: Schema) -> dict[str, Study]:
    """Of a schema of 2, 3 and 4 values."""
    sizes = tuple(attribute.size for attribute in schema)
    pair, one = KaryResponse(6, 40, 8), KaryResponse(4, 9, 2)
    return {
        "boxes": Study(schema, design=Design((Block(schema.names, sizes, LEAVES),))),
        "boxes, drawn from one": drawn(schema, (), ("012", LEAVES)),
        "three to one": drawn(schema, (3, 1), ("012", LEAVES), ("01", pair)),
        "fine, unequal": drawn(schema, (2, 5), ("01", pair), ("2", one)),
        "all kinds": drawn(
            schema, (20, 15, 4, 1), ("012", ON_A_CIRCLE), ("12", GRID), ("2", MERGED), ("01", pair)
        ),
        "twice the same questions": drawn(schema, (1, 2), ("012", LEAVES), ("012", ON_A_CIRCLE)),
        "rarely": drawn(schema, (2**53 - 9, 9), ("01", pair), ("12", GRID)),
    }
