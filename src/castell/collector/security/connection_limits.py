"""How many connections there may be: in all, and from one address."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterable
from typing import Protocol

from castell.collector.security.addresses import AddressNames

# Files that a collector opens besides its connections: the store, pages, pipes.
_FILES_BESIDES = 128


class Connection(Protocol):
    """What the gate needs to know of a connection."""

    @property
    def host(self) -> str:
        """The address at its other end; empty if it has none."""
        ...

    @property
    def idle(self) -> bool:
        """Whether it is open between two requests and can be closed without harm."""
        ...

    def drop(self) -> None: ...


class Gate:
    """Counts connections and says whether one more may come in.

    Where there are too many, one that only waits for a next request gives way. `proxies` may have
    any number of connections: all respondents come through them.
    """

    def __init__(self, most: int, each: int, proxies: Iterable[str] = ()) -> None:
        self.most, self.each = most, each
        self._proxies = [ipaddress.ip_network(proxy, strict=False) for proxy in proxies]
        self._names = AddressNames()
        # Dicts rather than sets: the oldest comes first.
        self._open_ones: dict[Connection, bytes] = {}
        self._by_name: dict[bytes, dict[Connection, None]] = {}

    def __len__(self) -> int:
        return len(self._open_ones)

    def enter(self, connection: Connection) -> bool:
        """Whether it may stay."""
        name = self._names.name(connection.host)
        same = self._by_name.get(name, {})
        if len(same) >= self.each and not self._is_proxy(connection.host):
            if not self._make_room(same):
                return False
        elif len(self._open_ones) >= self.most and not self._make_room(self._open_ones):
            return False
        self._open_ones[connection] = name
        self._by_name.setdefault(name, {})[connection] = None
        return True

    def leave(self, connection: Connection) -> None:
        name = self._open_ones.pop(connection, None)
        if name is None:
            return
        same = self._by_name[name]
        del same[connection]
        if not same:
            del self._by_name[name]

    def _make_room(self, open_ones: Iterable[Connection]) -> bool:
        idle = next((connection for connection in open_ones if connection.idle), None)
        if idle is None:
            return False
        self.leave(idle)
        idle.drop()
        return True

    def _is_proxy(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self._proxies)


def connections_possible(wanted: int) -> int:
    """As many connections as this process may have open; the system is asked for enough."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _FILES_BESIDES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, soft - _FILES_BESIDES))
