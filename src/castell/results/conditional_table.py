"""Row percentages: how an attribute is distributed among those with each value of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from castell.display.one_line import one_line
from castell.linear.operators import Floats
from castell.results.conditional import Conditional
from castell.results.group_shares import GroupShares
from castell.results.notebook_table import shares_html
from castell.results.summary import align, number, percent, span, with_warning
from castell.study.schema import Attribute


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ConditionalTable(GroupShares):
    """P(asked | given) for every value of both, with Fieller's intervals.

    A row for each value of the attribute given, a column for each of the attribute asked for. Rows
    of the other table are columns of this one: ask with the names exchanged.
    """

    asked: Attribute
    given: Attribute
    rows: tuple[Conditional, ...]

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

    def _labels(self) -> dict[str, Sequence[str]]:
        pairs = [(given, asked) for given in self.given.values for asked in self.asked.values]
        given, asked = zip(*pairs, strict=True)
        return {self.given.name: given, self.asked.name: asked}

    def _rows(self) -> list[list[str]]:
        return [list(labels) for labels in zip(*self._labels().values(), strict=True)]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The shares for programs, as plain JSON values; docs/results.md has the layout."""
        return {
            "kind": "conditional_table",
            **self.source.to_dict(),
            "attributes": [self.given.name, self.asked.name],
            "values": [list(self.given.values), list(self.asked.values)],
            **self._document(level),
        }

    def summary(self, level: float = 0.95) -> str:
        """The shares as a text for a report."""
        head = [self.given.name, self.asked.name, "estimate", "std. err."]
        rows = [[*head, f"{percent(level)} interval"]]
        numbers = self._numbers(level).reshape(4, -1)
        for labels, (share, error, least, most) in zip(self._rows(), numbers.T, strict=True):
            rows.append([*labels, number(share), number(error), span(least, most)])
        lines = [f"{self.title} ({self.method})", *align(rows, 2)]
        return "\n".join([*lines, *with_warning(self.secure, self.notes)])

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """A heat map of the shares (extra `plot`)."""
        from castell.results.canvas import USUAL_ROOM, load_altair, paint
        from castell.results.plots import usual_canvas

        load_altair()
        names, values = zip(*((a.name, a.values) for a in (self.given, self.asked)), strict=True)
        whom = f"those with each value of {self.given.name}"
        data = self._chart_data(names, values, level, whom)
        return paint(usual_canvas(data, USUAL_ROOM), data, title or f"Estimated {self.title}")

    def __repr__(self) -> str:
        facts = [f"{self.probabilities.size} shares", *self.source.facts()]
        return one_line("ConditionalTable", self.title, facts)

    def _repr_html_(self) -> str:
        return shares_html(
            self.title,
            self.source.facts(),
            [self.given.name, self.asked.name],
            self._rows(),
            self._numbers().reshape(4, -1).T,
            with_warning(self.secure, self.notes),
        )
