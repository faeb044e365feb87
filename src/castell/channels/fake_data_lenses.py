"""What the server sees of reports in which all but one attribute are made up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from castell.channels.block_margins import no_forward
from castell.errors import QueryError
from castell.linear.operators import Dense, Operator


@dataclass(frozen=True)
class FakeDataMargin:
    """One attribute of such a report: its true value once in `among`, else a made-up one.

    `rest` is what the others' values weigh at least, over the weight with which they are made up.
    """

    has_forward: ClassVar[bool] = True

    among: int
    fakes: tuple[int, ...]
    same: int
    other: int
    rest: Fraction

    @cached_property
    def _columns(self) -> list[tuple[int, int]]:
        """For each report the weight of the answer that it says, and of each other."""
        made_up = [(self.among - 1) * fake for fake in self.fakes]
        return [(self.same + fake, self.other + fake) for fake in made_up]

    @property
    def _all(self) -> int:
        return self.among * sum(self.fakes)

    @property
    def best_guess(self) -> float:
        return sum(same for same, _ in self._columns) / (len(self.fakes) * self._all)

    @property
    def worst_guess(self) -> float:
        # After the report whose value is made up least often, beside values made up most often:
        # those make it likeliest that this one is true.
        own, size = Fraction(1, min(self.fakes)), len(self.fakes)
        every = sum(self.fakes) * own + size * self.rest
        return float((self.same * own + self.rest) / every)

    @property
    def forward(self) -> Dense:
        # A report is the answer with weight same - other, or comes as it does for everybody.
        common = np.array([other for _, other in self._columns], dtype=np.float64)
        gap = (self.same - self.other) * np.eye(len(common))
        return Dense((gap + common[:, None]) / self._all)

    @property
    def inverse(self) -> Dense:
        # P = g I + c 1' and 1' P = 1', so the inverse is (I - c 1') / g.
        common = np.array([other for _, other in self._columns], dtype=np.float64) / self._all
        gap = (self.same - self.other) / self._all
        return Dense((np.eye(len(common)) - common[:, None]) / gap)


@dataclass(frozen=True)
class FakeDataTable:
    """Several attributes of such a report: nothing can be taken back out."""

    has_forward: ClassVar[bool] = False

    @property
    def forward(self) -> Operator:
        raise no_forward()

    @property
    def inverse(self) -> Operator:
        raise no_table()

    @property
    def best_guess(self) -> float:
        raise no_table()

    @property
    def worst_guess(self) -> float:
        raise no_table()


def no_table() -> QueryError:
    """What is said where a table of several attributes is asked for."""
    return QueryError(
        "one attribute of these reports is true and the others are made up, so nothing tells how "
        "two go together",
        "ask for single attributes, or use the method independent",
    )
