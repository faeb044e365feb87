"""Small matrix products on one thread.

Libraries that multiply matrices start a thread for every core. For products as small as those of a
fit these threads mostly wait for each other: twice the work for the same time, and a crawl where
several processes share the cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    # Found once: looking through all that is loaded takes longer than many a fit.
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """For a while. Where a library knows no limit for one caller, it is that of the process."""
    with _libraries().limit(limits=1, user_api="blas"):
        yield
