"""k-ary randomised response: the answer, or any other value with equal chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import EXACT, asked_epsilon, check_hides, log_ratio, rounded_up
from castell.channels.document_entries import entries
from castell.channels.protocol import MAX_TOTAL, Lens, Traits, Words
from castell.channels.worst_pair import WorstPair
from castell.errors import ChannelError
from castell.linear.operators import Uniform


def power_of_two_for(epsilon: Decimal) -> int:
    """The smaller of two weights, so large that the other can come close to e^epsilon times it.

    The larger one is then at least 2^31 - 1, so rounding it down costs less than 2^-30 of epsilon.
    """
    return 1 << max(0, 31 - int(float(epsilon) / math.log(2)))


@dataclass(frozen=True)
class KaryResponse(Traits):
    """k-ary randomised response: the answer with weight `same`, each other with weight `other`.

    `other` is a power of two. A number r below `total` is turned into a report without a division
    and without looking at the answer: r >> shift is the report if that is a value at all, which
    makes every value equally likely, and otherwise the report is the answer.
    """

    kind: ClassVar[str] = "kary"
    title: ClassVar[str] = "k-ary randomised response"
    draws: ClassVar[int] = 1
    reports_answers: ClassVar[bool] = True
    has_digits: ClassVar[bool] = True
    has_matrix: ClassVar[bool] = True
    has_forward: ClassVar[bool] = True
    treats_alike: ClassVar[bool] = True

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
        check_hides(self.exact_epsilon)

    @classmethod
    def with_epsilon(cls, size: int, epsilon: object, what: str = "epsilon") -> KaryResponse:
        """The channel that comes closest to an epsilon from below.

        >>> KaryResponse.with_epsilon(3, 1.0)
        KaryResponse(size=3, same=2918732888, other=1073741824)
        """
        asked = asked_epsilon(epsilon, what)
        other = power_of_two_for(asked)
        same = int(EXACT.multiply(EXACT.exp(asked), other).to_integral_value(ROUND_FLOOR))
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
        return log_ratio(Fraction(self.same, self.other))

    @property
    def epsilon(self) -> float:
        return rounded_up(self.exact_epsilon)

    @property
    def best_guess(self) -> float:
        return self.same / self.total

    @property
    def worst_guess(self) -> float:
        return self.best_guess  # every report tells as much as any other

    @property
    def forward(self) -> Uniform:
        return Uniform(self.size, self.same / self.total, self.other / self.total)

    @property
    def inverse(self) -> Uniform:
        # P = (p - q) I + q J and J P = J, so the inverse is (I - q J) / (p - q); as integers,
        # (total I - other J) / (same - other).
        gap = self.same - self.other
        return Uniform(self.size, (self.total - self.other) / gap, -self.other / gap)

    @property
    def worst_pair(self) -> WorstPair:
        common = self.size * self.other / self.total
        return WorstPair(common, self.same / self.other, 0.0, 1.0 / self.size)

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
        return {"kind": self.kind, "size": self.size, "same": self.same, "other": self.other}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> KaryResponse:
        return cls(*entries(document, "size", "same", "other"))


@dataclass(frozen=True)
class CoarseResponse:
    """k-ary response on a block, seen by some of its attributes: again two weights.

    It is only ever looked through, never sampled: the device always reports the whole block.
    """

    has_forward: ClassVar[bool] = True

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
    def worst_guess(self) -> float:
        return self.best_guess

    @property
    def forward(self) -> Uniform:
        same, other = self._weights
        return Uniform(self.size, same / self.block.total, other / self.block.total)

    @property
    def inverse(self) -> Uniform:
        same, other = self._weights
        gap = same - other
        return Uniform(self.size, (self.block.total - other) / gap, -other / gap)
