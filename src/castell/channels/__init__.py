"""Channels: randomised response as exact integer weights.

A channel says with what probability an answer x is reported as y: weight(x, y) / total, all of
them integers. The device that samples, the server that inverts and the budget that is stated all
use the same integers, so no rounding stands between the claim and what happens.
Each channel is a file: the folder is the list of them (`registry.py`). Imports linear.

>>> channel = KaryResponse.with_epsilon(2, 1.0)
>>> channel.epsilon <= 1.0 and 1.0 - channel.epsilon < 2**-30
True
"""

from __future__ import annotations

from castell.channels.best_channel import best_channel
from castell.channels.bloom import BloomResponse, bloom_filters
from castell.channels.classic import ClassicResponse
from castell.channels.clear import ClearResponse
from castell.channels.cyclic import CyclicResponse
from castell.channels.fake_data import FakeDataResponse
from castell.channels.hadamard import HadamardResponse
from castell.channels.kary import CoarseResponse, KaryResponse
from castell.channels.literature import MECHANISMS
from castell.channels.matrix import MatrixResponse
from castell.channels.mechanism import mechanism
from castell.channels.parity import ParityResponse
from castell.channels.partition import PartitionResponse
from castell.channels.protocol import MAX_TOTAL, Channel, Lens, Traits, Words
from castell.channels.registry import Kinds, built_in, channel_of, checked_channel
from castell.channels.set_valued import SetMargin
from castell.channels.skip import SkipResponse
from castell.channels.weighted import WeightedChannel

__all__ = [
    "MAX_TOTAL",
    "MECHANISMS",
    "BloomResponse",
    "Channel",
    "ClassicResponse",
    "ClearResponse",
    "CoarseResponse",
    "CyclicResponse",
    "FakeDataResponse",
    "HadamardResponse",
    "KaryResponse",
    "Kinds",
    "Lens",
    "MatrixResponse",
    "ParityResponse",
    "PartitionResponse",
    "SetMargin",
    "SkipResponse",
    "Traits",
    "WeightedChannel",
    "Words",
    "best_channel",
    "bloom_filters",
    "built_in",
    "channel_of",
    "checked_channel",
    "mechanism",
]
