"""The distribution of an ordered attribute, smoothed by a cross-validated penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from castell.display.one_line import one_line
from castell.inference.intervals import quantile
from castell.inference.shorter_interval import AsUnbiased
from castell.inference.smoothing import Smooth
from castell.linear.operators import Floats
from castell.results.group_shares import GroupShares
from castell.results.notebook_table import shares_html
from castell.results.summary import number, percent, with_warning
from castell.study.schema import Attribute


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SmoothShares(GroupShares):
    """The smoothed share of each value, and the intervals of the table without smoothing.

    What smoothing gets wrong nobody knows, so it gains nothing for intervals: they are the table's,
    made to contain the estimate. `penalty` is None where no smoothing was chosen; then the estimate
    is the table's.
    """

    attribute: Attribute
    made: Smooth
    spread: AsUnbiased  # of the table without smoothing

    @property
    def title(self) -> str:
        return f"{self.attribute.name}, smoothed" if self.penalty else self.attribute.name

    @property
    def penalty(self) -> float | None:
        return self.made.penalty

    @property
    def probabilities(self) -> Floats:
        return self.made.shares

    @property
    def table(self) -> Floats:
        """The shares without smoothing."""
        return self.spread.unbiased

    @property
    def standard_errors(self) -> Floats:
        """Those of the table without smoothing."""
        return np.asarray(self.spread.errors)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, and the reasons in words."""
        if self.penalty is None:
            said = "cross-validation chose no smoothing: this is the table"
        else:
            said = (
                f"smoothed with penalty {self.penalty:g}, which makes held-out reports more likely "
                f"(log-likelihood {self.made.gain:+.1f}); errors and intervals are the table's"
            )
        return (said, *super().notes)

    def conf_int(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """The intervals of the table, made to contain the estimate."""
        quantile(level)
        return self.spread.interval(self.probabilities, level)

    def _labels(self) -> dict[str, Sequence[str]]:
        return {self.attribute.name: self.attribute.values}

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The shares for programs, as plain JSON values."""
        return {
            "kind": "smooth",
            **self.source.to_dict(),
            "attribute": self.attribute.name,
            "values": list(self.attribute.values),
            "penalty": self.penalty,
            "gain": self.made.gain,
            **self._document(level),
        }

    def summary(self, level: float = 0.95) -> str:
        """The shares as a text for a report."""
        low, high = self.conf_int(level)
        values = self.attribute.values
        wide = max(len(value) for value in values)
        rows = zip(values, self.probabilities, low, high, strict=True)
        lines = [f"{self.title} ({self.source.method})"]
        lines += [
            f"{value:<{wide}}  {number(share)}  {percent(level)} interval "
            f"[{number(least)}, {number(most)}]"
            for value, share, least, most in rows
        ]
        return "\n".join([*lines, *with_warning(self.secure, self.notes)])

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """Bars of the shares with their intervals (extra `plot`)."""
        from castell.results.bars import bars
        from castell.results.canvas import USUAL_ROOM, load_altair, paint

        load_altair()
        name, values = self.attribute.name, self.attribute.values
        data = self._chart_data((name,), (values,), level, "respondents")
        return paint(bars(data, USUAL_ROOM), data, title or f"Estimated {self.title}")

    def _repr_html_(self) -> str:
        return shares_html(
            self.title,
            self.source.facts(),
            [self.attribute.name],
            [[value] for value in self.attribute.values],
            self._numbers().T,
            with_warning(self.secure, self.notes),
        )

    def __repr__(self) -> str:
        many = f"{self.attribute.size} shares"
        return one_line("SmoothShares", self.title, [many, *self.source.facts()])
