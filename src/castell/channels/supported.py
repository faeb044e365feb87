"""Channels whose reports speak for some answers, as those of most mechanisms do.

Such a report is read as the literature reads it: for each answer it counts by whether, or how much,
it speaks for it (`support`), and the counts are taken back out by a matrix as small as the answers
are many. Then what a report adds in all is evened out to one, so that estimates sum to one; that
takes a share of about one in as many as there are answers off the variance.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import ClassVar

import numpy as np

from castell.channels.matrix import MAX_CONDITION
from castell.channels.protocol import MAX_TOTAL
from castell.channels.weighted import WeightedChannel
from castell.errors import ChannelError
from castell.linear.operators import Dense, Floats
from castell.numbers import is_whole

# The whole matrix is built.
MOST_CELLS = 1 << 20


class SupportedChannel(WeightedChannel):
    """A channel by its weights and by what each report says for each answer."""

    # A report is none of the answers, even where there happen to be as many of both.
    reports_answers: ClassVar[bool] = False

    @abstractmethod
    def support(self) -> Floats:
        """Answers by reports: how much a report speaks for an answer."""

    @cached_property
    def inverse(self) -> Dense:
        support, matrix = self.support(), self._matrix()
        known = support @ matrix.T
        if np.linalg.cond(known) > MAX_CONDITION:
            raise ChannelError(
                "some answers cannot be told apart by these reports",
                "take a larger epsilon, or fewer answers",
            )
        read = np.linalg.solve(known, support)
        return Dense(read + (1.0 - read.sum(axis=0)) / len(read))


def check_weights(*weights: object) -> None:
    """Whether weights are whole numbers from 1 up."""
    for weight in weights:
        if not is_whole(weight, 1):
            raise ChannelError(f"{weight!r} is not a weight", "give whole numbers from 1 up")


def check_cells(answers: int, reports: int, total: int) -> None:
    """Whether a channel is small enough to be built, with weights that are exact everywhere."""
    if answers * reports > MOST_CELLS:
        raise ChannelError(
            f"{answers} answers with {reports:,} reports are too many for this channel",
            "use k-ary or set-valued response, or smaller blocks",
        )
    if total > MAX_TOTAL:
        raise ChannelError(f"the weights sum to {total}", "keep them below 2^53")
