"""How many of the next respondents to ask each block: greedily, a portion after the other.

What a portion gains is the mean over several likely populations of what it takes off the expected
loss, relative to the loss before. A block that tells much of one of them and little of the others
gains little: a plan from one model would take its noise for the truth.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from castell.linear.operators import Floats
from castell.planning.uncertainty import Uncertainty

PORTIONS = 40


@dataclass(frozen=True, eq=False)
class _Open:
    """What is open in one population: the posterior covariance, and losses relative to before."""

    covariance: Floats
    losses: Floats
    roots: Sequence[Floats]

    def gain(self, block: int, reports: float) -> float:
        return gain(self.covariance, self.roots[block], self.losses, reports)

    def after(self, block: int, reports: float) -> _Open:
        return replace(self, covariance=_after(self.covariance, self.roots[block], reports))


def allocate(known: Sequence[Uncertainty], roots: Sequence[Sequence[Floats]], n: int) -> list[int]:
    """How many portions of n respondents each block gets. `known` is what is open in each of some
    likely populations, and `roots` U of one report of each block there.

    Each portion goes to the block that gains most. What a block still gains hardly ever grows as
    others are asked, so a gain computed before is a bound on what it is now, and most need not be
    computed again.
    """
    every = [
        _Open(np.linalg.inv(k.precision), k.losses / (k.expected_loss or 1.0), own)
        for k, own in zip(known, roots, strict=True)
    ]
    portion = n / PORTIONS
    portions = [0] * len(roots[0])
    waiting = [(-np.inf, i) for i in range(len(portions))]
    for _ in range(PORTIONS):
        best = _best(waiting, every, portion)
        portions[best] += 1
        every = [each.after(best, portion) for each in every]
    return portions


def _best(waiting: list[tuple[float, int]], every: Sequence[_Open], portion: float) -> int:
    computed: set[int] = set()
    while True:
        bound, i = heapq.heappop(waiting)
        if i in computed:
            heapq.heappush(waiting, (bound, i))
            return i
        computed.add(i)
        heapq.heappush(waiting, (-sum(each.gain(i, portion) for each in every), i))


def gain(covariance: Floats, root: Floats, losses: Floats, reports: float) -> float:
    """By how much some reports of a block lower the expected loss."""
    shown = root @ covariance
    inner = np.eye(len(root)) / reports + shown @ root.T
    return float(np.sum(np.linalg.solve(inner, shown) * (shown * losses)))


def _after(covariance: Floats, root: Floats, reports: float) -> Floats:
    """The posterior covariance after some reports (Woodbury)."""
    shown = root @ covariance
    inner = np.eye(len(root)) / reports + shown @ root.T
    return np.asarray(covariance - shown.T @ np.linalg.solve(inner, shown))
