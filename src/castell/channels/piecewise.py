"""Windows for answers that stand for numbers: reports near the answer are likelier than others.

The piecewise mechanism (Wang et al. 2019) and the square wave (Li et al. 2020) on a grid: there are
more reports than answers, in the same order; those in a window of `width` that moves with the
answer weigh `same`, the others `other`. They differ in how wide window and margin are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import asked_epsilon
from castell.channels.document_entries import entries
from castell.channels.two_weights import TwoWeights, two_weights
from castell.errors import ChannelError
from castell.numbers import is_whole


@dataclass(frozen=True)
class WindowResponse(TwoWeights):
    """
    >>> WindowResponse(3, 5, 3, 4, 1).weights()
    [[4, 4, 4, 1, 1], [1, 4, 4, 4, 1], [1, 1, 4, 4, 4]]
    """

    kind: ClassVar[str] = "window"
    title: ClassVar[str] = "a window of likely numbers (piecewise mechanism, square wave)"

    size: int
    reports: int
    width: int
    same: int
    other: int

    def __post_init__(self) -> None:
        whole = is_whole(self.size, 2) and is_whole(self.reports, 2) and is_whole(self.width, 1)
        if not whole or not self.size <= self.reports - self.width + 1:
            raise ChannelError(
                f"{self.size!r} windows of {self.width!r} in {self.reports!r} reports",
                "let every answer have a window of its own",
            )
        self.check()

    @classmethod
    def piecewise(cls, size: int, epsilon: object, what: str = "epsilon") -> WindowResponse:
        """The piecewise mechanism: windows of (C - 1) / 2C of all, C as in its paper."""
        half = exp(float(asked_epsilon(epsilon, what)) / 2.0)
        # C = (h + 1) / (h - 1), so (C - 1) / 2C = 1 / (h + 1); the answers' steps take the rest.
        return cls._of_share(size, 1.0 / (half + 1.0), epsilon, what)

    @classmethod
    def square_wave(cls, size: int, epsilon: object, what: str = "epsilon") -> WindowResponse:
        """The square wave with the half-width b that its authors find best."""
        e = float(asked_epsilon(epsilon, what))
        b = (e * exp(e) - exp(e) + 1.0) / (2.0 * exp(e) * (exp(e) - 1.0 - e))
        return cls._of_share(size, 2.0 * b / (1.0 + 2.0 * b), epsilon, what)

    @classmethod
    def _of_share(cls, size: int, share: float, epsilon: object, what: str) -> WindowResponse:
        if not is_whole(size, 2):
            raise ChannelError(f"{size!r} answers", "give two or more")
        width = max(1, round((size - 1) * share / (1.0 - share)))
        reports = size - 1 + width
        return cls(size, reports, width, *two_weights(epsilon, reports, what))

    @property
    def answers_and_reports(self) -> tuple[int, int]:
        return self.size, self.reports

    def speaks(self) -> NDArray[np.bool_]:
        steps = (self.reports - self.width) * np.arange(self.size) // (self.size - 1)
        away = np.arange(self.reports)[None, :] - steps[:, None]
        return (away >= 0) & (away < self.width)

    def document(self) -> dict[str, Any]:
        sizes = {"size": self.size, "reports": self.reports, "width": self.width}
        return {"kind": self.kind, **sizes, "same": self.same, "other": self.other}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> WindowResponse:
        return cls(*entries(document, "size", "reports", "width", "same", "other"))
