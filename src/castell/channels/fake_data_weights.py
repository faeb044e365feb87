"""Whole-number weights of made-up answers, from shares that a person gives."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

from castell.errors import ChannelError

# For each attribute the shares of its values.
Shapes = Sequence[Sequence[Any]]


def fake_weights(
    sizes: Sequence[int], total: int, shapes: Shapes | None
) -> tuple[tuple[int, ...], ...]:
    """Weights with one total for each attribute, in proportion to its shares; none is 0.

    >>> fake_weights((2, 4), 8, None), fake_weights((2, 2), 8, [[1, 3], [0.5, 0.5]])
    (((4, 4), (2, 2, 2, 2)), ((2, 6), (4, 4)))
    """
    if shapes is None:
        shapes = [[1] * size for size in sizes]
    try:
        rows = [[_fraction(share) for share in row] for row in shapes]
    except (TypeError, ValueError, ArithmeticError):
        raise ChannelError("the shares of made-up answers are no numbers", "list them") from None
    if [len(row) for row in rows] != list(sizes):
        raise ChannelError(
            "the shares of made-up answers do not fit the attributes",
            "give a list for each attribute, with a number for each of its values",
        )
    if min(min(row) for row in rows) <= 0:
        raise ChannelError(
            "a value is never made up",
            "whoever reports it would have it; give every value a share above 0",
        )
    return tuple(_whole(row, total) for row in rows)


def _fraction(share: Any) -> Fraction:
    return Fraction(repr(share) if isinstance(share, float) else Decimal(share))


def _whole(row: Sequence[Fraction], total: int) -> tuple[int, ...]:
    exact = [share * total / sum(row) for share in row]
    weights = [max(1, floor(value)) for value in exact]
    # What rounding left over goes to the largest.
    weights[weights.index(max(weights))] += total - sum(weights)
    return tuple(weights)
