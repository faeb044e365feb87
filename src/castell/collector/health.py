"""Whether reports can be kept: of the store itself, not only of what was written last."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from castell.collector.store import Store, StoreError
from castell.collector.writer import Writer

# Seconds that a look at the store counts for all who ask, and how long one may take.
FRESH = 1.0
PATIENCE = 5.0


class Health:
    """Looks at the store when asked, in a thread of its own, and not for each who asks."""

    def __init__(self, store: Store, writer: Writer) -> None:
        self._store, self._writer = store, writer
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="castell-health")
        self._look: asyncio.Future[bool] | None = None
        self._since = 0.0

    async def good(self) -> bool:
        if self._writer.failing:
            return False
        loop = asyncio.get_running_loop()
        old = loop.time() - self._since > FRESH
        if self._look is None or (self._look.done() and old):
            self._since = loop.time()
            self._look = loop.run_in_executor(self._thread, self._can_read)
        # One look at a time: a database that does not answer would else take thread after thread.
        await asyncio.wait({self._look}, timeout=PATIENCE)
        return self._look.done() and self._look.result()

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _can_read(self) -> bool:
        try:
            self._store.needs_invitation()
        except StoreError:
            return False
        return True
