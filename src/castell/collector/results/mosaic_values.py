"""Which values of a mosaic have room for a name; those that have none are put together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from castell.linear.operators import Floats
from castell.results.canvas import height_of
from castell.results.text_lines import break_lines, width_of

# A column's name has so much room at most, unless the column itself is wider.
NAME = 92.0
BETWEEN = 10.0


@dataclass(frozen=True)
class Side:
    """Values along one side of a mosaic: those that are kept, in order, and those put together."""

    names: tuple[str, ...]
    kept: tuple[int, ...]
    together: tuple[int, ...]

    def sums(self, table: Floats, axis: int) -> Floats:
        """A table with the values that are put together as the last one."""
        kept = table.take(self.kept, axis=axis)
        if not self.together:
            return kept
        rest = table.take(self.together, axis=axis).sum(axis=axis, keepdims=True)
        return np.concatenate([kept, rest], axis=axis)

    def together_share(self, shares: Floats) -> float:
        return float(shares[list(self.together)].sum() / shares.sum())

    def mask(self) -> list[bool]:
        """Which of the names is that of several values."""
        return [False] * len(self.kept) + [True] * bool(self.together)


def across(values: tuple[str, ...], shares: Floats, room: float) -> Side:
    """Columns whose names lie side by side in the room."""
    sizes = [min(width_of(value, 12), NAME) + BETWEEN for value in values]
    return _fit(values, shares, sizes, room, width_of("99 others", 12) + BETWEEN)


def down(values: tuple[str, ...], shares: Floats, wide: float, room: float) -> Side:
    """Rows whose names, broken at a width, lie below each other in the room."""
    sizes = [height_of(break_lines(value, wide, 12)) + 4 for value in values]
    return _fit(values, shares, sizes, room, height_of(("99 others",)) + 4)


def _fit(
    values: tuple[str, ...], shares: Floats, sizes: list[float], room: float, others: float
) -> Side:
    """The largest values that have room, beside one name for the others.

    >>> _fit(("a", "b", "c", "d"), np.array([0.1, 0.6, 0.1, 0.2]), [30.0] * 4, 100.0, 40.0).names
    ('b', 'd', '2 others')
    """
    if sum(sizes) <= room:
        return Side(values, tuple(range(len(values))), ())
    left = room - others
    chosen: list[int] = []
    for k in np.argsort(-shares, kind="stable").tolist():
        left -= sizes[k]
        # One other value alone would need a name of its own.
        if left < 0 or len(chosen) == len(values) - 2:
            break
        chosen.append(k)
    kept = tuple(sorted(chosen))
    rest = tuple(k for k in range(len(values)) if k not in chosen)
    return Side((*(values[k] for k in kept), f"{len(rest)} others"), kept, rest)
