"""How many of the next respondents to ask each block: greedily, a portion after the other."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from castell.linear.operators import Floats
from castell.planning.uncertainty import Uncertainty

PORTIONS = 40


def allocate(known: Uncertainty, roots: Sequence[Floats], n: int) -> list[int]:
    """How many portions of n respondents each block gets, `roots` being U of one report of each.

    Each portion goes to the block that lowers the expected loss most. What a block still gains
    hardly ever grows as others are asked, so a gain computed before is a bound on what it is now,
    and most need not be computed again.
    """
    covariance: Floats = np.asarray(np.linalg.inv(known.precision), dtype=np.float64)
    portion = n / PORTIONS
    portions = [0] * len(roots)
    waiting = [(-np.inf, i) for i in range(len(roots))]
    for _ in range(PORTIONS):
        best = _best(waiting, roots, covariance, known.losses, portion)
        portions[best] += 1
        covariance = _after(covariance, roots[best], portion)
    return portions


def _best(
    waiting: list[tuple[float, int]],
    roots: Sequence[Floats],
    covariance: Floats,
    losses: Floats,
    portion: float,
) -> int:
    computed: set[int] = set()
    while True:
        bound, i = heapq.heappop(waiting)
        if i in computed:
            heapq.heappush(waiting, (bound, i))
            return i
        computed.add(i)
        heapq.heappush(waiting, (-gain(covariance, roots[i], losses, portion), i))


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
