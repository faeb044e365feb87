"""What all channels share in which each answer has a set of likely reports.

A report of an answer's set has weight `same`, any other `other`. What a guess gains follows from
how many answers' sets a report lies in; so does the view of some attributes of a block alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.block_margins import answers_behind, no_forward
from castell.channels.budget import log_ratio, rounded_up
from castell.channels.protocol import Lens, Traits
from castell.errors import QueryError
from castell.linear.operators import Dense, Operator

# The view of some attributes is written out; more entries than this (1 GiB) are not.
MOST_ENTRIES = 1 << 27


class SetValued(Traits, ABC):
    """A channel of two weights, by the sets in which they are."""

    draws: ClassVar[int] = 1
    # A report is none of the answers, even where there happen to be as many of both.
    reports_answers: ClassVar[bool] = False
    has_digits: ClassVar[bool] = False
    has_matrix: ClassVar[bool] = True
    has_forward: ClassVar[bool] = True

    size: int
    same: int
    other: int

    @property
    @abstractmethod
    def total(self) -> int: ...

    @property
    @abstractmethod
    def forward(self) -> Operator: ...

    @property
    @abstractmethod
    def inverse(self) -> Operator: ...

    @abstractmethod
    def member(self) -> Operator:
        """Answers by reports: 1 where the report is in the answer's set."""

    @property
    def inputs(self) -> int:
        return self.size

    @cached_property
    def exact_epsilon(self) -> Decimal:
        return log_ratio(Fraction(self.same, self.other))

    @property
    def epsilon(self) -> float:
        return rounded_up(self.exact_epsilon)

    @cached_property
    def holding(self) -> NDArray[np.int64]:
        """In how many answers' sets each report lies."""
        return np.rint(self.member().combine(np.arange(self.size))).astype(np.int64)

    @property
    def best_guess(self) -> float:
        # Some reports may lie in no answer's set, if there are more reports than answers.
        reports, hit = len(self.holding), int((self.holding > 0).sum())
        return (hit * self.same + (reports - hit) * self.other) / (self.total * self.size)

    @property
    def worst_guess(self) -> float:
        # The fewer answers share a report, the more it says of each; one in no set says nothing.
        fewest = int(self.holding[self.holding > 0].min())
        return self.same / (fewest * self.same + (self.size - fewest) * self.other)

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens:
        if len(keep) == len(sizes):
            return self
        return SetMargin(self, tuple(sizes), tuple(keep))

    def weights(self) -> list[list[int]]:
        inside = self.member().dense() > 0.5
        return [[self.same if hit else self.other for hit in row] for row in inside]


@dataclass(frozen=True)
class SetMargin:
    """The channel of a block, seen by some of its attributes. Only ever looked through."""

    has_forward: ClassVar[bool] = False

    block: SetValued
    sizes: tuple[int, ...]
    keep: tuple[int, ...]

    @cached_property
    def _answers(self) -> list[NDArray[np.intp]]:
        return answers_behind(self.sizes, self.keep)

    @property
    def forward(self) -> Operator:
        raise no_forward()

    def _rows_of(self, operator: Operator) -> NDArray[np.float64]:
        if len(self._answers) * operator.columns > MOST_ENTRIES:
            raise QueryError(
                f"{len(self._answers):,} combinations of a block with {operator.columns:,} "
                "different reports are too many to look at in part",
                "ask for all attributes of the block, or for fewer",
            )
        return np.array([operator.combine(answers) for answers in self._answers])

    @cached_property
    def inverse(self) -> Dense:
        return Dense(self._rows_of(self.block.inverse))

    @cached_property
    def _most(self) -> NDArray[np.int64]:
        """For each report the answers of the likeliest combination whose sets it lies in."""
        inside = self._rows_of(self.block.member())
        return np.asarray(np.rint(inside.max(axis=0)), dtype=np.int64)

    @property
    def best_guess(self) -> float:
        block, gap = self.block, self.block.same - self.block.other
        merged = block.size // len(self._answers)
        best = len(self._most) * merged * block.other + int(self._most.sum()) * gap
        return best / (block.total * block.size)

    @property
    def worst_guess(self) -> float:
        block, gap = self.block, self.block.same - self.block.other
        merged = block.size // len(self._answers)
        kinds = np.unique(np.stack([self._most, block.holding]), axis=1).T.tolist()
        return float(
            max(
                Fraction(merged * block.other + most * gap, block.size * block.other + every * gap)
                for most, every in kinds
            )
        )
