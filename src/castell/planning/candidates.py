"""Blocks that the next respondents might be asked: sets of attributes, finer or coarser.

Grids are sets of attributes whose rare values are merged. Box trees start from one leaf that holds
everything; again and again the heaviest leaf is split in two: the commonest value in it of one
attribute, and the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from castell.channels import PartitionResponse, best_channel
from castell.channels.partition import MOST_ANSWERS, MOST_LEAVES, Box
from castell.study.design import Block
from castell.study.schema import Schema

Codes = NDArray[np.intp]

# Values rarer than this are merged, in each of several candidates.
RARE = (0.0, 0.02, 0.05, 0.1)
WIDEST_GRID, WIDEST_TREE = 4, 5
MOST_CODES = 64
# Where there are more sets of attributes, some of each width are tried: most of them pairs.
MOST_SETS = {1: 400, 2: 400, 3: 100, 4: 100}
TREES = 400


@dataclass(frozen=True, eq=False)
class Candidate:
    """A block by the attributes' places, its leaves, and the leaf of each synthetic person.

    Without `boxes` every combination of values is a leaf of its own.
    """

    places: tuple[int, ...]
    boxes: tuple[Box, ...] | None
    codes: Codes
    many: int

    def block(self, schema: Schema, epsilon: object) -> Block:
        attributes = [tuple(schema)[place] for place in self.places]
        sizes = tuple(attribute.size for attribute in attributes)
        inner = best_channel(self.many, epsilon)
        channel = inner if self.boxes is None else PartitionResponse(sizes, self.boxes, inner)
        return Block(tuple(attribute.name for attribute in attributes), sizes, channel)


def candidates(
    people: Sequence[Codes],
    sizes: Sequence[int],
    epsilon: float,
    generator: np.random.Generator,
    *,
    coarse: bool = True,
) -> Iterator[Candidate]:
    """All that is tried; without `coarse` what tells every combination of values apart."""
    seen: set[tuple[tuple[int, ...], tuple[Box, ...] | None]] = set()
    for found in _all(people, sizes, epsilon, generator):
        key = (found.places, found.boxes)
        if key not in seen and (coarse or found.boxes is None):
            seen.add(key)
            yield found


def _all(
    people: Sequence[Codes],
    sizes: Sequence[int],
    epsilon: float,
    generator: np.random.Generator,
) -> Iterator[Candidate]:
    for places in _sets(len(sizes), generator):
        for rare in RARE:
            found = _grid(people, sizes, places, rare)
            if found is not None:
                yield found
    if len(sizes) < 2:
        return
    # About as many leaves as k-ary response can tell; fewer where it cannot.
    leaves = (16, 24, 32, 48) if epsilon >= 3.0 else (4, 6, 8, 12, 16, 24)
    for k in range(TREES):
        width = int(generator.integers(2, min(WIDEST_TREE, len(sizes)) + 1))
        places = tuple(sorted(generator.choice(len(sizes), width, replace=False).tolist()))
        if math.prod(sizes[place] for place in places) <= MOST_ANSWERS:
            many = int(generator.choice(leaves))
            found = _tree(people, sizes, places, many, generator if k % 2 else None)
            if found is not None:
                yield found


def _sets(attributes: int, generator: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """Sets of one to four attributes: all of them, or some of each width."""
    for width in range(1, min(WIDEST_GRID, attributes) + 1):
        if math.comb(attributes, width) <= MOST_SETS[width]:
            yield from combinations(range(attributes), width)
        else:
            for _ in range(MOST_SETS[width]):
                chosen = generator.choice(attributes, width, replace=False)
                yield tuple(sorted(chosen.tolist()))


def _grid(
    people: Sequence[Codes], sizes: Sequence[int], places: tuple[int, ...], rare: float
) -> Candidate | None:
    """Rare values of each attribute merged; None if there are too many leaves, or too few."""
    n = len(people[0])
    groups, codes, many = [], np.zeros(n, dtype=np.intp), 1
    for place in places:
        shares = np.bincount(people[place], minlength=sizes[place]) / n
        few = np.flatnonzero(shares < rare)
        own = [[int(v)] for v in range(sizes[place]) if len(few) < 2 or v not in few]
        each = [*own, few.tolist()] if len(few) > 1 else own
        if len(each) < 2:
            return None
        lookup = np.empty(sizes[place], dtype=np.intp)
        for group, values in enumerate(each):
            lookup[values] = group
        groups.append(each)
        codes = codes * len(each) + lookup[people[place]]
        many *= len(each)
        if many > MOST_CODES and len(places) > 1:
            return None
    answers = math.prod(sizes[place] for place in places)
    merged = many < answers
    if answers > MOST_ANSWERS or (merged and many > MOST_LEAVES):
        return None
    block_sizes = [sizes[place] for place in places]
    boxes = tuple(PartitionResponse.grid(block_sizes, groups)) if merged else None
    return Candidate(places, boxes, codes, many)


def _tree(
    people: Sequence[Codes],
    sizes: Sequence[int],
    places: tuple[int, ...],
    many: int,
    generator: np.random.Generator | None,
) -> Candidate | None:
    """A tree with so many leaves; attributes by the most even split, or by chance."""
    n = len(people[0])
    boxes = [tuple(frozenset(range(sizes[place])) for place in places)]
    rows = [np.arange(n)]
    closed: set[int] = set()
    while len(boxes) < many and len(closed) < len(boxes):
        open_leaves = [i for i in range(len(boxes)) if i not in closed]
        heaviest = max(open_leaves, key=lambda i: len(rows[i]))
        split = _choose_split(people, sizes, places, boxes[heaviest], rows[heaviest], generator)
        if split is None:
            closed.add(heaviest)
            continue
        at, value = split
        inside = people[places[at]][rows[heaviest]] == value
        box = boxes[heaviest]
        rest = (*box[:at], box[at] - {value}, *box[at + 1 :])
        boxes[heaviest] = (*box[:at], frozenset({value}), *box[at + 1 :])
        boxes.append(rest)
        rows.append(rows[heaviest][~inside])
        rows[heaviest] = rows[heaviest][inside]
    if len(boxes) < 2:
        return None
    if len(boxes) == math.prod(sizes[place] for place in places):
        return _grid(people, sizes, places, 0.0)  # every combination by itself
    codes = np.empty(n, dtype=np.intp)
    for leaf, mine in enumerate(rows):
        codes[mine] = leaf
    listed = tuple(tuple(tuple(sorted(values)) for values in box) for box in boxes)
    return Candidate(places, listed, codes, len(boxes))


def _choose_split(
    people: Sequence[Codes],
    sizes: Sequence[int],
    places: tuple[int, ...],
    box: tuple[frozenset[int], ...],
    rows: NDArray[np.intp],
    generator: np.random.Generator | None,
) -> tuple[int, int] | None:
    """Which attribute of a leaf is split, and its commonest value; None if nobody is told apart."""
    ways = []
    for at, place in enumerate(places):
        counts = np.bincount(people[place][rows], minlength=sizes[place])
        value = int(counts.argmax())
        if len(box[at]) > 1 and 0 < counts[value] < len(rows):
            ways.append((abs(2 * int(counts[value]) - len(rows)), at, value))
    if not ways:
        return None
    _, at, value = min(ways) if generator is None else ways[generator.integers(len(ways))]
    return at, value
