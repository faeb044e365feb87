"""Any randomisation matrix a user gives, as integer weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np

from castell.channels.budget import check_hides
from castell.channels.document_entries import entries
from castell.channels.protocol import MAX_TOTAL
from castell.channels.weighted import WeightedChannel
from castell.errors import ChannelError
from castell.numbers import is_whole

# A matrix worse conditioned than this returns noise only.
MAX_CONDITION = 1e8


@dataclass(frozen=True)
class MatrixResponse(WeightedChannel):
    """Any randomisation matrix: row x holds the weights of the reports of answer x.

    >>> channel = MatrixResponse([[8, 2], [3, 7]])
    >>> round(channel.epsilon, 6), round(math.log(7 / 2), 6)  # report 1 tells them apart best
    (1.252763, 1.252763)
    """

    kind: ClassVar[str] = "matrix"
    title: ClassVar[str] = "randomised response by a matrix of its own"

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
        check_hides(self.exact_epsilon)

    def weights(self) -> list[list[int]]:
        return [list(row) for row in self.rows]

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "weights": self.weights()}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> MatrixResponse:
        return cls(*entries(document, "weights"))


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
            f"{what} is not made of rows of numbers", "give a list of rows, or a channel"
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
    return [_round_row(row, MAX_TOTAL // 2) for row in rows]


def _fraction(value: Any) -> Fraction:
    # The number a person wrote: 0.1 is a tenth.
    return Fraction(repr(float(value)) if isinstance(value, (float, np.floating)) else value)


def _round_row(row: list[Fraction], total: int) -> list[int]:
    """Integers nearest to a row's shares of a total, which they sum to."""
    exact = [value * total / sum(row) for value in row]
    weights = [math.floor(value) for value in exact]
    # What rounding down left over goes to the largest remainders.
    by_remainder = sorted(range(len(row)), key=lambda j: weights[j] - exact[j])
    for j in by_remainder[: total - sum(weights)]:
        weights[j] += 1
    return weights
