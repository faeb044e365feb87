"""Counting what reports say about a mixture: the tables of blocks, and of all pairs of attributes.

Where a respondent reports one block, the tables of blocks are all there is. Where everybody reports
every block, the pairs of attributes are: they hold what a mixture can learn from much noise, and
they are counted once, whatever the number of reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np

from castell.counting import Counts, samples_of
from castell.inference.latent.sufficient_statistics import BlockTable, CountedTable, PairTables
from castell.study.design import Axis, Design, lens_on
from castell.study.study import Study

# Wider blocks are looked at in pairs.
MOST_CELLS = 1 << 14


def sufficient_statistics(counts: Counts) -> list[CountedTable]:
    """All that some reports say: first of each sample the tables of blocks, then of pairs."""
    place = {name: i for i, name in enumerate(counts.study.names)}
    found: list[CountedTable] = []
    for sample in samples_of(counts):
        for i, names in _within_blocks(sample.study.design):
            block = sample.study.design.blocks[i]
            counted = sample.table(block.axes(i, names)).ravel().astype(np.float64)
            attributes = tuple(place[name] for name in names)
            found.append(BlockTable(attributes, lens_on(block, names).forward, counted))
        if len(sample.study.design.blocks) > 1:
            found.append(_across_blocks(sample))
    return found


def studies_of_tables(counts: Counts) -> list[Study]:
    """The study of the sample that each of the sufficient statistics was counted in."""
    found = []
    for study in (sample.study for sample in samples_of(counts)):
        across = len(study.design.blocks) > 1
        found += [study] * (len(_within_blocks(study.design)) + across)
    return found


def _within_blocks(design: Design) -> list[tuple[int, tuple[str, ...]]]:
    """Blocks of several attributes; a block of one only if there is no other."""
    found: list[tuple[int, tuple[str, ...]]] = []
    for i, block in enumerate(design.blocks):
        if len(block.names) == 1 and len(design.blocks) > 1:
            continue
        wide = prod(block.sizes) > MOST_CELLS
        found += [(i, names) for names in (combinations(block.names, 2) if wide else [block.names])]
    return found


def _across_blocks(counts: Counts) -> PairTables:
    """The tables of all pairs of attributes in different blocks, in one pass over the reports."""
    study = counts.study
    axes, owners = _axes(study.design, study.names)
    forward = tuple(
        lens_on(study.design.blocks[owner], [name]).forward
        for name, owner in zip(study.names, owners, strict=True)
    )
    met = counts.pairs(axes).astype(np.float64)
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
