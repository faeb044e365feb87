"""Conditional shares: how some values are distributed among those with others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from castell.display.one_line import one_line
from castell.inference.intervals import quantile
from castell.inference.shares import Shares
from castell.linear.operators import Floats
from castell.results.group_shares import GroupShares
from castell.results.notebook_table import shares_html
from castell.results.provenance import Labels, as_lists, describe_values
from castell.results.summary import number, percent, with_warning


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Conditional(GroupShares):
    """P(value | given) for some values, with Fieller's intervals.

    Both shares of the ratio are estimated, from the same reports, so the ratio's error follows
    from their covariance. Where the group given may be empty, nothing is known: the interval is
    [0, 1].
    """

    asked: str
    values: tuple[str, ...]
    where: Labels | None  # what the single value means; None where they are an attribute's
    given: Labels
    shares: tuple[Shares, ...]  # of both, and of those given, for each value

    @property
    def title(self) -> str:
        return f"{self.asked} given {describe_values(self.given)}"

    @cached_property
    def probabilities(self) -> Floats:
        """The ratios; where an estimated group is empty, none can be told: not a number."""
        shares: Floats = np.array([each.ratio for each in self.shares])
        shares.flags.writeable = False
        return shares

    @cached_property
    def standard_errors(self) -> Floats:
        """By the delta method; not a number where too few are in the group to tell."""
        return np.array([each.ratio_error() for each in self.shares])

    def conf_int(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Lower and upper ends of an interval for every value, inside [0, 1]."""
        quantile(level)
        ends = np.array([each.ratio_interval(level) for each in self.shares])
        return ends[:, 0], ends[:, 1]

    def _labels(self) -> dict[str, Sequence[str]]:
        return {self.asked: self.values}

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The shares for programs, as plain JSON values; docs/results.md has the layout."""
        return {
            "kind": "conditional",
            **self.source.to_dict(),
            "asked": self.asked,
            "values": list(self.values),
            "where": None if self.where is None else as_lists(self.where),
            "given": as_lists(self.given),
            **self._document(level),
        }

    def summary(self, level: float = 0.95) -> str:
        """The shares as a text for a report."""
        low, high = self.conf_int(level)
        rows = zip(self.values, self.probabilities, self.standard_errors, low, high, strict=True)
        wide = max(len(value) for value in self.values)
        lines = [f"{self.title} ({self.method})"]
        lines += [
            f"{value:<{wide}}  {number(share)}  std. err. {number(error)}  "
            f"{percent(level)} interval [{number(least)}, {number(most)}]"
            for value, share, error, least, most in rows
        ]
        return "\n".join([*lines, *with_warning(self.secure, self.notes)])

    def plot(self, *, level: float = 0.95, title: str | None = None) -> Any:
        """Bars of the shares with their intervals (extra `plot`)."""
        from castell.results.bars import bars
        from castell.results.canvas import USUAL_ROOM, load_altair, paint

        load_altair()
        whom = f"those with {describe_values(self.given)}"
        data = self._chart_data((self.asked,), (self.values,), level, whom)
        return paint(bars(data, USUAL_ROOM), data, title or f"Estimated {self.title}")

    def __repr__(self) -> str:
        many = f"{len(self.values)} share{'s' * (len(self.values) != 1)}"
        return one_line(type(self).__name__, self.title, [many, *self.source.facts()])

    def _repr_html_(self) -> str:
        return shares_html(
            self.title,
            self.source.facts(),
            [self.asked],
            [[value] for value in self.values],
            self._numbers().T,
            with_warning(self.secure, self.notes),
        )
