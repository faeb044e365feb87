"""No randomisation at all: the answer as it is, for attributes that are declared public.

What is known anyway (the region of a sampling frame, the arm of an experiment) needs no noise. This
channel is the identity. Its epsilon is infinite, so that whoever forgets that it lies outside the
budget gets infinity and not a number that understates it; only `Design`, which knows which
attributes are declared public, leaves it out. No other attribute can have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from numpy.typing import NDArray

from castell.channels.document_entries import entries
from castell.channels.protocol import MAX_TOTAL, Lens, Traits, Words
from castell.errors import ChannelError
from castell.linear.operators import Uniform
from castell.numbers import is_whole


@dataclass(frozen=True)
class ClearResponse(Traits):
    """The answer itself, always."""

    kind: ClassVar[str] = "clear"
    title: ClassVar[str] = "none: a public attribute, sent as it is"
    is_public: ClassVar[bool] = True
    draws: ClassVar[int] = 1
    reports_answers: ClassVar[bool] = True
    has_digits: ClassVar[bool] = True
    has_matrix: ClassVar[bool] = True
    has_forward: ClassVar[bool] = True
    total: ClassVar[int] = 1
    exact_epsilon: ClassVar[Decimal] = Decimal("Infinity")
    best_guess: ClassVar[float] = 1.0
    worst_guess: ClassVar[float] = 1.0

    size: int

    def __post_init__(self) -> None:
        if not is_whole(self.size, 2) or type(self.size) is not int or self.size > MAX_TOTAL:
            raise ChannelError(
                f"a public attribute of {self.size!r} values", "it needs two values or more"
            )

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        return self.size

    @property
    def forward(self) -> Uniform:
        return Uniform(self.size, 1.0, 0.0)

    @property
    def inverse(self) -> Uniform:
        return self.forward

    def weights(self) -> list[list[int]]:
        line = range(self.size)
        return [[int(x == y) for y in line] for x in line]

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:  # noqa: ARG002
        return codes

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens:  # noqa: ARG002
        return self  # it is on one attribute, which is the whole of it

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "size": self.size}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> ClearResponse:
        return cls(*entries(document, "size"))
