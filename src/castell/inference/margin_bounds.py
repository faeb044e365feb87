"""What is known of a share from its margins alone, however the attributes are associated.

If P(E_1), ..., P(E_m) are known and nothing of how the events are associated, the share of all of
them lies between max(0, sum P(E_i) - (m - 1)) and min P(E_i), and anywhere there: the bounds of
Frechet (1935) and Hoeffding (1940). Where P(E_i) are estimated, each has an interval, and the level
is parted among them (Bonferroni).

Where some of the events are rare, or all of them common, that is close, and often closer than what
reports say of all attributes together: those who gave a rare answer and some other one are no more
than gave it at all. The shorter of the two intervals is then the answer (`shorter_interval.py`).
Since the shorter of two is short by chance too, the level is parted once more. By simulation 95 %
intervals so chosen cover 94.7 % or more, but for events that are one and the same: there, where the
truth lies on the bound, 93.5 % at worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from castell.inference.intervals import Bounds, Ends, Spread, bonferroni_level
from castell.linear.operators import Floats

Event = tuple[Floats, Spread]


@dataclass(frozen=True, eq=False)
class MarginBounds(Bounds):
    """The bounds of the share of all of some events, whose own shares are estimated. The level is
    parted among the events, and among so many other intervals of the share that they stand
    `beside`."""

    events: tuple[Event, ...]
    beside: int

    def level_of_each(self, level: float) -> float:
        """The level of the interval of one event (Bonferroni)."""
        return bonferroni_level(level, len(self.events) + self.beside)


def bounds(events: Sequence[Event], beside: int = 0) -> MarginBounds:
    """What some events leave open; their shares broadcast to the table asked for."""

    def ends(level: float) -> Ends:
        each = made.level_of_each(level)
        return all_of([spread.interval(share, each) for share, spread in events])

    made = MarginBounds(ends, tuple(events), beside)
    return made


def all_of(found: Sequence[Ends]) -> Ends:
    """The bounds of the share of all of some events, from the ends of the share of each."""
    low = sum(low for low, _ in found) - (len(found) - 1)
    high = found[0][1]
    for _, other in found[1:]:
        high = np.minimum(high, other)
    low, high = np.broadcast_arrays(np.maximum(low, 0.0), high)
    return low, high


class Reshaped:
    """The spread of a table over some attributes, seen from one over more of them."""

    def __init__(self, of: Spread, own: Sequence[int], shape: Sequence[int]) -> None:
        self.of, self.own, self.shape = of, tuple(own), tuple(shape)

    @property
    def variance(self) -> Floats:
        return self.of.variance.reshape(self.shape)

    @property
    def errors(self) -> Floats:
        return self.of.errors.reshape(self.shape)

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        low, high = self.of.plain(values.reshape(self.own), level)
        return low.reshape(self.shape), high.reshape(self.shape)

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        low, high = self.of.interval(values.reshape(self.own), level)
        return low.reshape(self.shape), high.reshape(self.shape)
