"""Unary encoding: a bit for each answer, its own mostly on, the others mostly off.

Basic RAPPOR (Erlingsson, Pihur and Korolova 2014) is the symmetric form, in which all bits are
flipped alike (SUE); the optimised form keeps its own bit with a half and switches few others on
(OUE, Wang, Blocki, Li and Jha 2017). Here all bits are drawn at once, by one number: a report is
the integer of its bits, and its weight depends on its own bit and on how many others are on.
Weights of whole reports are rounded so that epsilon is never above what was asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import cached_property
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import EXACT, as_decimal, asked_epsilon, check_hides
from castell.channels.document_entries import entries
from castell.channels.supported import SupportedChannel, check_cells, check_weights
from castell.errors import ChannelError
from castell.linear.operators import Floats
from castell.numbers import is_whole

MOST_BITS = 16
# What whole reports weigh before rounding, all of them together.
_SCALE = 1 << 51


def _floor(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_FLOOR))


@dataclass(frozen=True)
class UnaryResponse(SupportedChannel):
    """`on[c]` weighs a report with its own bit on and c others, `off[c]` one with its own bit off.

    >>> channel = UnaryResponse.symmetric(3, 2.0)
    >>> channel.outputs, 2.0 - 1e-6 < channel.epsilon <= 2.0
    (8, True)
    """

    kind: ClassVar[str] = "unary"
    title: ClassVar[str] = "unary encoding with randomised bits (SUE, OUE, basic RAPPOR)"

    size: int
    on: tuple[int, ...]
    off: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", tuple(self.on))
        object.__setattr__(self, "off", tuple(self.off))
        if not is_whole(self.size, 2) or self.size > MOST_BITS:
            raise ChannelError(
                f"unary encoding of {self.size!r} answers", f"give from 2 to {MOST_BITS}"
            )
        if len(self.on) != self.size or len(self.off) != self.size:
            raise ChannelError(
                "unary encoding needs a weight for each number of bits that are on",
                "give as many as there are answers, with the own bit on and off",
            )
        check_weights(*self.on, *self.off)
        total = sum(
            comb(self.size - 1, c) * (one + none)
            for c, (one, none) in enumerate(zip(self.on, self.off, strict=True))
        )
        check_cells(self.size, 1 << self.size, total)
        check_hides(self.exact_epsilon)
        _ = self.inverse

    @classmethod
    def symmetric(cls, size: int, epsilon: object, what: str = "epsilon") -> UnaryResponse:
        """Basic RAPPOR: every bit is flipped with chance 1 / (e^(epsilon/2) + 1)."""
        asked = asked_epsilon(epsilon, what)
        half = EXACT.exp(EXACT.divide(asked, Decimal(2)))
        flip = EXACT.divide(Decimal(1), EXACT.add(half, Decimal(1)))
        return cls._of_bits(size, 1 - flip, flip, asked)

    @classmethod
    def optimised(cls, size: int, epsilon: object, what: str = "epsilon") -> UnaryResponse:
        """The own bit is on with a half, any other with chance 1 / (e^epsilon + 1)."""
        asked = asked_epsilon(epsilon, what)
        flip = EXACT.divide(Decimal(1), EXACT.add(EXACT.exp(asked), Decimal(1)))
        return cls._of_bits(size, Decimal("0.5"), flip, asked)

    @classmethod
    def rappor(cls, size: int, f: float, p: float, q: float) -> UnaryResponse:
        """One report of RAPPOR: permanent bits with f, then instantaneous ones with p and q.

        Its epsilon is that of one report. All reports of one person together are covered by the
        permanent bits, 2 ln((1 - f/2) / (f/2)), whatever their number.
        """
        half, low, high = (as_decimal(v, "a chance of RAPPOR") for v in (f, p, q))
        kept = (1 - half / 2) * high + half / 2 * low
        other = half / 2 * high + (1 - half / 2) * low
        if not 0 < other < kept < 1:
            raise ChannelError(f"RAPPOR with f {f}, p {p}, q {q}", "let q be above p, both below 1")
        asked = EXACT.ln(EXACT.divide(kept * (1 - other), other * (1 - kept)))
        return cls._of_bits(size, kept, other, asked)

    @classmethod
    def _of_bits(cls, size: int, keep: Decimal, flip: Decimal, asked: Decimal) -> UnaryResponse:
        """Bits that are on with chance `keep`, the own one, and `flip`, each other."""
        if not is_whole(size, 2) or size > MOST_BITS:
            raise ChannelError(f"unary encoding of {size!r} answers", f"give from 2 to {MOST_BITS}")
        others = [flip**c * (1 - flip) ** (size - 1 - c) for c in range(size)]
        off = [max(1, _floor(_SCALE * (1 - keep) * chance)) for chance in others]
        ratio = EXACT.exp(asked)
        # A report with another answer's bit on instead of this one's weighs e^epsilon less.
        on = [_floor(EXACT.multiply(ratio, Decimal(off[c + 1]))) for c in range(size - 1)]
        # With every bit on no two answers are told apart, so this one is free.
        on.append(max(1, _floor(_SCALE * keep * others[size - 1])))
        return cls(size, tuple(on), tuple(off))

    @cached_property
    def _bits(self) -> NDArray[np.int64]:
        reports = np.arange(1 << self.size)
        return (reports[None, :] >> np.arange(self.size)[:, None]) & 1

    def support(self) -> Floats:
        return self._bits.astype(np.float64)

    def weights(self) -> list[list[int]]:
        many = self._bits.sum(axis=0)
        on, off = np.array(self.on), np.array(self.off)
        rows = [
            np.where(bit == 1, on[np.maximum(many - 1, 0)], off[np.minimum(many, self.size - 1)])
            for bit in self._bits
        ]
        return [[int(weight) for weight in row] for row in rows]

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": self.size, "on": list(self.on), "off": list(self.off)}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> UnaryResponse:
        size, on, off = entries(document, "size", "on", "off")
        return cls(size, _weight_list(on), _weight_list(off))


def _weight_list(weights: Any) -> tuple[int, ...]:
    if not isinstance(weights, list):
        raise ChannelError(f"the weights are {weights!r}", "list them")
    return tuple(weights)
