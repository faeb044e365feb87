"""A real server on loopback in a thread of this process, with limits as short as a test needs."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from castell.collector.server import listen, make_server
from castell.collector.settings import State
from castell.collector.store import open_store
from tests.collector.respondents import STUDY, settings


@contextmanager
def serving(store: Path, *, proxies: str = "", **changes: Any) -> Iterator[int]:
    """The port of a collector that runs until the block is left."""
    started = threading.Event()
    listening = listen("127.0.0.1", 0)
    state = State(open_store(store, STUDY), settings(**changes))
    server = make_server(state, proxies=proxies, on_start=started.set)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        assert started.wait(60)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def connect(port: int, source: str = "127.0.0.1") -> socket.socket:
    link = socket.create_connection(("127.0.0.1", port), source_address=(source, 0))
    link.settimeout(60)  # a test that fails ends; none waits this long to pass
    return link


def all_that_comes(link: socket.socket) -> bytes:
    """Until the server hangs up."""
    found = b""
    try:
        while piece := link.recv(1 << 16):
            found += piece
    except ConnectionResetError:
        pass
    return found


def status(answer: bytes) -> int:
    return int(answer[9:12] or 0)
