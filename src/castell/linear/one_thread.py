"""Matrix products on one thread, for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_LOCK = Lock()
_INSIDE: list[Any] = []


@cache
def _libraries() -> ThreadpoolController:
    # Found once: looking through all that is loaded takes longer than many a product.
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Libraries that multiply matrices use one thread.

    They start a thread for every core. For small products these threads mostly wait for each other:
    twice the work for the same time, and a crawl where several processes share the cores. The limit
    is one of the process: the first who comes sets it, the last who goes takes it back.
    """
    with _LOCK:
        _INSIDE.append(_libraries().limit(limits=1, user_api="blas") if not _INSIDE else None)
    try:
        yield
    finally:
        with _LOCK:
            limit = _INSIDE[0]
            _INSIDE.pop()
            if not _INSIDE:
                limit.restore_original_limits()
