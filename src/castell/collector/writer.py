"""Group commit: what comes while the disk is busy goes to it together.

A request gets its answer after the store has returned from keeping it, never before.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor

from castell.collector.metrics import Histogram
from castell.collector.store.store import Outcome, Store, StoreError, Submission

# Long enough for the disk, short enough for a bulk not to wait for many others.
MOST_ROWS = 2048
REST_AFTER = 2.0
FAILS_FOR = 30.0

_LOG = logging.getLogger("castell")


class BusyError(StoreError):
    """More waits for the disk than the collector holds in memory."""


class Writer:
    """Hands submissions to the store, one batch at a time, from a thread of its own."""

    def __init__(self, store: Store, queue: int, commit_seconds: Histogram | None = None) -> None:
        self._store, self._most = store, queue
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="castell-writer")
        self._waiting: list[tuple[Submission, asyncio.Future[Outcome]]] = []
        self._rows = 0
        self._task: asyncio.Task[None] | None = None
        self._rest: asyncio.TimerHandle | None = None
        self.commits = 0
        self._commit_seconds = commit_seconds
        self._failed: float | None = None

    @property
    def queue(self) -> int:
        """Reports that wait for the disk."""
        return self._rows

    @property
    def failing(self) -> bool:
        """Whether a batch could not be written a moment ago. Later it is worth another try."""
        if self._failed is None:
            return False
        return asyncio.get_running_loop().time() - self._failed < FAILS_FOR

    def submit(self, submission: Submission) -> asyncio.Future[Outcome]:
        """The outcome, once it is durable."""
        if self._rows + len(submission.reports) > self._most:
            raise BusyError("the collector is busy", "send the report again in a while")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        self._waiting.append((submission, future))
        self._rows += len(submission.reports)
        if self._task is None:
            self._task = loop.create_task(self._drain())
        return future

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        if self._rest is not None:
            self._rest.cancel()
        while self._waiting:
            batch = self._take()
            submissions = [submission for submission, _ in batch]
            start = loop.time()
            try:
                outcomes = await loop.run_in_executor(self._thread, self._store.add, submissions)
                self._failed = None
            except Exception as error:
                # Whatever it was, nobody may be told that their report is kept.
                problem = _as_store_error(error)
                if not self.failing:  # once for each trouble; the operator looks here first
                    _LOG.error("castell: reports are not kept: %s", problem)
                self._failed = loop.time()
                for _, future in batch:
                    if not future.done():
                        future.set_exception(problem)
            else:
                self.commits += 1
                if self._commit_seconds is not None:
                    self._commit_seconds.observe(loop.time() - start)
                for (_, future), outcome in zip(batch, outcomes, strict=True):
                    if not future.done():  # its request may be gone; the report is kept
                        future.set_result(outcome)
            self._rows -= sum(len(submission.reports) for submission in submissions)
        self._task = None
        self._rest = loop.call_later(REST_AFTER, self._thread.submit, self._store.rest)

    def _take(self) -> list[tuple[Submission, asyncio.Future[Outcome]]]:
        rows = 0
        for i, (submission, _) in enumerate(self._waiting):
            rows += len(submission.reports)
            if rows > MOST_ROWS and i:
                batch, self._waiting = self._waiting[:i], self._waiting[i:]
                return batch
        batch, self._waiting = self._waiting, []
        return batch

    async def close(self) -> None:
        """Finish what waits, then stop."""
        if self._rest is not None:
            self._rest.cancel()
        if self._task is not None:
            await self._task
        if self._rest is not None:
            self._rest.cancel()
        self._thread.shutdown(wait=True)


def _as_store_error(error: Exception) -> StoreError:
    if isinstance(error, StoreError):
        return error
    return StoreError(f"the store failed ({type(error).__name__})", "send the report again later")
