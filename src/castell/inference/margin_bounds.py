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
from functools import partial

import numpy as np

from castell.inference.intervals import Bounds, Ends, Spread, bonferroni_level
from castell.linear.operators import Floats

Event = tuple[Floats, Spread]


def bounds(events: Sequence[Event], beside: int = 0) -> Bounds:
    """The bounds of the share of all of some events, whose own shares are estimated.

    Shares broadcast to the table asked for. The level is parted among the events (Bonferroni), and
    among so many other intervals of the share that they stand `beside`.
    """
    return Bounds(partial(_ends, tuple(events), beside))


def _ends(events: Sequence[Event], beside: int, level: float) -> Ends:
    each = bonferroni_level(level, len(events) + beside)
    found = [spread.interval(share, each) for share, spread in events]
    low = sum(low for low, _ in found) - (len(found) - 1)
    high = found[0][1]
    for _, other in found[1:]:
        high = np.minimum(high, other)
    low, high = np.broadcast_arrays(np.maximum(low, 0.0), high)
    return low, high


class Reshaped:
    """The spread of a table over some attributes, seen from one over more of them."""

    def __init__(self, of: Spread, own: Sequence[int], shape: Sequence[int]) -> None:
        self._of, self._own, self._shape = of, tuple(own), tuple(shape)

    @property
    def variance(self) -> Floats:
        return self._of.variance.reshape(self._shape)

    @property
    def errors(self) -> Floats:
        return self._of.errors.reshape(self._shape)

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        low, high = self._of.plain(values.reshape(self._own), level)
        return low.reshape(self._shape), high.reshape(self._shape)

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        low, high = self._of.interval(values.reshape(self._own), level)
        return low.reshape(self._shape), high.reshape(self._shape)
