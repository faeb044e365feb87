"""What each report adds to a table, for survey software that works out errors by its own design."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from castell.counting import samples_of, studies_of
from castell.errors import QueryError
from castell.inference.drawn_scores import DrawnScores
from castell.inference.report_scores import ReportScores
from castell.inference.support import support
from castell.reports.frames import frame_of
from castell.results.questions import Questions
from castell.study.schema import check_cells


class ScoreQuestions(Questions):
    """The part of a model that gives them."""

    def scores(
        self, names: Iterable[str] | str, *, backend: str | None = None, max_cells: int = 1000
    ) -> Any:
        """What each report adds to each cell of a table: a frame with a row for each report.

        The mean of a column, weighted or not, is the unbiased estimate of the cell, so that survey
        software estimates it with its own errors. Columns are named by the values, as in "smokes =
        now, health = poor"; public attributes are beside them as they were reported.

        Where each respondent reports a block that was drawn, who drew another adds the estimate
        itself, and who drew this one adds more: to first order the mean is the estimate then too.
        """
        if len(studies_of(self.counts)) > 1:
            raise QueryError(
                "these are reports of several studies", "ask for the scores of each by itself"
            )
        attributes = self.study.schema.select(names)
        shape = [a.size for a in attributes]
        check_cells(" x ".join(a.name for a in attributes), shape, max_cells)
        scores, chosen = ReportScores(self.counts), tuple(a.name for a in attributes)
        cells = np.arange(int(np.prod(shape)))
        if len(samples_of(self.counts)) == 1:
            each = scores.of_cells(chosen, cells)
        elif support(self.counts, chosen).together:
            each = DrawnScores(self.counts, np.ones(self.counts.n)).of_cells(chosen, cells)
        else:
            raise QueryError(
                f"no report holds {' and '.join(chosen)} together",
                "ask for attributes that some block of the design holds",
            )
        columns: dict[str, Any] = {
            name: np.array(self.study.schema[name].values, dtype=object)[scores.codes(name)]
            for name in self.study.schema.public
        }
        for cell, digits in zip(cells, np.ndindex(*shape), strict=True):
            values = [f"{a.name} = {a.values[d]}" for a, d in zip(attributes, digits, strict=True)]
            columns[", ".join(values)] = each[:, cell]
        return frame_of(columns, backend or self.counts.backend)
