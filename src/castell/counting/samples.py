"""Samples: the reports of all respondents who reported the same blocks.

Where everybody reports every block there is one sample, of all reports. Where each respondent
reports one block that was drawn, every block has a sample, and its reports are a study of their
own, with one block that everybody reports. So whatever works on one sample works in any design.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting.counts import ByBatches, Counts, once
from castell.counting.kernels import Integers, Sum
from castell.counting.stages import Stages
from castell.study.design import Axis, Design
from castell.study.schema import Schema
from castell.study.study import Study


@dataclass(frozen=True, eq=False)
class HistogramCounts(ByBatches):
    """The counts of a study with one block, from the number of reports of each code."""

    study: Study
    codes: Integers
    secure: bool
    backend: str | None = None

    @cached_property
    def n(self) -> int:
        return int(self.codes.sum())

    def add_up(self, *totals: Sum) -> None:
        for total in totals:
            total.add({0: np.arange(len(self.codes))}, len(self.codes), self.codes)

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        if self.n and len(blocks):
            yield [np.repeat(np.arange(len(self.codes)), self.codes)]


@once
def samples_of(counts: Counts) -> tuple[Counts, ...]:
    """The samples of some reports, counted in one pass."""
    if isinstance(counts, Stages):
        return tuple(sample for part in counts.parts for sample in samples_of(part))
    study = counts.study
    if len(study.design.samples) == 1:
        return (counts,)
    (width,) = study.design.widths
    codes = counts.table([Axis(0, 1, width, inner=False)])
    found = []
    for block, start in zip(study.design.blocks, study.design.starts, strict=True):
        schema = Schema(study.schema.select(block.names))
        alone = Study(schema, design=Design((block,)), name=study.name)
        mine = codes[start : start + block.channel.outputs]
        found.append(HistogramCounts(alone, mine, counts.secure, counts.backend))
    return tuple(found)


def samples_with(counts: Counts, names: Iterable[str]) -> tuple[Counts, ...]:
    """The samples whose respondents reported all of some attributes, if there are any yet.

    Those of blocks that ask coarsely are none of them: their reports do not tell answers apart.
    """
    wanted = set(names)
    return tuple(
        sample
        for sample in samples_of(counts)
        if wanted <= set(sample.study.names) and tells(sample, wanted)
    )


def tells(sample: Counts, names: Iterable[str]) -> bool:
    """Whether the reports of a sample tell apart all combinations of some attributes' values."""
    wanted = set(names)
    return all(block.tells(wanted) for block in sample.study.design.blocks)


def is_coarse(sample: Counts) -> bool:
    """Whether the reports of a sample are leaves of a partition of answers."""
    return any(block.is_coarse for block in sample.study.design.blocks)


def evenly_spread(sample: Counts) -> HistogramCounts:
    """One report of each code of a sample with one block."""
    (width,) = sample.study.design.widths
    return HistogramCounts(sample.study, np.ones(width, dtype=np.int64), sample.secure)
