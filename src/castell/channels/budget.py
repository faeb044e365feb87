"""Epsilon as exact numbers: what is asked, what is spent, and what is no privacy choice at all."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np

from castell.errors import ChannelError

# Below, the report says next to nothing; above, it says the answer. Neither is a privacy choice.
MIN_EPSILON = Decimal("9.5367431640625e-7")  # 2^-20
MAX_EPSILON = Decimal(32)

# Enough digits that no rounding here reaches an integer weight.
EXACT = Context(prec=60, rounding=ROUND_FLOOR)


def as_decimal(epsilon: object, what: str = "epsilon") -> Decimal:
    """An epsilon as the decimal number a person wrote, checked to be a usable one.

    >>> as_decimal(0.1) + as_decimal(0.2) == as_decimal(0.3)
    True
    """
    if isinstance(epsilon, bool) or not isinstance(
        epsilon, (int, float, Decimal, np.integer, np.floating)
    ):
        raise ChannelError(f"{what} is {epsilon!r}", "give a number, for example 1.0")
    exact = isinstance(epsilon, (int, Decimal))
    value = Decimal(epsilon if exact else repr(float(epsilon)))  # type: ignore[arg-type]
    if not value.is_finite() or value <= 0:
        raise ChannelError(
            f"{what} is {epsilon}",
            "give a positive, finite number: 0 would say nothing, infinity would hide nothing",
        )
    return value


def check_hides(epsilon: Decimal, what: str = "the epsilon of the channel") -> None:
    """Whether reports hide anything: of what somebody published, no more can be hoped for."""
    if epsilon > MAX_EPSILON:
        raise ChannelError(
            f"{what} is {epsilon:.6g}, above {MAX_EPSILON}",
            "that would report the answer as it is; 0.5 to 4 is usual, 8 is already weak",
        )


def check_range(epsilon: Decimal, what: str) -> None:
    check_hides(epsilon, what)
    if epsilon < MIN_EPSILON:
        raise ChannelError(
            f"{what} is {epsilon:.3g}, below 2^-20",
            "no number of respondents makes up for that; give it a larger share",
        )


def asked_epsilon(epsilon: object, what: str = "epsilon") -> Decimal:
    """The epsilon that a channel is asked to have, as a person wrote it, within what can be."""
    asked = as_decimal(epsilon, what)
    check_range(asked, what)
    return asked


def total_of(parts: Iterable[Decimal]) -> Decimal:
    """An exact sum, whatever precision the caller's own decimal context has."""
    result = Decimal(0)
    for part in parts:
        result = EXACT.add(result, part)
    return result


def log_ratio(ratio: Fraction) -> Decimal:
    """The privacy loss of two weights that stand in some ratio."""
    return EXACT.ln(EXACT.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))


def rounded_up(value: Decimal) -> float:
    """The smallest float that is not below a number: a loss is never understated.

    >>> rounded_up(Decimal("0.1")) >= Decimal("0.1")
    True
    """
    nearest = float(value)
    return nearest if Decimal(nearest) >= value else math.nextafter(nearest, math.inf)
