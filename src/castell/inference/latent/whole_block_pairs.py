"""Pairs of what is reported apart, where a block can only be looked at as a whole.

Such a block's channel says nothing of single attributes of it (a matrix of one's own, say), so the
whole block meets the other blocks, or their attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from castell.counting import Counts
from castell.linear.kronecker_product import KroneckerProduct
from castell.linear.operators import Floats, Operator
from castell.study.design import Design, lens_on

# A part of a block's reports that can be looked at: the block's number, and some of its attributes.
Unit = tuple[int, tuple[str, ...]]


def units_apart(design: Design) -> list[tuple[Unit, Unit]]:
    """All pairs of blocks that can only be looked at as a whole and of attributes of the others."""
    units: list[Unit] = []
    for i, block in enumerate(design.blocks):
        own = [block.names] if i in design.whole_blocks else [(name,) for name in block.names]
        units += [(i, names) for names in own]
    return [(one, two) for one, two in combinations(units, 2) if one[0] != two[0]]


def tables_apart(
    counts: Counts, place: Mapping[str, int]
) -> Iterator[tuple[tuple[int, ...], Operator, Floats]]:
    """Of each pair the attributes, by their place; the channel; and how often each report came."""
    blocks = counts.study.design.blocks
    for pair in units_apart(counts.study.design):
        axes = [axis for i, names in pair for axis in blocks[i].axes(i, names)]
        left, right = (lens_on(blocks[i], names).forward for i, names in pair)
        counted = counts.table(axes).ravel().astype(np.float64)
        attributes = tuple(place[name] for _, names in pair for name in names)
        yield attributes, KroneckerProduct(left, right), counted
