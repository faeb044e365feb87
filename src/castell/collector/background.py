"""Work in a thread beside the event loop that is waited for, even by who is told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def to_its_end(work: Callable[[], T]) -> T:
    """What some work in a thread returns. One who is cancelled waits for its end: a store that is
    closed then has no thread that still reads it."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        with suppress(Exception):
            await running
        raise
