"""All of a channel that follows from its weights.

A channel is a matrix of whole numbers. How to sample it, take it back out, look at a part of it and
what it costs can be worked out from those alone: a subclass of `WeightedChannel` says its `kind`,
its `weights()`, and how it is published and read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.block_margins import MatrixMargin
from castell.channels.budget import log_ratio, rounded_up
from castell.channels.protocol import Lens, Traits, Words
from castell.linear.operators import Dense, Floats, left_inverse


class WeightedChannel(Traits, ABC):
    """A channel by its weights: row x holds the weights of the reports of answer x.

    Subclasses are frozen. `respond` may be replaced by something faster, as long as every answer
    takes the same path and every report gets as many numbers as it weighs.
    """

    draws: ClassVar[int] = 1
    has_digits: ClassVar[bool] = False
    has_matrix: ClassVar[bool] = True
    has_forward: ClassVar[bool] = True

    @abstractmethod
    def weights(self) -> list[list[int]]:
        """The matrix: positive whole numbers, every row with the same total, at most 2^53."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """The channel as published: its `kind`, and what `from_document` makes it from."""

    @cached_property
    def _rows(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(row) for row in self.weights())

    def _matrix(self) -> Floats:
        return np.array(self._rows, dtype=np.float64) / self.total

    @property
    def inputs(self) -> int:
        return len(self._rows)

    @property
    def outputs(self) -> int:
        return len(self._rows[0])

    @property
    def reports_answers(self) -> bool:
        return self.inputs == self.outputs

    @property
    def total(self) -> int:
        return sum(self._rows[0])

    @cached_property
    def exact_epsilon(self) -> Decimal:
        columns = zip(*self._rows, strict=True)
        return log_ratio(max(Fraction(max(column), min(column)) for column in columns))

    @property
    def epsilon(self) -> float:
        return rounded_up(self.exact_epsilon)

    @property
    def best_guess(self) -> float:
        best: int = sum(max(column) for column in zip(*self._rows, strict=True))
        return best / (self.total * self.inputs)

    @property
    def worst_guess(self) -> float:
        columns = zip(*self._rows, strict=True)
        return float(max(Fraction(max(column), sum(column)) for column in columns))

    @property
    def forward(self) -> Dense:
        return Dense(self._matrix().T)

    @cached_property
    def inverse(self) -> Dense:
        # pi = (P^T)^-1 lambda: the transpose matters as soon as the matrix is not symmetric.
        return Dense(left_inverse(self._matrix().T))

    @cached_property
    def _ends(self) -> tuple[int, Words]:
        """The running sums of each row, filled up to a power of two: every search is as long."""
        width = 1 << (self.outputs - 1).bit_length()
        padded = np.full((self.inputs, width), self.total, dtype=np.uint64)
        padded[:, : self.outputs] = np.cumsum(np.array(self._rows, dtype=np.uint64), axis=1)
        return width, padded.ravel()

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        # Bisection on the running sums of the answer's row, the same number of steps for all:
        # the report is how many of the row's upper ends lie at or below the number.
        width, flat = self._ends
        base = codes.astype(np.intp) * width
        found = np.zeros(len(codes), dtype=np.intp)
        step = width >> 1
        while step:
            found += np.where(numbers >= flat[base + found + step - 1], step, 0)
            step >>= 1
        return found

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens:
        if len(keep) == len(sizes):
            return self
        return MatrixMargin(self._rows, self.inverse, tuple(sizes), tuple(keep))
