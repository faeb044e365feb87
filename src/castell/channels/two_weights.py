"""Channels with two weights: `same` for reports that speak for the answer, else `other`."""

from __future__ import annotations

from abc import abstractmethod
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from castell.channels.budget import EXACT, asked_epsilon, check_hides, log_ratio
from castell.channels.kary import power_of_two_for
from castell.channels.supported import SupportedChannel, check_cells, check_weights
from castell.errors import ChannelError
from castell.linear.operators import Floats


def two_weights(epsilon: object, outputs: int, what: str = "epsilon") -> tuple[int, int]:
    """The weights that come closest to an epsilon from below, so that a row of them is exact."""
    asked = asked_epsilon(epsilon, what)
    other = power_of_two_for(asked)
    # As fine as 2^53 allows; a row is never more than its likely weight times its reports.
    while other > 1 and int(EXACT.exp(asked) * other) * outputs > 2**53:
        other >>= 1
    return int(EXACT.multiply(EXACT.exp(asked), other).to_integral_value(ROUND_FLOOR)), other


class TwoWeights(SupportedChannel):
    """A channel that is said by which reports speak for which answers."""

    same: int
    other: int

    @property
    @abstractmethod
    def answers_and_reports(self) -> tuple[int, int]:
        """How many there are, before anything is built."""

    @abstractmethod
    def speaks(self) -> NDArray[np.bool_]:
        """Answers by reports; every answer has as many."""

    def check(self) -> None:
        """Whether it hides, and can be taken back out."""
        check_weights(self.same, self.other)
        if self.same <= self.other:
            raise ChannelError(
                f"weights {self.same} and {self.other}", "what speaks for the answer weighs more"
            )
        answers, reports = self.answers_and_reports
        check_cells(answers, reports, 0)
        check_cells(answers, reports, self.total)
        check_hides(self.exact_epsilon)
        _ = self.inverse

    @cached_property
    def exact_epsilon(self) -> Decimal:
        return log_ratio(Fraction(self.same, self.other))

    def support(self) -> Floats:
        return self.speaks().astype(np.float64)

    def weights(self) -> list[list[int]]:
        return [[self.same if hit else self.other for hit in row] for row in self.speaks().tolist()]
