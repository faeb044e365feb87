"""Any randomisation matrix a user gives, as integer weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import MAX_EPSILON, check_range, log_ratio, rounded_up
from castell.channels.protocol import MAX_TOTAL, Lens, Words
from castell.errors import ChannelError
from castell.linear.operators import Dense, Floats, left_inverse
from castell.numbers import is_whole

# A matrix worse conditioned than this returns noise only.
MAX_CONDITION = 1e8


@dataclass(frozen=True)
class MatrixResponse:
    """Any randomisation matrix: row x holds the weights of the reports of answer x.

    >>> channel = MatrixResponse([[8, 2], [3, 7]])
    >>> round(channel.epsilon, 6), round(math.log(7 / 2), 6)  # report 1 tells them apart best
    (1.252763, 1.252763)
    """

    rows: tuple[tuple[int, ...], ...]

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        object.__setattr__(self, "rows", _integer_rows(rows))
        self._check()

    @classmethod
    def from_probabilities(cls, matrix: object, what: str = "the matrix") -> MatrixResponse:
        """A row-stochastic matrix, turned into integer weights.

        Decimals with a common total below 2^53 stay exact, others are rounded to a total of 2^52;
        what is then used everywhere, the budget included, are the integers.

        >>> MatrixResponse.from_probabilities([[0.8, 0.2], [0.3, 0.7]]).rows
        ((8, 2), (3, 7))
        """
        return cls(_weights_of(matrix, what))

    def _check(self) -> None:
        width = len(self.rows[0])
        if len(self.rows) < 2 or any(len(row) != width for row in self.rows):
            raise ChannelError(
                "a randomisation matrix needs two rows or more, all of one length",
                "give one row per value",
            )
        totals = {sum(row) for row in self.rows}
        if len(totals) > 1:
            raise ChannelError(
                f"the rows of weights sum to different totals ({min(totals)} to {max(totals)})",
                "every answer must be reported as something: make the rows sum to one number",
            )
        if self.total > MAX_TOTAL:
            raise ChannelError(f"the weights sum to {self.total}", "keep them below 2^53")
        for y, column in enumerate(zip(*self.rows, strict=True)):
            if min(column) == 0:
                raise ChannelError(
                    f"report {y} has weight 0 for answer {column.index(0)}",
                    "seeing it would rule that answer out, epsilon would be infinite; "
                    "give every entry a positive weight",
                )
        if width < len(self.rows) or np.linalg.cond(self._matrix()) > MAX_CONDITION:
            raise ChannelError(
                "the randomisation matrix is singular or nearly so",
                "answers with equal rows cannot be told apart in any number of reports; "
                "make the rows differ",
            )
        # Above the range the matrix reports answers as they are; there is no lower limit to
        # check, a matrix that says too little is singular.
        if self.exact_epsilon > MAX_EPSILON:
            check_range(self.exact_epsilon, "the epsilon of the matrix")

    def _matrix(self) -> Floats:
        return np.array(self.rows, dtype=np.float64) / self.total

    @property
    def inputs(self) -> int:
        return len(self.rows)

    @property
    def outputs(self) -> int:
        return len(self.rows[0])

    @property
    def total(self) -> int:
        return sum(self.rows[0])

    @cached_property
    def exact_epsilon(self) -> Decimal:
        columns = zip(*self.rows, strict=True)
        return log_ratio(max(Fraction(max(column), min(column)) for column in columns))

    @property
    def epsilon(self) -> float:
        return rounded_up(self.exact_epsilon)

    @property
    def best_guess(self) -> float:
        best: int = sum(max(column) for column in zip(*self.rows, strict=True))
        return best / (self.total * self.inputs)

    @property
    def worst_guess(self) -> float:
        columns = zip(*self.rows, strict=True)
        return float(max(Fraction(max(column), sum(column)) for column in columns))

    @property
    def forward(self) -> Dense:
        return Dense(self._matrix().T)

    @cached_property
    def inverse(self) -> Dense:
        # pi = (P^T)^-1 lambda: the transpose matters as soon as the matrix is not symmetric.
        return Dense(left_inverse(self._matrix().T))

    def weights(self) -> list[list[int]]:
        return [list(row) for row in self.rows]

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        # Bisection on the running sums of the answer's row, the same number of steps for all:
        # the report is how many of the row's upper ends lie at or below the number.
        ends = np.cumsum(np.array(self.rows, dtype=np.uint64), axis=1)
        width = 1 << (self.outputs - 1).bit_length()
        padded = np.full((self.inputs, width), self.total, dtype=np.uint64)
        padded[:, : self.outputs] = ends
        flat, base = padded.ravel(), codes.astype(np.intp) * width
        found = np.zeros(len(codes), dtype=np.intp)
        step = width >> 1
        while step:
            found += np.where(numbers >= flat[base + found + step - 1], step, 0)
            step >>= 1
        return found

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens | None:
        return self if len(keep) == len(sizes) else None

    def document(self) -> dict[str, Any]:
        return {"kind": "matrix", "weights": self.weights()}


def _integer_rows(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    try:
        listed = [list(row) for row in rows]
    except TypeError:
        raise ChannelError("the weights are not rows of numbers", "give a list of rows") from None
    for row in listed:
        for value in row:
            if not is_whole(value, 0):
                raise ChannelError(f"{value!r} is not a weight", "give integers from 0 up")
    if not listed or not listed[0]:
        raise ChannelError("the randomisation matrix is empty", "give one row per value")
    return tuple(tuple(int(value) for value in row) for row in listed)


def _weights_of(matrix: object, what: str) -> list[list[int]]:
    try:
        listed = [list(row) for row in cast("Sequence[Sequence[Any]]", matrix)]
        rows = [[_fraction(value) for value in row] for row in listed]
    except (TypeError, ValueError, ArithmeticError):
        raise ChannelError(
            f"{what} is not made of rows of numbers", "give a list of rows"
        ) from None
    for i, row in enumerate(rows):
        total = sum(row, Fraction(0))
        if row and min(row) < 0:
            raise ChannelError(
                f"row {i + 1} of {what} holds {float(min(row)):g}", "give probabilities from 0 up"
            )
        if not row or abs(total - 1) > Fraction(1, 10**9):
            raise ChannelError(
                f"row {i + 1} of {what} sums to {float(total):.9g}",
                "each row holds the probabilities of one answer's reports and sums to 1",
            )
    common = math.lcm(*(value.denominator for row in rows for value in row))
    if common <= MAX_TOTAL and all(sum(row) == 1 for row in rows):
        return [[int(value * common) for value in row] for row in rows]
    return [_rounded(row, MAX_TOTAL // 2) for row in rows]


def _fraction(value: Any) -> Fraction:
    # The number a person wrote: 0.1 is a tenth.
    return Fraction(repr(float(value)) if isinstance(value, (float, np.floating)) else value)


def _rounded(row: list[Fraction], total: int) -> list[int]:
    """Integers nearest to a row's shares of a total, which they sum to."""
    exact = [value * total / sum(row) for value in row]
    weights = [math.floor(value) for value in exact]
    # What rounding down left over goes to the largest remainders.
    by_remainder = sorted(range(len(row)), key=lambda j: weights[j] - exact[j])
    for j in by_remainder[: total - sum(weights)]:
        weights[j] += 1
    return weights
