"""Row percentages: how an attribute is distributed among those with each value of another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from castell.display.arrays import array_of
from castell.display.one_line import one_line
from castell.inference.reasons import Reason
from castell.inference.support import Checked
from castell.linear.operators import Floats
from castell.reports.frames import frame_of
from castell.results.chart_data import ChartData, lines_of
from castell.results.conditional import Conditional
from castell.results.html import shares_html
from castell.results.provenance import FromReports, Source
from castell.results.shares_document import shares_document
from castell.results.summary import aligned, number, percent, span, warned
from castell.study.schema import Attribute


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ConditionalTable(FromReports):
    """P(asked | given) for every value of both, with Fieller's intervals.

    A row for each value of the attribute given, a column for each of the attribute asked for. Rows
    of the other table are columns of this one: ask with the names exchanged.
    """

    asked: Attribute
    given: Attribute
    rows: tuple[Conditional, ...]
    source: Source
    checked: Checked
    reasons: tuple[Reason, ...] = ()
    backend: str | None = None

    @property
    def title(self) -> str:
        return f"{self.asked.name} given {self.given.name}"

    @cached_property
    def probabilities(self) -> Floats:
        """Not a number in the row of a group that is estimated to be empty."""
        found = np.array([row.probabilities for row in self.rows])
        found.flags.writeable = False
        return found

    @cached_property
    def standard_errors(self) -> Floats:
        found = np.array([row.standard_errors for row in self.rows])
        found.flags.writeable = False
        return found

    def conf_int(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of an interval for every cell, inside [0, 1]."""
        ends = [row.conf_int(level) for row in self.rows]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    def _labels(self) -> list[list[str]]:
        return [[g, a] for g in self.given.values for a in self.asked.values]

    def columns(self, level: float = 0.95) -> dict[str, Any]:
        low, high = self.conf_int(level)
        given, asked = zip(*self._labels(), strict=True)
        return {
            self.given.name: np.array(given, dtype=object),
            self.asked.name: np.array(asked, dtype=object),
            "probability": self.probabilities.ravel(),
            "standard_error": self.standard_errors.ravel(),
            "lower": low.ravel(),
            "upper": high.ravel(),
        }

    def to_frame(self, backend: str | None = None, *, level: float = 0.95) -> Any:
        """A frame of the kind the answers came in, or 'pandas', 'polars', 'pyarrow'."""
        return frame_of(self.columns(level), backend or self.backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The shares for programs, as plain JSON values; docs/results.md has the layout."""
        return {
            "kind": "conditional_table",
            **self.source.to_dict(),
            "attributes": [self.given.name, self.asked.name],
            "values": [list(self.given.values), list(self.asked.values)],
            **shares_document(self, level),
        }

    def summary(self, level: float = 0.95) -> str:
        """The shares as a text for a report."""
        low, high = self.conf_int(level)
        numbers = zip(
            self.probabilities.ravel(),
            self.standard_errors.ravel(),
            low.ravel(),
            high.ravel(),
            strict=True,
        )
        head = [self.given.name, self.asked.name, "estimate", "std. err."]
        rows = [[*head, f"{percent(level)} interval"]]
        for labels, (share, error, least, most) in zip(self._labels(), numbers, strict=True):
            rows.append([*labels, number(share), number(error), span(least, most)])
        lines = [f"{self.title} ({self.method})", *aligned(rows, 2)]
        return "\n".join([*lines, *warned(self.secure, self.notes)])

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """A heat map of the shares (extra `plot`)."""
        from castell.results.canvas import USUAL_ROOM, load_altair, paint
        from castell.results.plots import usual_canvas

        load_altair()
        low, high = self.conf_int(level)
        data = ChartData(
            (self.given.name, self.asked.name),
            (self.given.values, self.asked.values),
            np.stack([self.probabilities, self.standard_errors, low, high]),
            lines_of(self.source),
            level,
            f"those with each value of {self.given.name}",
        )
        return paint(usual_canvas(data, USUAL_ROOM), data, title or f"Estimated {self.title}")

    def __array__(
        self, dtype: DTypeLike | None = None, *, copy: bool | None = None
    ) -> NDArray[Any]:
        return array_of(self.probabilities, dtype, copy)

    def __repr__(self) -> str:
        facts = [f"{self.probabilities.size} shares", *self.source.facts()]
        return one_line("ConditionalTable", self.title, facts)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        low, high = self.conf_int()
        tables = (self.probabilities, self.standard_errors, low, high)
        return shares_html(
            self.title,
            self.source.facts(),
            [self.given.name, self.asked.name],
            self._labels(),
            np.column_stack([table.ravel() for table in tables]),
            warned(self.secure, self.notes),
        )
