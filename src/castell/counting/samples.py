"""Samples: the reports of all respondents who reported the same blocks.

Where everybody reports every block there is one sample, of all reports. Where each respondent
reports one block that was drawn, every block has a sample, and its reports are a study of their
own: that block and the public attributes, which everybody in it reports. So whatever works on one
sample works in any design.
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
from castell.linear.table import check_cells
from castell.study.design import Axis, Design
from castell.study.schema import Schema
from castell.study.study import Study


@dataclass(frozen=True, eq=False)
class HistogramCounts(ByBatches):
    """The counts of a drawn block, and what is public, from the number of reports of each kind.

    `codes` has an axis for each block of the study.
    """

    study: Study
    codes: Integers
    secure: bool
    backend: str | None = None

    @cached_property
    def n(self) -> int:
        return int(self.codes.sum())

    def add_up(self, *totals: Sum) -> None:
        for total in totals:
            total.add(dict(enumerate(self._columns)), self.codes.size, self.codes.ravel())

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        if self.n and len(blocks):
            times = self.codes.ravel()
            yield [np.repeat(self._columns[block], times) for block in blocks]

    @cached_property
    def _columns(self) -> list[NDArray[np.intp]]:
        """The code of each block in every kind of report."""
        shape = self.codes.shape
        return [np.asarray(c) for c in np.unravel_index(np.arange(self.codes.size), shape)]


def sample_studies(study: Study) -> tuple[Study, ...]:
    """What the respondents of each sample report, as a study of their own."""
    found = []
    for together in study.design.samples:
        if len(together) == len(study.design.blocks):
            return (study,)
        design = Design(tuple(study.design.blocks[i] for i in together))
        schema = Schema(study.schema.select([n for b in design.blocks for n in b.names]))
        found.append(Study(schema, design=design, name=study.name))
    return tuple(found)


@once
def samples_of(counts: Counts) -> tuple[Counts, ...]:
    """The samples of some reports, counted in one pass."""
    if isinstance(counts, Stages):
        return tuple(sample for part in counts.parts for sample in samples_of(part))
    design, studies = counts.study.design, sample_studies(counts.study)
    if len(studies) == 1:
        return (counts,)
    if design.public:
        # One table of all that was drawn beside all that is public: too large is refused first.
        check_cells(" x ".join(design.columns), design.widths, None)
    codes = counts.table([Axis(i, 1, width, inner=False) for i, width in enumerate(design.widths)])
    return tuple(
        HistogramCounts(study, each, counts.secure, counts.backend)
        for study, each in zip(studies, np.split(codes, design.starts[1:]), strict=True)
    )


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
    """Each code of a drawn block equally often, beside what is public as it was reported."""
    widths = sample.study.design.widths
    public = [Axis(i, 1, width, inner=False) for i, width in enumerate(widths)][1:]
    # Reports that a plan expects are so many that rounding does not matter.
    margin = np.rint(sample.table(public) if public else np.ones(())).astype(np.int64)
    return HistogramCounts(sample.study, np.broadcast_to(margin, widths).copy(), sample.secure)
