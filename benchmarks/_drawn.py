"""Reports that exist only as a table: for simulations that draw tables, not respondents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell import Study
from castell.counting.counts import ByBatches
from castell.counting.kernels import Integers
from castell.inference.inversion import Observed, parts_of
from castell.linear.operators import Floats
from castell.study.design import Axis


@dataclass(frozen=True, eq=False)
class DrawnCounts(ByBatches):
    """Counts that answer with one table, whatever is asked."""

    study: Study
    drawn: Integers
    secure: bool = False
    backend: str | None = None

    @property
    def n(self) -> int:
        return int(self.drawn.sum())

    def table(self, axes: Sequence[Axis]) -> Integers:
        return self.drawn.reshape([axis.size for axis in axes])

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        raise NotImplementedError("a drawn table has no reports to go through")


def report_distribution(study: Study, names: Sequence[str], truth: Floats) -> Floats:
    """How likely each report on some attributes is when answers are distributed as `truth`."""
    attributes = study.schema.select(names)
    question = Observed(study, attributes, parts_of(study, names), np.empty(0), 1)
    reports = np.maximum(question.expected_frequencies(truth), 0.0)
    return np.asarray(reports / reports.sum())
