"""From a published document to its channel: castell's own kinds, and those that packages add.

The folder is the list of castell's own: a class in one of its files that has a `kind` and
`from_document` is the channel of that kind.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from castell.channels.foreign_channels import check_channel
from castell.channels.protocol import Channel
from castell.errors import CastellError, ChannelError
from castell.plugins import CHANNELS, Plugin, plugins

# What makes a channel of a document: a function, or a class with `from_document`.
Kinds = Mapping[str, Any]


@cache
def _classes() -> tuple[type[Any], ...]:
    """The channels of the files here, in the order of the files' names."""
    package = import_module("castell.channels")
    files = [
        import_module(f"{package.__name__}.{file.name}")
        for file in pkgutil.iter_modules(package.__path__)
    ]
    return tuple(
        found
        for file in files
        for found in vars(file).values()
        if isinstance(found, type)
        and found.__module__ == file.__name__
        and hasattr(found, "kind")
        and hasattr(found, "from_document")
    )


@cache
def built_in() -> Mapping[str, type[Any]]:
    """Castell's own channels by their kinds.

    >>> built_in()["kary"].__name__
    'KaryResponse'
    """
    # A classic design is published as a matrix, whose kind it inherits.
    return MappingProxyType({c.kind: c for c in _classes() if "kind" in vars(c)})


def is_built_in(channel: object) -> bool:
    """Whether a channel is one of castell's own, whose weights need no checking."""
    return type(channel) in _classes()


def checked_channel(channel: Any) -> Channel:
    """A channel as it is if it is castell's own; one from elsewhere only if it keeps its word."""
    if not is_built_in(channel):
        check_channel(channel, set(built_in()))
    made: Channel = channel
    return made


def channel_of(document: Any, kinds: Kinds | None = None) -> Channel:
    """The channel a published study describes.

    `kinds` adds kinds of channels that no installed package has: a class with `from_document`, or
    a function of the document, for each.
    """
    kind = document.get("kind") if isinstance(document, dict) else None
    name = kind if isinstance(kind, str) else ""
    own, given = built_in(), kinds or {}
    if name in given and name in own:
        raise ChannelError(f"{kind!r} is a kind of channel that castell has", "name it otherwise")
    if name in own:
        made: Channel = own[name].from_document(document)
        return made
    if name in given:
        return checked_channel(_reader(given[name])(document))
    added = plugins(CHANNELS, own)
    if name not in added:
        raise ChannelError(
            f"a channel of kind {kind!r} is unknown here",
            "use a newer castell, install the package that adds it, or use a channel of kind "
            f"{', '.join(sorted({*own, *given, *added}))}",
        )
    return _read_by_plugin(added[name], document)


def _read_by_plugin(plugin: Plugin, document: dict[str, Any]) -> Channel:
    made = plugin.load()
    try:
        return checked_channel(_reader(made)(document))
    except CastellError as error:
        raise plugin.broken(error.problem) from error
    except Exception as error:  # a package may fail in any way it likes
        raise plugin.broken(f"{type(error).__name__}: {error}") from error


def _reader(added: Any) -> Callable[[dict[str, Any]], Any]:
    read: Callable[[dict[str, Any]], Any] = getattr(added, "from_document", added)
    if not callable(read):
        raise ChannelError(
            f"a {type(added).__name__} reads no channels",
            "give a class with from_document, or a function of the document, for each kind",
        )
    return read
