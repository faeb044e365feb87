"""A connection with bounds: how long a request's head may be, and how long its parts may take.

uvicorn's protocol for httptools has neither: a head of any length is kept in memory, copied again
with every piece that comes, and half a request may stay for ever.
"""

from __future__ import annotations

import asyncio
import enum
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from castell.collector.metrics import Tally
from castell.collector.security.connection_limits import Gate
from castell.collector.security.headers import DATA_HEADERS
from castell.collector.settings import ConnectionLimits

# Bytes handed to the parser at once. The limit of a head is looked at between two pieces.
_PIECE = 8192


class Stage(enum.Enum):
    BETWEEN = "between two requests"
    HEAD = "in the request line or the headers"
    BODY = "in the body"


class BoundedProtocol(HttpToolsProtocol):
    """One connection. `bounded_protocol` gives the class its gate, limits and tally."""

    gate: Gate
    limits: ConnectionLimits
    tally: Tally

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._stage = Stage.BETWEEN
        self._was_asked = False
        # Bytes of this request that are not its body, as they come: request line, headers, the
        # frames of chunks; and the same once they are read, of the request line and headers.
        self._besides = self._head = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._deadline_of = Stage.BETWEEN
        self._unread: asyncio.TimerHandle | None = None

    # -- what the gate asks ----------------------------------------------------------------------

    @property
    def host(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def idle(self) -> bool:
        # A new one is not idle: its request is on the way.
        return self._stage is Stage.BETWEEN and self._was_asked and not self._is_answering()

    def drop(self) -> None:
        self.transport.close()

    # -- the connection --------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.gate.enter(self):
            self._set_deadline(Stage.HEAD, self.limits.head_seconds)
            self.tally.gauges["connections"] = len(self.gate)
        else:
            self._refuse("connections", 503, "too many connections", "try again in a while")

    def connection_lost(self, exc: Exception | None) -> None:
        self.gate.leave(self)
        self.tally.gauges["connections"] = len(self.gate)
        self._clear_deadline()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        view = memoryview(data)
        for start in range(0, len(data), _PIECE):
            if self.transport.is_closing():
                return
            piece = data if len(data) <= _PIECE else bytes(view[start : start + _PIECE])
            self._besides += len(piece)
            super().data_received(piece)
            if self._besides > self.limits.head_bytes:
                self._too_long()
        if self.transport.is_closing():
            return
        if self._stage is Stage.BODY:
            self._set_deadline(Stage.BODY, self.limits.body_seconds)
        elif self._stage is Stage.HEAD or not self._is_answering():
            self._set_deadline(Stage.HEAD, self.limits.head_seconds)
        else:
            self._clear_deadline()

    # -- the parser ------------------------------------------------------------------------------

    # After a refusal the parser still goes through the rest of its piece; nothing comes of it.

    def on_message_begin(self) -> None:
        self._stage, self._besides, self._head = Stage.HEAD, 0, 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._head += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value) + 4
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._stage = Stage.BODY
        if self._head > self.limits.head_bytes:
            self._too_long()
        if not self.transport.is_closing():
            super().on_headers_complete()
            self._was_asked = True

    def on_body(self, body: bytes) -> None:
        self._besides -= len(body)
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._stage, self._besides = Stage.BETWEEN, 0
        if not self.transport.is_closing():
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        del msg
        self._refuse("malformed", 400, "this is no HTTP request", "send one")

    # -- answers that are not read ---------------------------------------------------------------

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.limits.unread_seconds, self._give_up)

    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        # To close it would wait for the rest to be read.
        if self.transport.get_write_buffer_size():
            self._give_up()
        else:
            super().timeout_keep_alive_handler()

    def _give_up(self) -> None:
        self.tally.refused["answer_not_read"] += 1
        self.transport.abort()

    # -- deadlines -------------------------------------------------------------------------------

    def _set_deadline(self, stage: Stage, seconds: float) -> None:
        """A deadline stands until its stage is over: more bytes do not move it."""
        if self._deadline is not None and self._deadline_of is stage:
            return
        self._clear_deadline()
        self._deadline_of = stage
        self._deadline = self.loop.call_later(seconds, self._too_slow, stage, seconds)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self, stage: Stage, seconds: float) -> None:
        self._deadline = None
        if self.flow.read_paused:  # it is the collector that does not read
            self._set_deadline(stage, seconds)
        elif stage is Stage.BODY:
            self._refuse("body_too_slow", 408, "the body did not come", "send it in one go")
        else:
            self._refuse("head_too_slow", 408, "the request did not come", "send it in one go")

    def _too_long(self) -> None:
        most = self.limits.head_bytes
        problem = f"the request line and headers are longer than {most} bytes"
        self._refuse("head_too_long", 431, problem, "send fewer or shorter headers")

    def _is_answering(self) -> bool:
        return self._was_asked and not self.cycle.response_complete

    def _refuse(self, reason: str, status: int, problem: str, remedy: str) -> None:
        """Say why, unless an answer is under way, and hang up."""
        if self.transport.is_closing():
            return
        self.tally.refused[reason] += 1
        if not self._is_answering():
            body = msgspec.json.encode({"error": problem, "remedy": remedy})
            headers = [
                *self.server_state.default_headers,
                *DATA_HEADERS,
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
            ]
            lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
            self.transport.write(STATUS_LINE[status] + lines + b"\r\n" + body)
        self._clear_deadline()
        self.transport.close()


def bounded_protocol(gate: Gate, limits: ConnectionLimits, tally: Tally) -> type[BoundedProtocol]:
    """The class uvicorn makes a connection from."""
    members = {"gate": gate, "limits": limits, "tally": tally}
    return type("CollectorProtocol", (BoundedProtocol,), members)
