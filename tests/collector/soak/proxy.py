"""A network that can be cut: a proxy for TCP that ends connections in the middle of a request."""

from __future__ import annotations

import asyncio
import contextlib
import random


class Proxy:
    """Passes bytes on to `target`. While it is `bad` each connection ends after a few bytes."""

    def __init__(self, target: int, seed: int) -> None:
        self.target, self.port, self.bad = target, 0, False
        self._choose = random.Random(seed)  # noqa: S311
        self._open: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.dropped = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """End every connection, now, wherever it is."""
        self.dropped += len(self._open) // 2
        for writer in self._open:
            writer.transport.abort()

    async def close(self) -> None:
        self.cut()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, onward = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        self._open |= {writer, onward}
        # Requests and answers are a few hundred bytes: this is before, amid or after each.
        most = self._choose.randrange(600), self._choose.randrange(250)
        ways = [
            asyncio.create_task(self._pass(reader, onward, most[0])),
            asyncio.create_task(self._pass(there, writer, most[1])),
        ]
        try:
            # Where one way ends the other has nothing to wait for.
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._open -= {writer, onward}
            for way in ways:
                way.cancel()
            for one in (writer, onward):
                one.close()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(1 << 14):
                whole = not self.bad or len(piece) <= most
                writer.write(piece if whole else piece[:most])  # a part gets through
                await writer.drain()
                if not whole:
                    self.dropped += 1
                    return
                most -= len(piece) if self.bad else 0
