"""The hybrid mechanism for numbers: a window that moves with the answer, or one of two ends.

Wang et al. (2019) use the piecewise mechanism with chance 1 - e^(-epsilon/2) and Duchi's otherwise,
which has next to no noise more for a number at the end of its range than in the middle; the worst
case is better than either's. On a grid of numbers at equal distances both are exact: the weight of
the upper end grows by one `step` from answer to answer, so what it tells of the mean has no bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from math import exp
from typing import Any, ClassVar

import numpy as np

from castell.channels.budget import EXACT, asked_epsilon, check_hides
from castell.channels.document_entries import entries
from castell.channels.kary import KaryResponse
from castell.channels.piecewise import WindowResponse
from castell.channels.supported import check_cells, check_weights
from castell.channels.weighted import WeightedChannel
from castell.errors import ChannelError
from castell.numbers import is_whole

# Below, its authors use Duchi's mechanism alone, which tells no numbers but the two ends apart.
LEAST_EPSILON = Decimal("0.61")
_SCALE = 1 << 46


@dataclass(frozen=True)
class HybridResponse(WeightedChannel):
    """The reports of `window`, then the lower and the upper end.

    `lower` weighs an end for the answer at the other one, and `step` is what it weighs more for
    each answer that is nearer.

    >>> HybridResponse(WindowResponse(3, 5, 3, 4, 1), 2, 1).weights()[0]
    [4, 4, 4, 1, 1, 4, 2]
    """

    kind: ClassVar[str] = "hybrid"
    title: ClassVar[str] = "hybrid mechanism for numbers"
    reports_answers: ClassVar[bool] = False

    window: WindowResponse
    lower: int
    step: int

    def __post_init__(self) -> None:
        check_weights(self.lower, self.step)
        size, reports = self.window.answers_and_reports
        check_cells(size, reports + 2, self.total)
        check_hides(self.exact_epsilon)

    @classmethod
    def with_epsilon(cls, size: int, epsilon: object, what: str = "epsilon") -> HybridResponse:
        asked = asked_epsilon(epsilon, what)
        if asked <= LEAST_EPSILON:
            raise ChannelError(
                f"{what} is {asked}, where the hybrid mechanism is Duchi's alone",
                f"use mechanism harmony on two values, or an epsilon above {LEAST_EPSILON}",
            )
        if not is_whole(size, 3):
            raise ChannelError(
                f"the hybrid mechanism for {size!r} values",
                "give three or more; for two use mechanism harmony",
            )
        plain = WindowResponse.piecewise(size, asked, what)
        # As fine as 2^53 allows, with the ends beside it.
        other = max(1, _SCALE // int(plain.reports * exp(float(asked)) + 1))
        same = _floor(EXACT.multiply(EXACT.exp(asked), Decimal(other)))
        window = WindowResponse(plain.size, plain.reports, plain.width, same, other)
        # The window is used 1 - e^(-epsilon/2) of the time, the ends otherwise.
        odds = 1.0 / (exp(float(asked) / 2.0) - 1.0)
        ends = Decimal(odds * window.total)
        lower = max(1, _floor(EXACT.divide(ends, EXACT.exp(asked) + 1)))
        step = _floor(EXACT.multiply(EXACT.exp(asked) - 1, Decimal(lower)) / (size - 1))
        return cls(window, lower, step)

    def weights(self) -> list[list[int]]:
        size = self.window.size
        up = [self.lower + i * self.step for i in range(size)]
        both = zip(self.window.weights(), reversed(up), up, strict=True)
        return [[*row, low, high] for row, low, high in both]

    def document(self) -> dict[str, Any]:
        inner = self.window.document()
        return {"kind": self.kind, "window": inner, "lower": self.lower, "step": self.step}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> HybridResponse:
        inner, lower, step = entries(document, "window", "lower", "step")
        if not isinstance(inner, dict) or inner.get("kind") != WindowResponse.kind:
            raise ChannelError("the hybrid mechanism has no window", "take it as it was published")
        return cls(WindowResponse.from_document(inner), lower, step)


def harmony(size: int, epsilon: object, what: str = "epsilon") -> KaryResponse:
    """Harmony (Nguyen et al. 2016) and Duchi's mechanism (2018) of one number: one of two ends, to
    which the device has rounded it at random, by binary randomised response."""
    if size != 2:
        raise ChannelError(
            f"Harmony rounds numbers to two ends, and there are {size!r} values",
            'write bins = [0, 100] and rounding = "unbiased"',
        )
    return KaryResponse.with_epsilon(size, epsilon, what)


def number_variance(name: str, x: float, epsilon: float) -> float:
    """What the papers say one report of a number x in [-1, 1] leaves open of it.

    >>> round(number_variance("harmony", 0.0, 1.0), 3), round(number_variance("hybrid", 1, 1.0), 3)
    (4.683, 4.289)
    """
    s, e = exp(epsilon / 2.0), exp(epsilon)
    ends = ((e + 1.0) / (e - 1.0)) ** 2 - x * x
    if name == "harmony":
        return ends
    pieces = x * x / (s - 1.0) + (s + 3.0) / (3.0 * (s - 1.0) ** 2)
    if name == "piecewise":
        return pieces
    share = 1.0 - 1.0 / s
    return float(np.dot([share, 1.0 - share], [pieces, ends]))


def _floor(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_FLOOR))
