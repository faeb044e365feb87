"""Mechanisms of the literature by their names: a channel for so many answers and an epsilon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from castell.channels.best_channel import best_channel
from castell.channels.cyclic import CyclicResponse
from castell.channels.difference_sets import points, singer
from castell.channels.fake_data import FakeDataResponse
from castell.channels.hashing import HashingResponse
from castell.channels.hybrid import HybridResponse, harmony
from castell.channels.kary import KaryResponse
from castell.channels.key_value import KeyValueResponse, pckv_grr, privkv
from castell.channels.piecewise import WindowResponse
from castell.channels.protocol import Channel
from castell.channels.subset_selection import SubsetResponse
from castell.channels.thermometer import ThermometerResponse
from castell.channels.unary import UnaryResponse
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


# Mechanisms that are for some numbers of values only.
OF_SOME_SIZES: dict[str, Callable[[int, object, str], Channel]] = {
    "harmony": harmony,  # two ends of a number
    "hybrid": HybridResponse.with_epsilon,  # three numbers or more
    "pckv-grr": pckv_grr,  # low and high for each key
    "pckv-ue": KeyValueResponse.with_epsilon,
    "privkv": privkv,  # low, high and none
}
# What is given by its chances instead of an epsilon: one report of RAPPOR.
RAPPOR, RAPPOR_CHANCES = "rappor", ("f", "p", "q")
# Mechanisms of several attributes at once: they take the number of values of each.
OF_SEVERAL: dict[str, Callable[..., Channel]] = {
    "rs+fd": FakeDataResponse.with_epsilon,
    "rs+rfd": FakeDataResponse.with_epsilon,
}


def channel_of_several(
    name: str, sizes: Sequence[int], epsilon: object, what: str = "epsilon", **parameters: Any
) -> Channel:
    """The channel of a mechanism of several attributes, by its name.

    >>> channel_of_several("rs+fd", (2, 3), 1.0).outputs
    6
    """
    if name == "rs+rfd" and set(parameters) != {"fakes"}:
        raise ChannelError(
            "rs+rfd makes answers up from given shares, and there are none",
            "add fakes = [[0.7, 0.3], ...], a list for each attribute; rs+fd needs none",
        )
    if name != "rs+rfd" and parameters:
        raise ChannelError(f"{name} has {min(parameters)!r}", "leave it out")
    return OF_SEVERAL[name](sizes, epsilon, what, **parameters)


def rappor_channel(size: int, **chances: Any) -> Channel:
    """One report of RAPPOR: its permanent bits by `f`, its instantaneous ones by `p` and `q`.

    >>> round(rappor_channel(3, f=0.5, p=0.25, q=0.75).epsilon, 4)
    1.0217
    """
    if set(chances) != set(RAPPOR_CHANCES):
        raise ChannelError(
            f"rappor has {', '.join(sorted(chances)) or 'no chances'}",
            "give f, p and q, as f = 0.5, p = 0.25, q = 0.75; its epsilon follows",
        )
    return UnaryResponse.rappor(size, chances["f"], chances["p"], chances["q"])


def named_channel(name: str, size: int, epsilon: object, what: str = "epsilon") -> Channel:
    """The channel of a mechanism, by the name that the literature has for it.

    >>> named_channel("oue", 4, 1.0).outputs, named_channel("hadamard", 12, 1.0).outputs
    (16, 15)
    """
    known = {**MECHANISMS, **OF_SOME_SIZES}
    if name not in known:
        raise ChannelError(
            f"there is no mechanism {name!r}", f"use one of {', '.join(sorted(known))}"
        )
    return known[name](size, epsilon, what)
