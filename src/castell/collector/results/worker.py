"""Where questions are worked out: beside the event loop, one at a time, each only once."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from typing import TypeVar

from castell.collector.results.answer import Answer, signals, solve
from castell.collector.results.dated_reports import DatedReports, read_store
from castell.collector.results.overview import step_of
from castell.collector.results.question import Question
from castell.collector.settings import State
from castell.collector.wire import RefusedError
from castell.results.joint import JointEstimate

# Tables kept for the next who asks; questions that may wait.
KEPT = 64
WAITING = 16
# Reading the store again takes at most this share of the time.
SHARE = 0.1

T = TypeVar("T")
Gone = Callable[[], Awaitable[bool]]


def _load() -> None:
    """What charts and frames use, where it is installed, before the first question.

    Altair looks into pandas as soon as any thread begins to import it, and fails if that thread is
    not yet done; a thread that imports it too waits until it is.
    """
    for name in ("pandas", "altair"):
        with suppress(ImportError):
            import_module(name)


class ResultsWorker:
    """Reads the store and fits models in two threads of its own, so that reports never wait.

    What it works from is read from the store anew only when enough new reports are in.
    """

    def __init__(self, state: State, clock: Callable[[], float] = time.monotonic) -> None:
        self._state, self._clock = state, clock
        self._reader = ThreadPoolExecutor(1, "castell-results-read", _load)
        self._fitter = ThreadPoolExecutor(1, "castell-results-fit", _load)
        self._joints: OrderedDict[tuple[object, ...], JointEstimate] = OrderedDict()
        self._dated: DatedReports | None = None
        self._not_before = 0.0
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def read(self, make: Callable[[int, DatedReports | None], T]) -> T:
        """What `make` makes of the number of reports, and of the reports if they are enough."""
        return await self._in(self._reader, lambda: make(*self._read()))

    async def dated_reports(self) -> DatedReports:
        """The reports, or a refusal while they are too few."""
        found = await self.read(lambda _, held: held)
        minimum = self._state.settings.minimum
        if found is None:
            raise RefusedError(
                409,
                f"there are fewer than {minimum:,} reports",
                "nothing is shown before that many are in; wait for more",
            )
        return found

    async def answer(
        self, question: Question, make: Callable[[Answer], T], gone: Gone | None = None
    ) -> T:
        """What `make` makes of the answer; it too may take its time.

        Whoever asked and is `gone` when it is their turn gets none: people change their minds
        faster than models are fitted.
        """
        if self._waiting >= WAITING:
            raise RefusedError(503, "too many questions at once", "ask again in a moment")
        self._waiting += 1
        try:
            async with self._turn:
                if gone is not None and await gone():
                    raise RefusedError(503, "nobody waits for this answer", "ask again")
                dated = await self.dated_reports()
                return await self._in(self._fitter, lambda: make(self._answer(dated, question)))
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Drop what waits; what is under way ends by itself."""
        for thread in (self._reader, self._fitter):
            thread.shutdown(wait=False, cancel_futures=True)

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(thread, work)

    # -- in the threads --------------------------------------------------------------------------

    def _read(self) -> tuple[int, DatedReports | None]:
        count, held = self._state.store.count(), self._dated
        minimum = self._state.settings.minimum
        if count < minimum:
            self._dated = None
            return count, None
        fresh = held is not None and held.n <= count < held.n + step_of(minimum)
        early = held is not None and self._clock() < self._not_before
        if held is not None and (fresh or early):
            return count, held
        start = self._clock()
        self._dated = read_store(self._state.store)
        end = self._clock()
        self._not_before = end + (end - start) / SHARE
        return count, self._dated

    def _answer(self, dated: DatedReports, question: Question) -> Answer:
        # Reports are never taken away, so as many reports are the same reports.
        key = (dated.n, question.attributes, question.method, question.post)
        joint = self._joints.pop(key, None) or solve(dated, question)
        self._joints[key] = joint
        if len(self._joints) > KEPT:
            self._joints.popitem(last=False)
        return Answer(question, dated, joint, signals(dated, joint, question.level))
