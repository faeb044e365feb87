"""Raking (iterative proportional fitting): a table scaled, margin by margin, until it has others.

Cells that are 0 stay 0, so that is quasi-independence where it starts from a product of margins
with some cells left out (Goodman 1968). Estimated margins may contradict the empty cells by noise;
then no table has them. So they are come near to only: what is minimised is the divergence from the
table plus lambda times those from the margins (Chizat et al. 2018).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.linear.operators import Floats

# lambda / (1 + lambda): how far a margin is moved to the one wanted.
PULL = 0.99
CLOSE = 1e-9
MOST_SWEEPS = 500


def rake(table: Floats, margins: Sequence[Floats]) -> Floats:
    """A table near to this one with about the given margin of each axis, and the same empty cells.

    >>> start = np.array([[0.0, 0.12], [0.18, 0.7]])
    >>> rake(start, [np.array([0.3, 0.7]), np.array([0.6, 0.4])]).round(1).tolist()
    [[0.0, 0.3], [0.6, 0.1]]
    """
    axes = range(table.ndim)
    tilts = [np.ones(size) for size in table.shape]
    for _ in range(MOST_SWEEPS):
        furthest = 0.0
        for axis, wanted in zip(axes, margins, strict=True):
            have = table.sum(axis=tuple(other for other in axes if other != axis))
            tilt = (wanted * tilts[axis] / np.maximum(have, 1e-300)) ** PULL
            by = tilt / tilts[axis]
            table = table * by.reshape([-1 if other == axis else 1 for other in axes])
            table, tilts[axis] = table / table.sum(), tilt
            furthest = max(furthest, float(np.abs(have * (by / (have @ by)) - have).max()))
        if furthest < CLOSE:
            break
    return np.asarray(table)
