"""Counting what reports say about a mixture: the tables of blocks, and of all pairs of attributes.

Where each respondent reports one block, the blocks' own tables are all there is. Where everybody
reports every block, the pairs of attributes are: they hold what a mixture can learn from much
noise, and they are counted once, whatever the number of reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np

from castell.counting import Counts, drawn_blocks
from castell.counting.counts import pack
from castell.inference.latent.sufficient_statistics import BlockTable, PairTables, Table
from castell.linear.operators import Floats
from castell.study.design import Axis, Design, lens_on

# Wider blocks are looked at in pairs.
MOST_CELLS = 1 << 14
# Rows at a time: exact in float32, and small enough to stay in the cache.
_STEP = 1 << 13


def sufficient_statistics(counts: Counts) -> list[Table]:
    """All that some reports say."""
    study = counts.study
    place = {name: i for i, name in enumerate(study.names)}
    if study.design.draw:
        return [
            BlockTable(
                tuple(place[name] for name in block.study.names),
                block.study.design.blocks[0].channel.forward,
                block.codes.astype(np.float64),
            )
            for block in drawn_blocks(counts)
        ]
    found: list[Table] = _within_blocks(counts, place)
    if len(study.design.blocks) > 1:
        found.append(_across_blocks(counts))
    return found


def _within_blocks(counts: Counts, place: dict[str, int]) -> list[Table]:
    """The tables of blocks of several attributes; of a block of one only if there is no other."""
    design, found = counts.study.design, []
    for i, block in enumerate(design.blocks):
        if len(block.names) == 1 and len(design.blocks) > 1:
            continue
        together = [block.names]
        if prod(block.sizes) > MOST_CELLS:
            together = list(combinations(block.names, 2))
        for names in together:
            counted = counts.table(block.axes(i, names)).ravel().astype(np.float64)
            attributes = tuple(place[name] for name in names)
            found.append(BlockTable(attributes, lens_on(block, names).forward, counted))
    return list(found)


def _across_blocks(counts: Counts) -> PairTables:
    """The tables of all pairs of attributes in different blocks, in one pass over the reports."""
    study = counts.study
    axes, owners = _axes(study.design, study.names)
    forward = tuple(
        lens_on(study.design.blocks[owner], [name]).forward
        for name, owner in zip(study.names, owners, strict=True)
    )
    met = _pair_counts(counts, axes)
    ends = np.cumsum([0, *(axis.size for axis in axes)])
    for i, one in enumerate(owners):
        for k, two in enumerate(owners):
            if one == two:
                met[ends[i] : ends[i + 1], ends[k] : ends[k + 1]] = 0.0
    return PairTables(forward, met)


def _axes(design: Design, names: Sequence[str]) -> tuple[list[Axis], list[int]]:
    owners = [design.holders(name)[0] for name in names]
    axes = [design.blocks[i].axes(i, [name])[0] for name, i in zip(names, owners, strict=True)]
    return axes, owners


def _pair_counts(counts: Counts, axes: Sequence[Axis]) -> Floats:
    """How many reports hold each two codes: products of indicator matrices."""
    starts = np.cumsum([0, *(axis.size for axis in axes)])
    total = np.zeros((starts[-1], starts[-1]))
    for columns in counts.batches(range(len(counts.study.design.blocks))):
        held = dict(enumerate(columns))
        for low in range(0, len(columns[0]), _STEP):
            rows = slice(low, low + _STEP)
            many = len(columns[0][rows])
            shown = np.zeros((many, int(starts[-1])), dtype=np.float32)
            line = np.arange(many)
            for axis, start in zip(axes, starts, strict=False):
                shown[line, start + pack(held, [axis], rows)] = 1.0
            total += shown.T @ shown
    return total
