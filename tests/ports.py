"""Ports for servers that must be told one before they start."""

from __future__ import annotations

import os
import secrets
import socket

# Below those that the system gives to connections and to servers that ask for any port (32768 and
# up on Linux): such a one could be taken between asking for it and using it.
_FIRST, _LAST = 20_000, 32_000
_GIVEN: set[int] = set()


def free_port() -> int:
    """A port of this machine that is free, and that no other process of the tests is given."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    while True:
        place = secrets.randbelow((_LAST - _FIRST) // workers)
        port = _FIRST + worker + workers * place
        if port not in _GIVEN and _is_free(port):
            _GIVEN.add(port)
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
