"""Bloom filters with every bit randomised: the reports of RAPPOR and of LoPub.

Each value of an attribute sets the bits that five hash functions name, of 64; the hash functions
are the same for everyone, and what they give is published with the study. The device then flips
each bit with one probability, and sends the 64 bits as one integer.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import combinations, count
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import EXACT, asked_epsilon, log_ratio, rounded_up
from castell.channels.document_entries import entries
from castell.channels.protocol import MAX_TOTAL, Lens, Traits, Words
from castell.errors import ChannelError
from castell.linear.operators import Floats, Operator

BITS = 64
HASHES = 5
MOST_KINDS = 1 << 14  # of reports; more are not worth the wait
_UNSEEN = "a Bloom filter has no matrix"
_ASK = "use a method that reads the bits (castell.methods_for(study) names them)"


@dataclass(frozen=True)
class BloomResponse(Traits):
    """Each bit of a value's filter is sent as it is with weight `same`, flipped with `other`.

    Two values' reports differ in likelihood only at the bits where their filters differ, by at
    most same / other for each. So epsilon is the largest number of such bits between any two
    values (`distance`) times ln(same / other), exactly. The usual accounting, 2 h ln((2 - f) / f)
    with f = 2 other / (same + other), takes 2 h for that number, which it is only if no two hash
    functions meet: this one is never larger (`original_epsilon` is the other).

    >>> channel = BloomResponse(((0, 1), (1, 2)), same=3, other=1)
    >>> channel.distance, round(channel.epsilon, 6), round(2 * math.log(3), 6)
    (2, 2.197225, 2.197225)
    """

    kind: ClassVar[str] = "bloom"
    title: ClassVar[str] = "randomised Bloom filter (RAPPOR)"
    draws: ClassVar[int] = BITS  # a number for each bit
    reports_answers: ClassVar[bool] = False
    has_digits: ClassVar[bool] = False
    has_matrix: ClassVar[bool] = False
    has_forward: ClassVar[bool] = False

    filters: tuple[tuple[int, ...], ...]
    same: int
    other: int

    def __init__(self, filters: Sequence[Sequence[int]], same: int, other: int) -> None:
        object.__setattr__(self, "filters", _check_filters(filters))
        object.__setattr__(self, "same", same)
        object.__setattr__(self, "other", other)
        for value in (same, other):
            if isinstance(value, bool) or not isinstance(value, int):
                raise ChannelError(f"{value!r} is not an integer weight", "use whole numbers")
        if not 0 < other < same or self.total > MAX_TOTAL:
            raise ChannelError(
                f"a bit is kept with weight {same} and flipped with {other}",
                "it must be kept more often than flipped, with weights below 2^53 in all",
            )

    @classmethod
    def with_epsilon(
        cls, filters: Sequence[Sequence[int]], epsilon: object, what: str = "epsilon"
    ) -> BloomResponse:
        """The channel that comes closest to an epsilon from below, by less than 2^-30."""
        asked = asked_epsilon(epsilon, what)
        distance = _distance(_check_filters(filters))
        each = EXACT.divide(asked, Decimal(distance))
        # `same` is at least 2^37 - 1: rounding it down costs less than 2^-36 at each of 64 bits.
        other = 1 << max(0, 37 - int(float(each) / math.log(2)))
        same = int(EXACT.multiply(EXACT.exp(each), other).to_integral_value(ROUND_FLOOR))
        return cls(filters, same, other)

    @property
    def inputs(self) -> int:
        return len(self.filters)

    @property
    def outputs(self) -> int:
        return 1 << BITS

    @property
    def total(self) -> int:
        return self.same + self.other

    @cached_property
    def distance(self) -> int:
        """The most bits in which the filters of two values differ."""
        return _distance(self.filters)

    @cached_property
    def exact_epsilon(self) -> Decimal:
        return EXACT.multiply(log_ratio(Fraction(self.same, self.other)), Decimal(self.distance))

    @property
    def epsilon(self) -> float:
        return rounded_up(self.exact_epsilon)

    @property
    def original_epsilon(self) -> float:
        """What RAPPOR and LoPub would state: 2 h ln((2 - f) / f)."""
        most = max(len(bits) for bits in self.filters)
        return 2 * max(most, HASHES) * float(log_ratio(Fraction(self.same, self.other)))

    @property
    def best_guess(self) -> float:
        """Exact for few values; for many (`guess_is_exact` is false) at most this."""
        return self.worst_guess if self._average_guess is None else self._average_guess

    @property
    def worst_guess(self) -> float:
        # The report that is a value's own filter is the one that says most for it: every bit that
        # tells it from another value speaks against that one.
        odds, values = self.other / self.same, [set(bits) for bits in self.filters]
        return max(1.0 / sum(odds ** len(one ^ two) for two in values) for one in values)

    @property
    def guess_is_exact(self) -> bool:
        """Whether `best_guess` is the average over all reports, not only an upper bound."""
        return self._average_guess is not None

    @cached_property
    def _average_guess(self) -> float | None:
        """The best guess by counting reports, alike if as many bits fit each value."""
        telling = [row for row in self.matrix.astype(np.int64) if 0 < row.sum() < self.inputs]
        fitting, reports = np.zeros((1, self.inputs), dtype=np.int64), np.array([1.0])
        for row in telling:
            both = np.concatenate([fitting + row, fitting + 1 - row])
            fitting, same = np.unique(both, axis=0, return_inverse=True)
            reports = np.bincount(same.ravel(), np.tile(reports, 2)).astype(np.float64)
            if len(reports) > MOST_KINDS:
                return None
        most, flip = fitting.max(axis=1), self.other / self.total
        chance = (1.0 - flip) ** most * flip ** (len(telling) - most)
        return float(reports @ chance) / self.inputs

    @property
    def influence(self) -> float:
        """The most one report adds to a share in the least-squares fit of the bits' rates."""
        flip = self.other / self.total
        weights = np.linalg.pinv(self.matrix)
        most = np.where(weights > 0, weights * (1 - flip), -weights * flip).sum(axis=1)
        return float(most.max() / (1 - 2 * flip))

    @cached_property
    def matrix(self) -> Floats:
        """The filters as columns of zeros and ones, one for each value."""
        result = np.zeros((BITS, self.inputs))
        for x, bits in enumerate(self.filters):
            result[list(bits), x] = 1.0
        return result

    @property
    def forward(self) -> Operator:
        raise ChannelError(_UNSEEN, _ASK)

    @property
    def inverse(self) -> Operator:
        raise ChannelError(_UNSEEN, _ASK)

    def weights(self) -> list[list[int]]:
        raise ChannelError(_UNSEEN, _ASK)

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        true = np.array([sum(1 << bit for bit in bits) for bits in self.filters], dtype="<u8")
        # Every bit takes one number, and whether it is flipped has nothing to do with the answer.
        flipped = (numbers < np.uint64(self.other)).reshape(-1, BITS)
        flips = np.packbits(flipped, axis=1, bitorder="little").view("<u8").ravel()
        return np.asarray(true[codes] ^ flips)

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens | None:  # noqa: ARG002
        raise ChannelError("the reports are Bloom filters, which no table of answers fits", _ASK)

    def document(self) -> dict[str, Any]:
        filters = [list(bits) for bits in self.filters]
        return {"kind": self.kind, "filters": filters, "same": self.same, "other": self.other}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> BloomResponse:
        return cls(*entries(document, "filters", "same", "other"))


def bloom_filters(attribute: str, values: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The bits each value sets; other hash functions are taken until no two values share all.

    >>> bloom_filters("sex", ["Female", "Male"])
    ((28, 37, 38, 40, 62), (15, 46, 48, 53))
    """
    for family in count():
        found = tuple(
            tuple(sorted({_hash(f"{family}\0{attribute}\0{v}\0{i}") for i in range(HASHES)}))
            for v in values
        )
        if len(set(found)) == len(found):
            return found
    raise AssertionError("count() ends never")


def _hash(text: str) -> int:
    return hashlib.sha256(text.encode()).digest()[0] % BITS


def _distance(filters: tuple[tuple[int, ...], ...]) -> int:
    return max(len(set(one) ^ set(two)) for one, two in combinations(filters, 2))


def _check_filters(filters: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    try:
        found = tuple(tuple(bits) for bits in filters)
    except TypeError:
        raise ChannelError("the filters are no lists of bits", "list the bits of each") from None
    for bits in found:
        whole = all(type(bit) is int for bit in bits)
        if not bits or not whole or list(bits) != sorted(set(bits)) or min(bits) < 0:
            raise ChannelError(f"{bits!r} is not a filter", "list the bits it sets, in order")
        if max(bits) >= BITS:
            raise ChannelError(f"a filter sets bit {max(bits)}", f"bits run from 0 to {BITS - 1}")
    if len(found) < 2 or len(set(found)) < len(found):
        raise ChannelError(
            "two values have one filter, or there is one value only",
            "give every value a filter of its own, or nobody can tell them apart",
        )
    return found
