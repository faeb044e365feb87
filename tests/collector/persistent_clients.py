"""Clients that go on whatever happens to a collector: connect, talk, be cut off, connect again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple


class Link(NamedTuple):
    """A connection to a collector."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def post(self, path: str, document: dict[str, Any], agent: str = "") -> int:
        """Send a document and read the whole answer: its status."""
        body = json.dumps(document).encode()
        named = f"User-Agent: {agent}\r\n" if agent else ""
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\n{named}"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        await self.writer.drain()
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = int(answer.partition(b"content-length: ")[2].partition(b"\r")[0])
        await self.reader.readexactly(length)
        return int(answer[9:12])


async def go_on(
    port: int,
    talk: Callable[[Link], Awaitable[None]],
    *,
    stopped: Callable[[], bool],
    cut_off: Callable[[], None],
    rest: float,
) -> None:
    """Talk over one connection after the other until stopped.

    `cut_off` is told of each that broke; where nobody listens it is tried again after `rest`.
    """
    while not stopped():
        try:
            link = Link(*await asyncio.open_connection("127.0.0.1", port))
        except OSError:
            await asyncio.sleep(rest)
            continue
        try:
            while not stopped():
                await talk(link)
        except (OSError, EOFError, TimeoutError):
            cut_off()
        finally:
            link.writer.close()
