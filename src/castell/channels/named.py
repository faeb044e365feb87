"""Mechanisms of the literature by their names: a channel for so many answers and an epsilon."""

from __future__ import annotations

from collections.abc import Callable

from castell.channels.choice import best_channel
from castell.channels.cyclic import CyclicResponse
from castell.channels.difference_sets import points, singer
from castell.channels.hashing import HashingResponse
from castell.channels.kary import KaryResponse
from castell.channels.protocol import Channel
from castell.channels.subsets import SubsetResponse
from castell.channels.thermometer import ThermometerResponse
from castell.channels.unary import UnaryResponse
from castell.channels.window import WindowResponse
from castell.errors import ChannelError


def hadamard(size: int, epsilon: object, what: str = "epsilon") -> CyclicResponse:
    """Hadamard response (Acharya, Sun and Zhang 2019): half of the reports are each answer's set.

    The rows of a Hadamard matrix without its first column, put in cyclic order.
    """
    dimension = 2
    while points(2, dimension) < size:
        dimension += 1
    return CyclicResponse.with_epsilon(
        size, points(2, dimension), singer(2, dimension), epsilon, what
    )


MECHANISMS: dict[str, Callable[[int, object, str], Channel]] = {
    "best": best_channel,
    "grr": KaryResponse.with_epsilon,
    "hadamard": hadamard,
    "olh": HashingResponse.with_epsilon,
    "oue": UnaryResponse.optimised,
    "piecewise": WindowResponse.piecewise,
    "square-wave": WindowResponse.square_wave,
    "subset": SubsetResponse.with_epsilon,
    "sue": UnaryResponse.symmetric,
    "thermometer": ThermometerResponse.with_epsilon,
}


def named_channel(name: str, size: int, epsilon: object, what: str = "epsilon") -> Channel:
    """The channel of a mechanism, by the name that the literature has for it.

    >>> named_channel("oue", 4, 1.0).outputs, named_channel("hadamard", 12, 1.0).outputs
    (16, 15)
    """
    if name not in MECHANISMS:
        raise ChannelError(
            f"there is no mechanism {name!r}", f"use one of {', '.join(sorted(MECHANISMS))}"
        )
    return MECHANISMS[name](size, epsilon, what)
