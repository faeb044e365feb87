"""What each report adds to weighted shares where each respondent reports one block that was drawn.

A share is estimated in every sample that holds its attributes, by the weighted mean of what the
sample's reports add, and the samples' estimates are averaged as they are without weights. A report
of sample k, whose weights sum to W_k of W, moves the average by a_k (W / W_k) (g - estimate of k),
to first order (Taylor linearisation of the ratio). These are the scores here, about the estimate:
their weighted mean is the estimate, and errors by the sampling design follow from them. Who drew
another block adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, samples_of
from castell.errors import MethodError
from castell.inference.pooled_table import sources
from castell.inference.queries import Query, names_of
from castell.inference.report_scores import ReportScores, scores_of_cells, scores_of_query
from castell.inference.support import support
from castell.linear.operators import Floats

Columns = dict[int, NDArray[np.generic]]
# What the reports of a sample add, a row each, from its sample's place and their columns.
Added = Callable[[Counts, Columns], Floats]


@dataclass(frozen=True, eq=False)
class DrawnScores:
    """Of every report of a study with a draw, in the order of the reports, about the estimate."""

    counts: Counts
    weights: Floats

    @cached_property
    def _rows(self) -> list[tuple[NDArray[np.intp], Columns]]:
        """The reports of each sample: their places, and their codes by block."""
        column = self.counts.study.design.layout[0]
        columns = ReportScores(self.counts).columns
        drawn = np.asarray(columns[0]).astype(np.intp)
        places = column.places_of(drawn)
        found = []
        for k, start in enumerate(column.starts):
            mine = np.flatnonzero(places == k)
            public = {i: c[mine] for i, c in columns.items() if i}
            found.append((mine, {0: drawn[mine] - start, **public}))
        return found

    def _scores(self, group: tuple[str, ...], added: Added) -> Floats:
        if set(group) <= set(self.counts.study.schema.public):
            # Everybody reports what is public, whatever they drew.
            return added(samples_of(self.counts)[0], ReportScores(self.counts).columns)
        every = {id(sample): k for k, sample in enumerate(samples_of(self.counts))}
        whole = self.weights.sum()
        total, estimate = np.zeros((self.counts.n, 1)), np.zeros(1)
        for source in sources(self.counts, [group]):
            rows, columns = self._rows[every[id(source.reports)]]
            weights, share = self.weights[rows], source.weights[group]
            own = weights.sum()
            if not own > 0.0:
                raise MethodError(
                    f"all who reported {', '.join(group)} in one of the drawn blocks weigh 0",
                    "give some of them a weight above 0",
                )
            scores = added(source.reports, columns)
            mean = weights @ scores / own
            if total.shape[1] != scores.shape[1]:
                total = np.zeros((self.counts.n, scores.shape[1]))
            total[rows] += share * (whole / own) * (scores - mean)
            estimate = estimate + share * mean
        return np.asarray(total + estimate)

    def of_cells(self, names: Sequence[str], cells: NDArray[np.intp]) -> Floats:
        """What each report adds to some cells of a table, by their places in it."""

        def add_up(sample: Counts, columns: Columns) -> Floats:
            return scores_of_cells(sample.study, columns, len(columns[0]), names, cells)

        return self._scores(tuple(names), add_up)

    def of_queries(self, queries: Sequence[Query]) -> Floats:
        """What each report adds to some shares; from the same samples where some hold them all."""
        every = names_of(queries)
        together = len(every) > 1 and support(self.counts, every).together
        found = []
        for query in queries:

            def add_up(sample: Counts, columns: Columns, query: Query = query) -> Floats:
                return scores_of_query(sample.study, columns, len(columns[0]), query)[:, None]

            found.append(self._scores(every if together else tuple(query), add_up))
        return np.concatenate(found, axis=1)
