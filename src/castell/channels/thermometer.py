"""Thermometer encoding for ordered answers: a bit for each step that an answer has reached.

Answer x of k sets the first x of k - 1 bits, and every bit is flipped with one chance. Near answers
differ in few bits, so they hide each other better than far ones do; epsilon is that of the two
ends. A report is the integer of its bits, and its weight depends on how many are flipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import EXACT, asked_epsilon, check_hides
from castell.channels.document_entries import entries
from castell.channels.supported import SupportedChannel, check_cells, check_weights
from castell.errors import ChannelError
from castell.linear.operators import Floats
from castell.numbers import is_whole

MOST_BITS = 15
_SCALE = 1 << 51


@dataclass(frozen=True)
class ThermometerResponse(SupportedChannel):
    """`flipped[d]` weighs a report in which d bits are flipped.

    >>> ThermometerResponse(3, (4, 2, 1)).weights()
    [[4, 2, 2, 1], [2, 4, 1, 2], [1, 2, 2, 4]]
    """

    kind: ClassVar[str] = "thermometer"
    title: ClassVar[str] = "thermometer encoding with randomised bits"

    size: int
    flipped: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "flipped", tuple(self.flipped))
        if not is_whole(self.size, 2) or self.size > MOST_BITS + 1:
            raise ChannelError(
                f"a thermometer of {self.size!r} answers", f"give from 2 to {MOST_BITS + 1}"
            )
        if len(self.flipped) != self.size:
            raise ChannelError(
                "a thermometer needs a weight for each number of flipped bits",
                "give as many as there are answers",
            )
        check_weights(*self.flipped)
        total = sum(comb(self.size - 1, d) * weight for d, weight in enumerate(self.flipped))
        check_cells(self.size, 1 << (self.size - 1), total)
        check_hides(self.exact_epsilon)
        _ = self.inverse

    @classmethod
    def with_epsilon(cls, size: int, epsilon: object, what: str = "epsilon") -> ThermometerResponse:
        """Every bit is flipped with one chance, so that the two ends cost epsilon."""
        asked = asked_epsilon(epsilon, what)
        if not is_whole(size, 2) or size > MOST_BITS + 1:
            raise ChannelError(
                f"a thermometer of {size!r} answers", f"give from 2 to {MOST_BITS + 1}"
            )
        bits = size - 1
        step = EXACT.exp(EXACT.divide(asked, Decimal(bits)))
        every = EXACT.power(EXACT.add(step, Decimal(1)), Decimal(bits))
        # From the rarest up, each rounded down: no ratio of two is above what was asked.
        last = max(1, int((_SCALE / every).to_integral_value(ROUND_FLOOR)))
        weights = [
            int(EXACT.multiply(EXACT.power(step, Decimal(k)), last).to_integral_value(ROUND_FLOOR))
            for k in range(bits, 0, -1)
        ]
        return cls(size, (*weights, last))

    def _bits(self) -> NDArray[np.int64]:
        reports = np.arange(1 << (self.size - 1))
        return (reports[None, :] >> np.arange(self.size - 1)[:, None]) & 1

    def support(self) -> Floats:
        # A step reached less the next one: what lies at the answer itself.
        bits = self._bits().astype(np.float64)
        ones, zeros = np.ones((1, bits.shape[1])), np.zeros((1, bits.shape[1]))
        found: Floats = np.concatenate([ones, bits]) - np.concatenate([bits, zeros])
        return found

    def weights(self) -> list[list[int]]:
        bits = self._bits()
        own = np.arange(self.size)[:, None] > np.arange(self.size - 1)[None, :]
        away = (own[:, :, None] != bits[None, :, :]).sum(axis=1)
        weights = np.array(self.flipped)
        return [[int(weight) for weight in weights[row]] for row in away]

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": self.size, "flipped": list(self.flipped)}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> ThermometerResponse:
        size, flipped = entries(document, "size", "flipped")
        if not isinstance(flipped, list):
            raise ChannelError(f"the weights are {flipped!r}", "list them")
        return cls(size, tuple(flipped))
