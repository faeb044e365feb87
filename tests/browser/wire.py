"""Everything a browser says to a collector, byte by byte: a forwarder that writes it down."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Wiretap:
    """Listens at a port of its own and passes everything on to `target`, a collector's address."""

    target: str
    connections: list[bytearray] = field(default_factory=list)

    def __post_init__(self) -> None:
        parts = urlsplit(self.target)
        self._to = (parts.hostname or "", parts.port or 80)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Wiretap:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            said = bytearray()
            self.connections.append(said)
            far = socket.create_connection(self._to)
            for source, sink, record in ((near, far, said), (far, near, None)):
                threading.Thread(target=_pass_on, args=(source, sink, record), daemon=True).start()

    def requests(self) -> list[Request]:
        """What was asked, in order within each connection."""
        return [request for said in self.connections for request in _parse(bytes(said))]


def _pass_on(source: socket.socket, sink: socket.socket, record: bytearray | None) -> None:
    try:
        while part := source.recv(1 << 16):
            if record is not None:
                record += part
            sink.sendall(part)
    except OSError:
        pass
    finally:
        for end in (source, sink):
            end.close()


def _parse(said: bytes) -> list[Request]:
    found = []
    while said:
        head, mark, said = said.partition(b"\r\n\r\n")
        assert mark, "bytes that are no request"
        first, *lines = head.decode("ascii").split("\r\n")
        method, path, version = first.split(" ")
        assert version == "HTTP/1.1"
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        size = int(headers.get("content-length", 0))
        found.append(Request(method, path, headers, said[:size]))
        said = said[size:]
    return found
