"""Channels: randomised response as exact integer weights.

A channel says with what probability an answer x is reported as y: weight(x, y) / total, all of
them integers. The device that samples, the server that inverts and the budget that is stated all
use the same integers, so no rounding stands between the claim and what happens.
Imports linear.

>>> channel = KaryResponse.with_epsilon(2, 1.0)
>>> channel.epsilon <= 1.0 and 1.0 - channel.epsilon < 2**-30
True
"""

from __future__ import annotations

from typing import Any

from castell.channels.bloom import BloomResponse, bloom_filters
from castell.channels.choice import best_channel
from castell.channels.cyclic import CyclicMargin, CyclicResponse
from castell.channels.kary import CoarseResponse, KaryResponse
from castell.channels.matrix import MatrixResponse
from castell.channels.protocol import MAX_TOTAL, Channel, Lens, Words
from castell.errors import ChannelError

__all__ = [
    "MAX_TOTAL",
    "BloomResponse",
    "Channel",
    "CoarseResponse",
    "CyclicMargin",
    "CyclicResponse",
    "KaryResponse",
    "Lens",
    "MatrixResponse",
    "Words",
    "best_channel",
    "bloom_filters",
    "channel_of",
]


def channel_of(document: Any) -> Channel:
    """The channel a published study describes."""
    kind = document.get("kind") if isinstance(document, dict) else None
    keys = set(document) - {"kind"} if isinstance(document, dict) else set()
    if kind == "kary" and keys == {"size", "same", "other"}:
        return KaryResponse(document["size"], document["same"], document["other"])
    if kind == "matrix" and keys == {"weights"}:
        return MatrixResponse(document["weights"])
    if kind == "cyclic" and keys == {"size", "outputs", "set", "same", "other"}:
        if not isinstance(document["set"], list):
            raise ChannelError(f"the set of reports is {document['set']!r}", "list its numbers")
        sizes, shifts = (document["size"], document["outputs"]), tuple(document["set"])
        return CyclicResponse(*sizes, shifts, document["same"], document["other"])
    if kind == "bloom" and keys == {"filters", "same", "other"}:
        return BloomResponse(document["filters"], document["same"], document["other"])
    raise ChannelError(
        f"a channel of kind {kind!r} is unknown here",
        "use a newer castell, or a kary, cyclic, matrix or bloom channel",
    )
