"""Counting reports that are known by how many there are of each code: blocks that were drawn.

Where each respondent reports one block, the reports of a block are a study of their own, with one
block that everybody reports. Everything that works on such a study works on these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting.counts import Counts, Factor, Integers, Moments, MomentSum, pack
from castell.study.design import Axis, Design
from castell.study.schema import Schema
from castell.study.study import Study


@dataclass(frozen=True, eq=False)
class HistogramCounts:
    """The counts of a study with one block, from the number of reports of each code."""

    study: Study
    codes: Integers
    secure: bool
    backend: str | None = None

    @property
    def n(self) -> int:
        return int(self.codes.sum())

    def table(self, axes: Sequence[Axis]) -> Integers:
        keys = pack({0: np.arange(len(self.codes))}, axes, slice(None))
        shape = [axis.size for axis in axes]
        # Sums of whole numbers below 2^53 are exact in floating point.
        counted = np.bincount(keys, weights=self.codes, minlength=int(np.prod(shape)))
        return counted.astype(np.int64).reshape(shape)

    def moments(self, queries: Sequence[Sequence[Factor]]) -> Moments:
        total = MomentSum(queries)
        total.add({0: np.arange(len(self.codes))}, len(self.codes), self.codes)
        return total.result()

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        if self.n and len(blocks):
            yield [np.repeat(np.arange(len(self.codes)), self.codes)]


def histogram(counts: Counts) -> Integers:
    """How many reports there are of each code, where a report is one code."""
    (width,) = counts.study.design.widths
    return counts.table([Axis(0, 1, width, inner=False)])


def drawn_blocks(counts: Counts) -> tuple[HistogramCounts, ...]:
    """The reports of each block of a design that draws, in one pass over the reports."""
    study, codes = counts.study, histogram(counts)
    views = []
    for block, start in zip(study.design.blocks, study.design.starts, strict=True):
        schema = Schema(study.schema.select(block.names))
        alone = Study(schema, design=Design((block,)), name=study.name)
        mine = codes[start : start + block.channel.outputs]
        views.append(HistogramCounts(alone, mine, counts.secure, counts.backend))
    return tuple(views)
