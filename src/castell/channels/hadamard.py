"""Hadamard response for domains too large for a list of sets: a set is computed from its answer.

Each answer has a set of likely reports, half of the columns of its group in which its row of a
Hadamard matrix is +1 (Acharya, Sun and Zhang 2019). A device finds the k-th of them by putting one
bit into k, and a server inverts a million values by a fast transform, so nothing is listed. With
e^epsilon = r and g groups a cell is estimated with variance (r + 2g - 1)^2 / (g (r - 1)^2) for each
report, if answers are spread evenly; it is least, 8 / (r - 1), with (r - 1) / 2 groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR
from functools import cached_property
from math import exp, inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import EXACT, asked_epsilon, check_hides
from castell.channels.document_entries import entries
from castell.channels.kary import power_of_two_for
from castell.channels.protocol import MAX_TOTAL, Words
from castell.channels.set_valued import SetValued
from castell.channels.worst_pair import WorstPair
from castell.errors import ChannelError
from castell.linear.operators import Floats
from castell.linear.walsh import Walsh, even_parity

# Weights that leave less than 2^-30 of epsilon open sum to at most 2^53 up to here.
MOST_REPORTS = 1 << 21


@dataclass(frozen=True)
class HadamardResponse(SetValued):
    """Report (group, column) has weight `same` for the answers of its group whose row is +1 there.

    Any other report has weight `other`, a power of two. Answer x is in group x % groups, so that
    values at the head of a list, often the frequent ones, do not fall into one group; its row of
    the Hadamard matrix is x // groups + 1. As in k-ary response a number r below `total` is a
    report that has nothing to do with the answer if r >> shift is a report at all; the rest of the
    numbers are dealt out over the answer's set.

    >>> HadamardResponse(3, 1, 3, 1).weights()
    [[3, 1, 3, 1], [3, 3, 1, 1], [3, 1, 1, 3]]
    """

    kind: ClassVar[str] = "hadamard"
    title: ClassVar[str] = "Hadamard response"

    size: int
    groups: int
    same: int
    other: int

    def __post_init__(self) -> None:
        for value in (self.size, self.groups, self.same, self.other):
            if isinstance(value, bool) or not isinstance(value, int):
                raise ChannelError(f"{value!r} is not a whole number", "use integers")
        if not 1 <= self.groups <= self.size or self.size < 2:
            raise ChannelError(
                f"{self.size} answers in {self.groups} groups",
                "there must be two answers or more, and one or more in each group",
            )
        if self.other < 1 or self.other & (self.other - 1) or self.same <= self.other:
            raise ChannelError(
                f"weights {self.same} and {self.other}",
                "the weight inside the set must be larger, the one outside a power of two",
            )
        # Before anything is worked out: a published study must not make a device run out of memory.
        if self.outputs > MOST_REPORTS or self.total > MAX_TOTAL:
            raise ChannelError(
                f"{self.size:,} answers make {self.outputs:,} reports whose weights sum to "
                f"{self.total:,}",
                f"keep the reports at or below {MOST_REPORTS:,} and the sum below 2^53: merge rare "
                "answers",
            )
        check_hides(self.exact_epsilon)

    @classmethod
    def with_epsilon(
        cls, size: int, epsilon: object, what: str = "epsilon", *, groups: int | None = None
    ) -> HadamardResponse:
        """The channel that comes closest to an epsilon from below, with the best number of groups.

        >>> channel = HadamardResponse.with_epsilon(1_000_000, 4.0)
        >>> channel.groups, channel.outputs
        (27, 1769472)
        """
        asked = asked_epsilon(epsilon, what)
        other = power_of_two_for(asked)
        same = int(EXACT.multiply(EXACT.exp(asked), other).to_integral_value(ROUND_FLOOR))
        return cls(size, best_groups(size, float(asked)) if groups is None else groups, same, other)

    @property
    def order(self) -> int:
        """Of the Hadamard matrix; its first row, all ones, tells nothing and is nobody's."""
        return order_of(self.size, self.groups)

    @property
    def outputs(self) -> int:
        return self.groups * self.order

    @property
    def total(self) -> int:
        return self.outputs * self.other + self.order // 2 * (self.same - self.other)

    @property
    def worst_pair(self) -> WorstPair:
        # Sets of different groups share nothing, which is worse than half of a set.
        inside = self.order / 2 / self.outputs
        both = inside / 2 if self.groups == 1 else 0.0
        common = self.outputs * self.other / self.total
        return WorstPair(common, self.same / self.other, both, inside - both)

    def member(self) -> Walsh:
        return self._operator(np.array(1.0), np.array(0.0), np.array(0.0))

    def _operator(self, inside: Floats, outside: Floats, beyond: Floats) -> Walsh:
        every = (self.outputs,)
        return Walsh(
            self.size,
            self.groups,
            self.order,
            np.broadcast_to(inside, every),
            np.broadcast_to(outside, every),
            np.broadcast_to(beyond, every),
        )

    @property
    def forward(self) -> Walsh:
        inside, outside = np.array(self.same / self.total), np.array(self.other / self.total)
        return self._operator(inside, outside, outside).transpose()

    @cached_property
    def inverse(self) -> Walsh:
        # A report in the answer's set counts for it, one in the rest of its group against it.
        # Other answers' reports do both equally often, of the same group or not.
        gap = self.order // 2 * (self.same - self.other) / self.total
        numbers = np.bincount(np.arange(self.size) % self.groups, minlength=self.groups)
        excess = 2 * self.holding - np.repeat(numbers, self.order)
        # What a report adds in all is evened out to one, so that the estimates always sum to one.
        even = (1.0 - excess / gap) / self.size
        return self._operator(1.0 / gap + even, -1.0 / gap + even, even)

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        shift = np.uint64(self.other.bit_length() - 1)
        drawn = (numbers >> shift).astype(np.int64)
        above = numbers.astype(np.int64) - self.outputs * self.other
        # Both arms are computed for everyone; nothing here depends on an answer.
        place = np.maximum(above, 0) // (self.same - self.other)
        row, group = np.divmod(codes.astype(np.int64), self.groups)
        row += 1
        # The place gets one more bit, where the row has its highest, so that the two agree in an
        # even number of ones: every such column comes once.
        bit = np.frexp(row.astype(np.float64))[1].astype(np.int64) - 1
        column = ((place >> bit) << (bit + 1)) | (place & ((1 << bit) - 1))
        column |= (~even_parity(column & row)).astype(np.int64) << bit
        return np.where(above < 0, drawn, group * self.order + column)

    def document(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "size": self.size,
            "groups": self.groups,
            "same": self.same,
            "other": self.other,
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> HadamardResponse:
        return cls(*entries(document, "size", "groups", "same", "other"))


def best_groups(size: int, epsilon: float) -> int:
    """The number of groups with the least predicted variance.

    Where the reports would be too many, as many groups as fill half as large a matrix.
    """
    below = max(1, int((exp(epsilon) - 1.0) / 2.0))
    groups = below if _noise(below, epsilon) <= _noise(below + 1, epsilon) else below + 1
    groups = min(size, groups)
    order = order_of(size, groups)
    while groups * order > MOST_REPORTS and order > 4:
        order //= 2
        groups = -(-size // (order - 1))
    return groups


def order_of(size: int, groups: int) -> int:
    """The smallest power of two above the answers of the fullest group."""
    return 1 << (-(-size // groups)).bit_length()


def _noise(groups: int, epsilon: float) -> float:
    ratio = exp(epsilon)
    return (ratio + 2 * groups - 1) ** 2 / (groups * (ratio - 1) ** 2)


def hadamard_noise(size: int, epsilon: float) -> float:
    """The variance of a cell for each report, if answers are spread evenly; inf if too many.

    >>> round(hadamard_noise(1_000_000, 4.0), 3), round(hadamard_noise(1_000_000, 1.0), 2)
    (0.149, 4.68)
    """
    groups = best_groups(size, epsilon)
    return inf if groups * order_of(size, groups) > MOST_REPORTS else _noise(groups, epsilon)
