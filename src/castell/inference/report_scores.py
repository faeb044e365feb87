"""What each report adds to shares: the mean of it, weighted or not, is the unbiased estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts
from castell.counting.kernels import pack
from castell.inference.inversion import parts_of
from castell.inference.queries import Query, factors
from castell.linear.operators import Floats
from castell.reports.codes import join_parts
from castell.study.study import Study


@dataclass(frozen=True, eq=False)
class ReportScores:
    """Of every report of a study that everybody reports whole, in the order of the reports."""

    counts: Counts

    @cached_property
    def columns(self) -> dict[int, NDArray[np.generic]]:
        """The codes of all reports, by block."""
        study = self.counts.study
        every = range(len(study.design.widths))
        return dict(enumerate(join_parts(study, self.counts.batches(every))))

    def codes(self, name: str) -> NDArray[np.intp]:
        """What was reported of one attribute that is a block by itself, or is public."""
        design = self.counts.study.design
        for i in design.holders(name):
            if design.blocks[i].is_public:
                return np.asarray(self.columns[design.column_of(i)]).astype(np.intp)
        (part,) = parts_of(self.counts.study, [name])
        return pack(self.columns, part.axes, slice(None))

    def of_cells(self, names: Sequence[str], cells: NDArray[np.intp]) -> Floats:
        """What each report adds to some cells of a table, by their places in it."""
        return scores_of_cells(self.counts.study, self.columns, self.counts.n, names, cells)

    def of_queries(self, queries: Sequence[Query]) -> Floats:
        """What each report adds to some shares."""
        study, n = self.counts.study, self.counts.n
        each = [scores_of_query(study, self.columns, n, query) for query in queries]
        return np.stack(each, axis=1)


def scores_of_cells(
    study: Study,
    columns: Mapping[int, NDArray[np.generic]],
    n: int,
    names: Sequence[str],
    cells: NDArray[np.intp],
) -> Floats:
    """What each of n reports, given by the codes of its blocks, adds to some cells of a table."""
    shape = [study.schema[name].size for name in names]
    digits = dict(zip(names, np.unravel_index(cells, shape), strict=True))
    scores = np.ones((n, len(cells)))
    for part in parts_of(study, names):
        rows = np.ravel_multi_index([digits[name] for name in part.names], part.sizes)
        codes = pack(columns, part.axes, slice(None))
        scores *= part.lens.inverse.dense()[rows].T[codes]
    return scores


def scores_of_query(
    study: Study, columns: Mapping[int, NDArray[np.generic]], n: int, query: Query
) -> Floats:
    """What each of n reports adds to a share."""
    scores = np.ones(n)
    for factor in factors(study, query):
        scores *= factor.values[pack(columns, factor.axes, slice(None))]
    return scores
