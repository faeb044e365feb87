"""Channels: randomised response as exact integer weights.

A channel says with what probability an answer x is reported as y: weight(x, y) / total, all of
them integers. The device that samples, the server that inverts and the budget that is stated all
use the same integers, so no rounding stands between the claim and what happens.

>>> channel = KaryResponse.with_epsilon(2, 1.0)
>>> channel.epsilon <= 1.0 and 1.0 - channel.epsilon < 2**-30
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from castell.errors import ChannelError
from castell.operators import Dense, Floats, Operator, Uniform

Words = NDArray[np.uint64]

# Every weight and total stays an integer that JSON and JavaScript hold exactly.
MAX_TOTAL = 2**53
# Below, the report says next to nothing; above, it says the answer. Neither is a privacy choice.
MIN_EPSILON = Decimal(2) ** -20
MAX_EPSILON = Decimal(32)
# A matrix worse conditioned than this returns noise only.
MAX_CONDITION = 1e8

_EXACT = Context(prec=60, rounding=ROUND_FLOOR)


class Lens(Protocol):
    """How answers look from the server: a linear map there, one back, and what a guess gains."""

    @property
    def forward(self) -> Operator:
        """From the distribution of answers to that of reports."""
        ...

    @property
    def inverse(self) -> Operator:
        """From the distribution of reports back to that of answers."""
        ...

    @property
    def best_guess(self) -> float:
        """How often the best guess at a uniform answer is right after seeing its report."""
        ...


class Channel(Lens, Protocol):
    """What a block of attributes passes through on the device."""

    @property
    def inputs(self) -> int:
        """How many answers there are."""
        ...

    @property
    def outputs(self) -> int:
        """How many reports there are."""
        ...

    @property
    def total(self) -> int:
        """What the weights of one answer sum to."""
        ...

    @property
    def exact_epsilon(self) -> Decimal:
        """The privacy loss of one report, from the weights alone."""
        ...

    def weights(self) -> list[list[int]]:
        """The whole matrix; small channels only."""
        ...

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        """The reports of some answers, given numbers drawn uniformly below `total`."""
        ...

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens | None:
        """The lens on some of the attributes of a block alone, or None if there is none.

        `sizes` are the attributes' domain sizes and `keep` which of them are looked at.
        """
        ...

    def document(self) -> dict[str, Any]:
        """The channel as published."""
        ...


def as_decimal(epsilon: object, what: str = "epsilon") -> Decimal:
    """An epsilon as the decimal number a person wrote, checked to be a usable one.

    >>> as_decimal(0.1) + as_decimal(0.2) == as_decimal(0.3)
    True
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float, Decimal, np.number)):
        raise ChannelError(f"{what} is {epsilon!r}", "give a number, for example 1.0")
    value = epsilon if isinstance(epsilon, Decimal) else Decimal(repr(float(epsilon)))
    if not value.is_finite() or value <= 0:
        raise ChannelError(
            f"{what} is {epsilon}",
            "give a positive, finite number: 0 would say nothing, infinity would hide nothing",
        )
    return value


def _check_range(epsilon: Decimal, what: str) -> None:
    if epsilon > MAX_EPSILON:
        raise ChannelError(
            f"{what} is {epsilon:.6g}, above {MAX_EPSILON}",
            "that would report the answer as it is; 0.5 to 4 is usual, 8 is already weak",
        )
    if epsilon < MIN_EPSILON:
        raise ChannelError(
            f"{what} is {epsilon:.3g}, below 2^-20",
            "no number of respondents makes up for that; give it a larger share",
        )


@dataclass(frozen=True)
class KaryResponse:
    """k-ary randomised response: the answer with weight `same`, each other with weight `other`.

    `other` is a power of two. A number r below `total` is turned into a report without a division
    and without looking at the answer: r >> shift is the report if that is a value at all, which
    makes every value equally likely, and otherwise the report is the answer.
    """

    size: int
    same: int
    other: int

    def __post_init__(self) -> None:
        for value in (self.size, self.same, self.other):
            if isinstance(value, bool) or not isinstance(value, int):
                raise ChannelError(f"{value!r} is not an integer weight", "use whole numbers")
        if self.size < 2 or self.other < 1 or self.other & (self.other - 1):
            raise ChannelError(
                f"k-ary response with size {self.size} and weight {self.other}",
                "it needs two values or more and a power of two as the weight of the others",
            )
        if self.same <= self.other:
            raise ChannelError(
                f"the answer has weight {self.same} and any other {self.other}",
                "the answer must weigh more, or the matrix is singular",
            )
        if self.total > MAX_TOTAL:
            raise ChannelError(
                f"a block of {self.size:,} combinations is too large for exact weights",
                "split it into smaller clusters",
            )

    @classmethod
    def with_epsilon(cls, size: int, epsilon: object, what: str = "epsilon") -> KaryResponse:
        """The channel that comes closest to an epsilon from below.

        >>> KaryResponse.with_epsilon(3, 1.0)
        KaryResponse(size=3, same=2918732888, other=1073741824)
        """
        asked = as_decimal(epsilon, what)
        _check_range(asked, what)
        # `same` is at least 2^31 - 1, so rounding it down costs less than 2^-30 of epsilon.
        shift = max(0, 31 - int(float(asked) / math.log(2)))
        other = 1 << shift
        same = int((_EXACT.exp(asked) * other).to_integral_value(ROUND_FLOOR))
        return cls(size, same, other)

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        return self.size

    @property
    def total(self) -> int:
        return self.same + (self.size - 1) * self.other

    @cached_property
    def exact_epsilon(self) -> Decimal:
        return _log_ratio(Fraction(self.same, self.other))

    @property
    def epsilon(self) -> float:
        return rounded_up(self.exact_epsilon)

    @property
    def best_guess(self) -> float:
        return self.same / self.total

    @property
    def forward(self) -> Uniform:
        return Uniform(self.size, self.same / self.total, self.other / self.total)

    @property
    def inverse(self) -> Uniform:
        # P = (p - q) I + q J and J P = J, so the inverse is (I - q J) / (p - q); as integers,
        # (total I - other J) / (same - other).
        gap = self.same - self.other
        return Uniform(self.size, (self.total - self.other) / gap, -self.other / gap)

    def weights(self) -> list[list[int]]:
        line = range(self.size)
        return [[self.same if x == y else self.other for y in line] for x in line]

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        drawn = numbers >> np.uint64(self.other.bit_length() - 1)
        # Both arms are computed for everyone; nothing here depends on an answer.
        return np.where(drawn < self.size, drawn.astype(codes.dtype), codes)

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens:
        kept = math.prod(sizes[i] for i in keep)
        if kept == self.size:
            return self
        # Each kept combination stands for `merged` of the block's: reporting the same one happens
        # through the answer itself or any of the others merged with it.
        return CoarseResponse(self, kept, self.size // kept)

    def document(self) -> dict[str, Any]:
        return {"kind": "kary", "size": self.size, "same": self.same, "other": self.other}


@dataclass(frozen=True)
class CoarseResponse:
    """k-ary response on a block, seen by some of its attributes: again two weights.

    It is only ever looked through, never sampled: the device always reports the whole block.
    """

    block: KaryResponse
    size: int
    merged: int

    @property
    def _weights(self) -> tuple[int, int]:
        other = self.block.other
        return self.block.same + (self.merged - 1) * other, self.merged * other

    @property
    def best_guess(self) -> float:
        return self._weights[0] / self.block.total

    @property
    def forward(self) -> Uniform:
        same, other = self._weights
        return Uniform(self.size, same / self.block.total, other / self.block.total)

    @property
    def inverse(self) -> Uniform:
        same, other = self._weights
        gap = same - other
        return Uniform(self.size, (self.block.total - other) / gap, -other / gap)


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
            _check_range(self.exact_epsilon, "the epsilon of the matrix")

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
        return _log_ratio(max(Fraction(max(column), min(column)) for column in columns))

    @property
    def epsilon(self) -> float:
        return rounded_up(self.exact_epsilon)

    @property
    def best_guess(self) -> float:
        best: int = sum(max(column) for column in zip(*self.rows, strict=True))
        return best / (self.total * self.inputs)

    @property
    def forward(self) -> Dense:
        return Dense(self._matrix().T)

    @cached_property
    def inverse(self) -> Dense:
        # pi = (P^T)^-1 lambda: the transpose matters as soon as the matrix is not symmetric.
        # For a matrix with more reports than answers this is the least-squares left inverse.
        return Dense(np.asarray(np.linalg.pinv(self._matrix().T), dtype=np.float64))

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


def channel_of(document: Any) -> KaryResponse | MatrixResponse:
    """The channel a published study describes."""
    kind = document.get("kind") if isinstance(document, dict) else None
    keys = set(document) - {"kind"} if isinstance(document, dict) else set()
    if kind == "kary" and keys == {"size", "same", "other"}:
        return KaryResponse(document["size"], document["same"], document["other"])
    if kind == "matrix" and keys == {"weights"}:
        return MatrixResponse(document["weights"])
    raise ChannelError(
        f"a channel of kind {kind!r} is unknown here", "use a newer castell, or a kary or matrix"
    )


def _integer_rows(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    try:
        listed = [list(row) for row in rows]
    except TypeError:
        raise ChannelError("the weights are not rows of numbers", "give a list of rows") from None
    for row in listed:
        for value in row:
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not whole or value < 0:
                raise ChannelError(f"{value!r} is not a weight", "give integers from 0 up")
    if not listed or not listed[0]:
        raise ChannelError("the randomisation matrix is empty", "give one row per value")
    return tuple(tuple(int(value) for value in row) for row in listed)


def _weights_of(matrix: object, what: str) -> list[list[int]]:
    try:
        listed = [list(row) for row in cast("Sequence[Sequence[Any]]", matrix)]
        rows = [[_fraction(value) for value in row] for row in listed]
    except (TypeError, ValueError, OverflowError):
        raise ChannelError(
            f"{what} is not made of rows of numbers", "give a list of rows"
        ) from None
    for i, row in enumerate(rows):
        if not row or min(row) < 0 or abs(sum(row) - 1) > Fraction(1, 10**9):
            raise ChannelError(
                f"row {i + 1} of {what} sums to {float(sum(row)):.9g}",
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


def _log_ratio(ratio: Fraction) -> Decimal:
    return _EXACT.ln(_EXACT.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))


def rounded_up(value: Decimal) -> float:
    """The smallest float that is not below a number: a loss is never understated.

    >>> rounded_up(Decimal("0.1")) >= Decimal("0.1")
    True
    """
    nearest = float(value)
    return nearest if Decimal(nearest) >= value else math.nextafter(nearest, math.inf)
