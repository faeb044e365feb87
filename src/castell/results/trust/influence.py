"""What one forged report can do."""

from __future__ import annotations

from math import ceil

import numpy as np

from castell.inference.inversion import Observed
from castell.linear.operators import Floats, Operator, Uniform
from castell.results.trust.raw_tables import Sight, of_parts
from castell.results.trust.signal import Signal, points

INFLUENCE = "Influence of one forged report"


def extremes(inverse: Operator) -> tuple[Floats, Floats]:
    """The least and the most that any one report adds to each answer's estimate."""
    if isinstance(inverse, Uniform):
        ends = sorted((inverse.diagonal, inverse.rest))
        return np.full(inverse.size, ends[0]), np.full(inverse.size, ends[1])
    # Row by row: the whole matrix of a large block may not fit.
    rows = [inverse.combine(np.array([row])) for row in range(inverse.rows)]
    return np.array([row.min() for row in rows]), np.array([row.max() for row in rows])


def contributions(observed: Observed) -> tuple[Floats, Floats]:
    """The least and the most that any one report adds to each cell, times n; as the order asked."""
    low, high = np.ones(1), np.ones(1)
    for part in observed.parts:
        least, most = extremes(part.lens.inverse)
        corners = np.stack([np.multiply.outer(a, b) for a in (low, high) for b in (least, most)])
        low, high = corners.min(axis=0), corners.max(axis=0)
    return observed.in_order_asked(low), observed.in_order_asked(high)


def shifts(sight: Sight) -> Floats:
    """How far one more report, the worst for it, moves each cell of the raw inversion.

    A block of n reports has weight w in the average. A report that adds c to its table moves the
    average, table, by (c - table) / (n / w + 1): it counts for its block's weight as well.
    """
    table = sight.raw.unprocessed
    moved: Floats = np.zeros(table.shape)
    for weight, observed in sight.views:
        least, most = contributions(observed)
        worst = np.maximum(most - table, table - least) / (observed.n / weight + 1.0)
        moved = np.maximum(moved, worst)
    return moved


def influence(*seen: Sight) -> Signal:
    """What forged reports can do to a table, as one number: how many hide behind its noise.

    In a design that draws a forger claims to have drawn the block that counts most.
    """
    moves = [shifts(sight) for sight in seen]
    n, move = seen[0].raw.n, max(float(moved.max()) for moved in moves)
    weight = move * (n + 1)
    # The cheapest cell to move by its own standard error.
    cheapest = [sight.raw.standard_errors / moved for sight, moved in zip(seen, moves, strict=True)]
    needed = max(1, ceil(min(float(cells.min()) for cells in cheapest)))
    text = (
        f"One forged report moves a cell by at most {points(move)}, like {weight:.1f} honest ones. "
        f"{needed:,} of them ({needed / n:.2%} of the reports) move one by its standard error, and "
        f"nothing here would show it.{of_parts([sight.raw for sight in seen])}"
    )
    return Signal(
        "influence",
        INFLUENCE,
        "look" if needed == 1 else "fine",
        f"like {weight:.1f} honest",
        text,
        "largest entry of the inverse channels, over the number of reports",
        {"weight": weight, "shift": move, "forged_for_one_error": needed},
    )
