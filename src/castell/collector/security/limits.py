"""How large and how often: limits that hold before a body is read, and are kept in memory only."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import Receive, Scope

from castell.collector.security.addresses import AddressNames
from castell.collector.wire import RefusedError

MOST_ADDRESSES = 100_000
# Seconds that a body may take: nobody holds a connection by sending a byte now and then.
PATIENCE = 20.0


class RateLimit:
    """A token bucket for each address, under a name that does not tell the address."""

    def __init__(
        self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst, self._clock = rate, float(burst), clock
        self._names = AddressNames()
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def charge(self, scope: Scope, cost: int = 1) -> None:
        """Take tokens, as long as there is any: a bulk may run up a debt that is waited off."""
        if not self.rate:
            return
        name, now = self._name(scope), self._clock()
        left, then = self._buckets.pop(name, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.rate)
        if left < 1:
            self._buckets[name] = (left, now)
            raise TooOftenError(max(1, round((1 - left) / self.rate)))
        self._buckets[name] = (left - cost, now)
        if len(self._buckets) > MOST_ADDRESSES:
            self._buckets.popitem(last=False)

    def _name(self, scope: Scope) -> bytes:
        return self._names.name((scope.get("client") or ("", 0))[0])


class TooOftenError(RefusedError):
    def __init__(self, seconds: int) -> None:
        super().__init__(429, "too many reports from one place", f"wait {seconds} seconds")
        self.seconds = seconds


async def read_json(
    scope: Scope, receive: Receive, limit: int, remedy: str = "send fewer reports at once"
) -> bytes:
    """The body of a request that says it is JSON, refused as soon as it is too long."""
    kind = length = None
    for name, value in scope["headers"]:
        if name == b"content-type":
            kind = value
        elif name == b"content-length":
            length = value
        elif name == b"content-encoding" and value.lower() != b"identity":
            raise RefusedError(415, "the body is compressed", "send it as it is")
    # Anything else a foreign page may send without asking first (CORS).
    if kind is None or kind.split(b";")[0].strip().lower() != b"application/json":
        raise RefusedError(415, "the body is not JSON", "send Content-Type: application/json")
    if length is not None:
        if not length.isdigit():
            raise RefusedError(400, "the length is no number", "send Content-Length in digits")
        if len(length) > 15 or int(length) > limit:
            raise _too_long(limit, remedy)
    try:
        async with asyncio.timeout(PATIENCE):
            return await _read(receive, limit, remedy)
    except TimeoutError:
        raise RefusedError(408, "the body did not come", "send it in one go") from None


async def _read(receive: Receive, limit: int, remedy: str) -> bytes:
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "the body was cut short", "send it whole")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise _too_long(limit, remedy)
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_long(limit: int, remedy: str) -> RefusedError:
    return RefusedError(413, f"the body is longer than {limit} bytes", remedy)
