"""Set-valued response for large domains: each answer has a set of likely reports.

Where e^epsilon is small against the number of answers, k-ary response hardly ever says the truth.
It is better to make many reports likely at once for each answer, about one in e^epsilon + 1 of all.
The sets here are the shifts of one cyclic difference set, so the device needs a short list and an
addition, a report stays one small integer, and every two answers are equally hard to tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import EXACT, asked_epsilon, check_hides
from castell.channels.difference_sets import MOST_POINTS, overlap
from castell.channels.document_entries import entries
from castell.channels.kary import power_of_two_for
from castell.channels.protocol import MAX_TOTAL, Words
from castell.channels.set_valued import SetValued
from castell.channels.worst_pair import WorstPair
from castell.errors import ChannelError
from castell.linear.operators import Circulant, Floats


@dataclass(frozen=True)
class CyclicResponse(SetValued):
    """Report y has weight `same` for answer x if y - x is in `shifts` modulo `outputs`.

    Any other report has weight `other`, a power of two. As in k-ary response a number r below
    `total` is a report that has nothing to do with the answer if r >> shift is a report at all; the
    rest of the numbers are dealt out over the answer's set.

    >>> CyclicResponse(5, 7, (0, 1, 3), 3, 1).weights()[2]
    [1, 1, 3, 3, 1, 3, 1]
    """

    kind: ClassVar[str] = "cyclic"
    title: ClassVar[str] = "set-valued randomised response (cyclic difference set)"
    treats_alike: ClassVar[bool] = True

    size: int
    outputs: int
    shifts: tuple[int, ...]
    same: int
    other: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "shifts", tuple(self.shifts))
        for value in (self.size, self.outputs, self.same, self.other, *self.shifts):
            if isinstance(value, bool) or not isinstance(value, int):
                raise ChannelError(f"{value!r} is not a whole number", "use integers")
        if not 2 <= self.size <= self.outputs:
            raise ChannelError(
                f"{self.size} answers with {self.outputs} reports",
                "there must be two answers or more, and a set of reports for each",
            )
        if self.other < 1 or self.other & (self.other - 1) or self.same <= self.other:
            raise ChannelError(
                f"weights {self.same} and {self.other}",
                "the weight inside the set must be larger, the one outside a power of two",
            )
        # Before the set is looked at: a published study must not make a device run out of memory.
        if self.outputs > MOST_POINTS:
            raise ChannelError(f"{self.outputs} reports", f"keep them below {MOST_POINTS + 1}")
        if self.total > MAX_TOTAL:
            raise ChannelError(f"the weights sum to {self.total}", "keep them below 2^53")
        inside = all(0 <= d < self.outputs for d in self.shifts)
        if not inside or list(self.shifts) != sorted(set(self.shifts)):
            raise ChannelError(
                "the set of reports is not in order", "list each number once, rising"
            )
        if self._shared is None or not 0 < len(self.shifts) < self.outputs:
            raise ChannelError(
                "the set of reports is not a cyclic difference set",
                "some answers would be harder to tell apart than others; take one that is",
            )
        check_hides(self.exact_epsilon)

    @classmethod
    def with_epsilon(
        cls, size: int, outputs: int, shifts: Sequence[int], epsilon: object, what: str = "epsilon"
    ) -> CyclicResponse:
        """The channel on these sets that comes closest to an epsilon from below."""
        asked = asked_epsilon(epsilon, what)
        other = power_of_two_for(asked)
        same = int(EXACT.multiply(EXACT.exp(asked), other).to_integral_value(ROUND_FLOOR))
        return cls(size, outputs, tuple(shifts), same, other)

    @cached_property
    def _shared(self) -> int | None:
        return overlap(self.shifts, self.outputs)

    @property
    def total(self) -> int:
        return self.outputs * self.other + len(self.shifts) * (self.same - self.other)

    @property
    def chances(self) -> tuple[float, float]:
        """How often a report lies in the answer's own set, and in that of some other answer."""
        gap, many = self.same - self.other, len(self.shifts)
        shared = self._shared or 0
        own = many * self.same / self.total
        return own, (many * self.other + shared * gap) / self.total

    @property
    def worst_pair(self) -> WorstPair:
        many, shared = len(self.shifts), self._shared or 0
        both, one = shared / self.outputs, (many - shared) / self.outputs
        return WorstPair(self.outputs * self.other / self.total, self.same / self.other, both, one)

    def member(self) -> Circulant:
        return self._operator(np.array(1.0), np.array(0.0))

    def _operator(self, inside: Floats, outside: Floats) -> Circulant:
        every = (self.outputs,)
        return Circulant(
            self.size, self.shifts, np.broadcast_to(inside, every), np.broadcast_to(outside, every)
        )

    @property
    def forward(self) -> Circulant:
        inside, outside = self.same / self.total, self.other / self.total
        return self._operator(np.array(inside), np.array(outside)).transpose()

    @cached_property
    def inverse(self) -> Circulant:
        # A report counts for answer x if it is in x's set, which happens with one chance for x
        # and with another for everybody else.
        own, others = self.chances
        gap = own - others
        # Where answers are fewer than reports, some reports lie in more of their sets than others;
        # what a report adds in all is evened out to one, so that the estimates always sum to one.
        even = (1.0 - (self.holding - self.size * others) / gap) / self.size
        return self._operator((1.0 - others) / gap + even, -others / gap + even)

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        shift = np.uint64(self.other.bit_length() - 1)
        drawn = (numbers >> shift).astype(np.int64)
        above = numbers.astype(np.int64) - self.outputs * self.other
        # Both arms are computed for everyone; nothing here depends on an answer.
        place = np.maximum(above, 0) // (self.same - self.other)
        likely = (codes.astype(np.int64) + np.array(self.shifts)[place]) % self.outputs
        return np.where(above < 0, drawn, likely)

    def document(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "size": self.size,
            "outputs": self.outputs,
            "set": list(self.shifts),
            "same": self.same,
            "other": self.other,
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> CyclicResponse:
        size, outputs, shifts, same, other = entries(
            document, "size", "outputs", "set", "same", "other"
        )
        if not isinstance(shifts, list):
            raise ChannelError(f"the set of reports is {shifts!r}", "list its numbers")
        return cls(size, outputs, tuple(shifts), same, other)
