"""A plan of a survey: what will be learned, from how many people, at what privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from castell.display.notebook import heading, html_table
from castell.display.one_line import one_line
from castell.planning.plan_facts import PlanFacts
from castell.planning.plan_page import page
from castell.planning.plan_picture import picture
from castell.planning.plan_text import facts, notes, summary, table_rows


@dataclass(frozen=True, eq=False, repr=False)
class Plan(PlanFacts):
    """What n respondents will tell at an epsilon, by design; the recommended one first."""

    def summary(self) -> str:
        """The plan for people."""
        return summary(self)

    def plot(self, title: str | None = None) -> Any:
        """The half-width against n at several epsilons, the plan's own point marked."""
        return picture(self, title)

    def to_html(self) -> str:
        """A page for an ethics board: the questions, what taking part costs, and the plan."""
        return page(self)

    def __repr__(self) -> str:
        told = [f"n {self.n}", f"epsilon {self.epsilon:.4g}", f"error {self.error:.3g}"]
        return one_line("Plan", repr(self.design_name), told)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        titles, *rows = table_rows(self)
        return html_table(heading("Plan", *facts(self)), titles, rows, notes=notes(self))
