"""A coefficient of the answers: whether an even or odd number of them is the second value.

The marginal release of Cormode, Kulkarni and Srivastava (2018), InpHT, draws one Hadamard
coefficient for each respondent, the sign (-1)^(x_1 + ... + x_w) of some attributes with two values,
and reports it by binary randomised response. A table of w attributes is made of the coefficients of
all sets of them. One coefficient of several attributes says nothing of any one of them, and does
not tell their combinations apart: there is no way back out of a single block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.block_margins import no_forward
from castell.channels.document_entries import entries
from castell.channels.kary import KaryResponse
from castell.channels.protocol import Lens, Words
from castell.channels.weighted import WeightedChannel
from castell.errors import ChannelError, QueryError
from castell.linear.operators import Dense, Operator
from castell.numbers import is_whole

MOST_ATTRIBUTES = 10


@dataclass(frozen=True)
class ParityResponse(WeightedChannel):
    """The parity of `attributes` answers of two values each, through k-ary response.

    >>> ParityResponse(2, 3, 1).weights()
    [[3, 1], [1, 3], [1, 3], [3, 1]]
    """

    kind: ClassVar[str] = "parity"
    title: ClassVar[str] = "parity of some answers, randomised (InpHT)"
    reports_answers: ClassVar[bool] = False

    attributes: int
    same: int
    other: int

    def __post_init__(self) -> None:
        if not is_whole(self.attributes, 1) or self.attributes > MOST_ATTRIBUTES:
            raise ChannelError(
                f"the parity of {self.attributes!r} attributes",
                f"give from 1 to {MOST_ATTRIBUTES}",
            )
        _ = self._coin

    @classmethod
    def with_epsilon(
        cls, attributes: int, epsilon: object, what: str = "epsilon"
    ) -> ParityResponse:
        coin = KaryResponse.with_epsilon(2, epsilon, what)
        return cls(attributes, coin.same, coin.other)

    @cached_property
    def _coin(self) -> KaryResponse:
        return KaryResponse(2, self.same, self.other)

    @cached_property
    def odd(self) -> NDArray[np.int64]:
        """For each answer whether its parity is odd."""
        codes = np.arange(1 << self.attributes)
        bits = (codes[:, None] >> np.arange(self.attributes)) & 1
        return np.asarray(bits.sum(axis=1) & 1)

    def tells(self, many: int) -> bool:  # noqa: ARG002
        return self.attributes == 1

    @property
    def parity_gain(self) -> float:
        return self.total / (self.same - self.other)

    @property
    def total(self) -> int:
        return self.same + self.other

    @cached_property
    def exact_epsilon(self) -> Decimal:
        return self._coin.exact_epsilon

    def weights(self) -> list[list[int]]:
        rows = ([self.same, self.other], [self.other, self.same])
        return [list(rows[odd]) for odd in self.odd]

    @cached_property
    def inverse(self) -> Dense:
        if self.attributes > 1:
            raise no_combinations()
        return Dense(self._coin.inverse.dense())

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        return self._coin.respond(self.odd[codes], numbers)

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens:
        return self if len(keep) == len(sizes) else ParityMargin(len(keep))

    def document(self) -> dict[str, Any]:
        weights = {"same": self.same, "other": self.other}
        return {"kind": self.kind, "attributes": self.attributes, **weights}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> ParityResponse:
        return cls(*entries(document, "attributes", "same", "other"))


@dataclass(frozen=True)
class ParityMargin:
    """Some of the attributes of a parity: of them alone it says nothing."""

    has_forward: ClassVar[bool] = False

    attributes: int

    @property
    def forward(self) -> Operator:
        raise no_forward()

    @property
    def inverse(self) -> Operator:
        raise no_combinations()

    @property
    def best_guess(self) -> float:
        return 0.5**self.attributes

    @property
    def worst_guess(self) -> float:
        return self.best_guess


def no_combinations() -> QueryError:
    """What is said where combinations are asked of a parity."""
    return QueryError(
        "a parity does not tell combinations of answers apart",
        "use the method castell, without weights",
    )
