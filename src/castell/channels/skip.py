"""A question that may be skipped, which shows: the last answer is reported as it is.

Who answers passes through the channel inside, and spends what it costs. Who skips is seen to, in
every report: that is the respondent's own choice, it is not hidden and not part of epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.document_entries import entries
from castell.channels.kary import KaryResponse
from castell.channels.matrix import MatrixResponse
from castell.channels.protocol import Words
from castell.channels.weighted import WeightedChannel
from castell.errors import ChannelError

_INNER = {c.kind: c for c in (KaryResponse, MatrixResponse)}


@dataclass(frozen=True)
class SkipResponse(WeightedChannel):
    """The channel inside for those who answer; one more answer, and one more report, for others.

    Its epsilon and its guesses are about those who answer.

    >>> SkipResponse(KaryResponse(2, 3, 1)).weights()
    [[3, 1, 0], [1, 3, 0], [0, 0, 4]]
    """

    kind: ClassVar[str] = "skip"
    title: ClassVar[str] = "randomised response of those who answer; who skips is seen"
    may_skip: ClassVar[bool] = True

    inner: KaryResponse | MatrixResponse

    def __post_init__(self) -> None:
        if not isinstance(self.inner, (KaryResponse, MatrixResponse)):
            raise ChannelError(
                f"a question that may be skipped has a {type(self.inner).__name__} inside",
                "give it k-ary response, a matrix or a mechanism",
            )

    @property
    def if_answered(self) -> KaryResponse | MatrixResponse:
        return self.inner

    def weights(self) -> list[list[int]]:
        rows = [[*row, 0] for row in self.inner.weights()]
        return [*rows, [0] * self.inner.outputs + [self.inner.total]]

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        # Both arms are computed for everyone, and as many numbers are used whatever the answer.
        last = self.inner.inputs
        made = self.inner.respond(np.minimum(codes, last - 1), numbers)
        return np.where(codes == last, self.inner.outputs, made)

    @cached_property
    def exact_epsilon(self) -> Decimal:
        return self.inner.exact_epsilon

    @property
    def best_guess(self) -> float:
        return self.inner.best_guess

    @property
    def worst_guess(self) -> float:
        return self.inner.worst_guess

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "channel": self.inner.document()}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> SkipResponse:
        (inner,) = entries(document, "channel")
        kind = inner.get("kind") if isinstance(inner, dict) else None
        if not isinstance(kind, str) or kind not in _INNER:
            raise ChannelError(
                f"a question that may be skipped has a channel of kind {kind!r} inside",
                f"use one of {', '.join(_INNER)}",
            )
        return cls(_INNER[kind].from_document(inner))
