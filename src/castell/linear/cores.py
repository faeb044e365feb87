"""The cores of this machine: how many a process may use, work on all, matrix products on one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController

_LOCK = Lock()
_INSIDE: list[Any] = []


def usable_cores() -> int:
    """How many: fewer than there are where a container or a scheduler says so."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
        if not _INSIDE:
            _free_control()
        _INSIDE.append(_libraries().limit(limits=1, user_api="blas") if not _INSIDE else None)
    try:
        yield
    finally:
        with _LOCK:
            limit = _INSIDE[0]
            _INSIDE.pop()
            if not _INSIDE:
                _free_control()
                limit.restore_original_limits()
                _free_control()


def on_all_cores(work: Callable[[range], None], pieces: range) -> None:
    """Have every core work on its share of the pieces; no two may write to the same place."""
    workers = min(usable_cores(), len(pieces))
    if workers < 2:
        work(pieces)
        return
    with one_thread(), ThreadPoolExecutor(workers) as pool:
        # With the surroundings of who asks, such as how NumPy takes a division by zero.
        shares = [pieces[k::workers] for k in range(workers)]
        done = [pool.submit(copy_context().run, work, share) for share in shares]
    for each in done:
        each.result()


def _free_control() -> None:
    # threadpoolctl lets the thread that set a limit of OpenBLAS first change it, and ignores all
    # others in silence. Here the last who goes need not be the first who came; the lock keeps them
    # apart.
    OpenBLASController.clear_controlling_thread(force=True)
