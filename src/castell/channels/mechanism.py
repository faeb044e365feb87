"""Channels by the names that people know: classic designs and mechanisms of the literature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castell.channels.classic import MECHANISMS as CLASSIC
from castell.channels.classic import classic_design
from castell.channels.literature import (
    MECHANISMS,
    OF_SEVERAL,
    OF_SOME_SIZES,
    RAPPOR,
    channel_of_several,
    named_channel,
    rappor_channel,
)
from castell.channels.protocol import Channel
from castell.errors import ChannelError


def mechanism(
    name: str,
    size: int | Sequence[int] | None = None,
    epsilon: object = None,
    **parameters: Any,
) -> Channel:
    """A channel for `Study(channels=...)`, by its name.

    A classic design of randomised response takes its chances. A mechanism of the literature takes
    how many values there are and an epsilon, one of several attributes how many values each has.

    >>> mechanism("warner", p="5/6").outputs
    2
    >>> mechanism("oue", 4, 1.0).outputs
    16
    >>> mechanism("rs+fd", (2, 3), 1.0).draws
    3
    """
    if name in CLASSIC:
        if size is not None or epsilon is not None:
            raise ChannelError(
                f"mechanism {name!r} has a size or an epsilon", "both follow from its chances"
            )
        return classic_design(name, **parameters)
    if name == RAPPOR:
        if not isinstance(size, int) or epsilon is not None:
            raise ChannelError(
                "mechanism 'rappor' takes a size and the chances f, p and q",
                'write mechanism("rappor", 4, f=0.5, p=0.25, q=0.75)',
            )
        return rappor_channel(size, **parameters)
    if name in OF_SEVERAL:
        if size is None or isinstance(size, int) or epsilon is None:
            raise ChannelError(
                f"mechanism {name!r} takes the number of values of each attribute and an epsilon",
                f'write mechanism("{name}", (2, 3), 1.0) for attributes of two and three values',
            )
        return channel_of_several(name, size, epsilon, **parameters)
    if name not in {*MECHANISMS, *OF_SOME_SIZES}:
        known = ", ".join(sorted((*CLASSIC, *MECHANISMS, *OF_SOME_SIZES, *OF_SEVERAL, RAPPOR)))
        raise ChannelError(f"mechanism is {name!r}", f"castell knows {known}, or any matrix")
    if not isinstance(size, int) or epsilon is None or parameters:
        raise ChannelError(
            f"mechanism {name!r} takes a size and an epsilon",
            f'write mechanism("{name}", 4, 1.0) for four values',
        )
    return named_channel(name, size, epsilon)
