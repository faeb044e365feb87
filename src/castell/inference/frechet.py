"""What margins leave open of a joint share: the bounds of Frechet and Hoeffding.

If P(E_1), ..., P(E_m) are known and nothing of how the events go together, the share of all of them
lies between max(0, sum P(E_i) - (m - 1)) and min P(E_i), and anywhere there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from castell.inference.intervals import Bounds, Spread
from castell.linear.operators import Floats

Event = tuple[Floats, Spread]


def bounds(events: Sequence[Event]) -> Bounds:
    """The bounds of the share of all of some events, whose own shares are estimated.

    Shares broadcast to the table asked for. The level is parted among the events (Bonferroni).
    """
    return Bounds(partial(_ends, tuple(events)))


def _ends(events: Sequence[Event], level: float) -> tuple[Floats, Floats]:
    each = 1.0 - (1.0 - level) / len(events)
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
