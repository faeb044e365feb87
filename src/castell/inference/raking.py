"""Raking (iterative proportional fitting): a table scaled, margin by margin, until it has others.

Cells that are 0 stay 0, so that is quasi-independence where it starts from a product of margins
with some cells left out (Goodman 1968).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.linear.operators import Floats

# Where estimated margins contradict the empty cells no table has them all, and raking stops.
CLOSE = 1e-9
MOST_SWEEPS = 200


def rake(table: Floats, margins: Sequence[Floats]) -> Floats:
    """The table nearest to this one that has a margin for each axis and the same empty cells.

    >>> start = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> rake(start, [np.array([0.3, 0.7]), np.array([0.6, 0.4])]).round(6).tolist()
    [[0.0, 0.3], [0.6, 0.1]]
    """
    axes = range(table.ndim)
    for _ in range(MOST_SWEEPS):
        furthest = 0.0
        for axis, wanted in zip(axes, margins, strict=True):
            have = table.sum(axis=tuple(other for other in axes if other != axis))
            furthest = max(furthest, float(np.abs(have - wanted).max()))
            by = wanted / np.maximum(have, 1e-300)
            table = table * by.reshape([-1 if other == axis else 1 for other in axes])
        if furthest < CLOSE:
            break
    return table
