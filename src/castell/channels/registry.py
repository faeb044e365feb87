"""From a published document to its channel: castell's own kinds, and those that packages add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from castell.channels.bloom import BloomResponse
from castell.channels.classic import ClassicResponse
from castell.channels.clear import ClearResponse
from castell.channels.cyclic import CyclicResponse
from castell.channels.fake_data import FakeDataResponse
from castell.channels.foreign_channels import check_channel
from castell.channels.hadamard import HadamardResponse
from castell.channels.hashing import HashingResponse
from castell.channels.hybrid import HybridResponse
from castell.channels.kary import KaryResponse
from castell.channels.key_value import KeyValueResponse
from castell.channels.matrix import MatrixResponse
from castell.channels.parity import ParityResponse
from castell.channels.partition import PartitionResponse
from castell.channels.protocol import Channel
from castell.channels.skip import SkipResponse
from castell.channels.subsets import SubsetResponse
from castell.channels.thermometer import ThermometerResponse
from castell.channels.unary import UnaryResponse
from castell.channels.window import WindowResponse
from castell.errors import CastellError, ChannelError
from castell.plugins import CHANNELS, Plugin, plugins

BUILT_IN = {
    c.kind: c
    for c in (
        KaryResponse,
        MatrixResponse,
        CyclicResponse,
        PartitionResponse,
        BloomResponse,
        ClearResponse,
        SkipResponse,
        HadamardResponse,
        HashingResponse,
        SubsetResponse,
        ThermometerResponse,
        UnaryResponse,
        WindowResponse,
        FakeDataResponse,
        HybridResponse,
        KeyValueResponse,
        ParityResponse,
    )
}

# What makes a channel of a document: a function, or a class with `from_document`.
Kinds = Mapping[str, Any]


def is_built_in(channel: object) -> bool:
    """Whether a channel is one of castell's own, whose weights need no checking."""
    return type(channel) in (*BUILT_IN.values(), ClassicResponse)


def checked(channel: Any) -> Channel:
    """A channel as it is if it is castell's own; one from elsewhere only if it keeps its word."""
    if not is_built_in(channel):
        check_channel(channel, set(BUILT_IN))
    made: Channel = channel
    return made


def channel_of(document: Any, kinds: Kinds | None = None) -> Channel:
    """The channel a published study describes.

    `kinds` adds kinds of channels that no installed package has: a class with `from_document`, or
    a function of the document, for each.
    """
    kind = document.get("kind") if isinstance(document, dict) else None
    given, added = kinds or {}, plugins(CHANNELS, BUILT_IN)
    known = sorted({*BUILT_IN, *given, *added})
    if not isinstance(kind, str) or kind not in known:
        raise ChannelError(
            f"a channel of kind {kind!r} is unknown here",
            "use a newer castell, install the package that adds it, or use a channel of kind "
            f"{', '.join(known)}",
        )
    if kind in given and kind in BUILT_IN:
        raise ChannelError(f"{kind!r} is a kind of channel that castell has", "name it otherwise")
    if kind in given:
        return checked(_reader(given[kind])(document))
    if kind in added:
        return _added(added[kind], document)
    return BUILT_IN[kind].from_document(document)


def _added(plugin: Plugin, document: dict[str, Any]) -> Channel:
    read = _reader(plugin.load())
    try:
        return checked(read(document))
    except CastellError as error:
        raise plugin.broken(error.problem) from error
    except Exception as error:  # a package may fail in any way it likes
        raise plugin.broken(f"{type(error).__name__}: {error}") from error


def _reader(added: Any) -> Callable[[dict[str, Any]], Any]:
    read: Callable[[dict[str, Any]], Any] = getattr(added, "from_document", added)
    return read
