"""Who looks after questions: beside the event loop, one at a time, each worked out only once."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from castell.collector.metrics import Tally
from castell.collector.results.answer import Answer
from castell.collector.results.dated_reports import DatedReports, read_store
from castell.collector.results.overview import round_down, step_of
from castell.collector.results.question import Question
from castell.collector.results.release import Schedule, first, is_over, schedule_of
from castell.collector.results.solver import LocalSolver, Solver, load_charts
from castell.collector.settings import State
from castell.collector.store.store import StoreError, hour_text, this_hour
from castell.collector.wire import RefusedError
from castell.errors import CastellError

# Questions that may wait.
WAITING = 16
# Answers that do not depend on reports, kept for the next who asks.
KEPT = 256
# Reading the store again, and telling what is in it, takes at most this share of the time.
SHARE = 0.05

T = TypeVar("T")
Gone = Callable[[], Awaitable[bool]]


class ResultsWorker:
    """Reads the store in a thread of its own and has a solver answer from what was read.

    What it works from is a release (see `release`): it changes at fixed times only. Where the
    settings name none, it is read from the store anew as soon as enough new reports are in.
    """

    def __init__(
        self,
        state: State,
        solver: Solver | None = None,
        tally: Tally | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._state, self._clock = state, clock
        self._solver, self._tally = solver or LocalSolver(), tally or Tally()
        self._reader = ThreadPoolExecutor(1, "castell-results-read", load_charts)
        self._fitter = ThreadPoolExecutor(1, "castell-results-fit", load_charts)
        self._told: tuple[object, Any] = (None, None)
        self._dated: DatedReports | None = None
        self._not_before = 0.0
        self._before = (-1, 0)  # the time of the last release that was due, and reports before it
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def read(self, make: Callable[[int, DatedReports | None], T]) -> T:
        """What `make` makes of the number of reports, and of the reports if they are enough."""
        return await self._in(self._reader, lambda: make(*self._read()))

    async def overview(self, make: Callable[[int, DatedReports | None], T]) -> T:
        """The same, made once for all who ask as long as nothing has changed.

        Who looks at the overview asks next: the solver gets ready meanwhile.
        """
        self._fitter.submit(self._solver.start)
        return await self._in(self._reader, lambda: self._overview(make))

    async def dated_reports(self) -> DatedReports:
        """The reports, or a refusal while they are too few."""
        found = await self.read(lambda _, shown: shown)
        minimum = self._state.settings.minimum
        if found is None:
            due = None if self._schedule is None else self._schedule.next(this_hour())
            when = "wait for more" if due is None else f"look again at {hour_text(due)}"
            remedy = f"nothing is shown before that many are in; {when}"
            if is_over(self._state.settings):
                remedy = "the study is over; whoever runs it can read them: `castell estimate`"
            raise RefusedError(409, f"there are fewer than {minimum:,} reports", remedy)
        return found

    async def keep_releasing(self) -> None:
        """Have each release made when it is due, whether somebody asks or not; until cancelled.

        One that is made later leaves out the reports that wait in the spool by then.
        """
        while (schedule := self._schedule) is not None:
            with suppress(StoreError):
                await self.read(lambda *_: None)
            due = schedule.next(int(time.time()))
            await asyncio.sleep(60.0 if due is None else min(60.0, due - time.time()))

    async def answer(
        self, question: Question, make: Callable[[Answer], T], gone: Gone | None = None
    ) -> T:
        """What `make` makes of the answer; it too may take its time.

        Whoever asked and is `gone` when it is their turn gets none: people change their minds
        faster than models are fitted.
        """
        async with self._in_turn(gone):
            dated = await self.dated_reports()
            return await self._in(
                self._fitter,
                lambda: self._time(lambda: self._solver.answer(dated, question, make)),
            )

    async def once(self, key: Hashable, job: Callable[[], T], gone: Gone | None = None) -> T:
        """What a job makes that needs no reports, worked out once for all who ask by its key."""
        if key not in self._kept:
            async with self._in_turn(gone):
                if key not in self._kept:  # who was before may have asked the same
                    self._kept[key] = await self._in(
                        self._fitter, lambda: self._time(lambda: self._solver.run(job))
                    )
        self._kept.move_to_end(key)
        made: T = self._kept[key]
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return made

    async def answer_without_keeping(self, job: Callable[[], T], gone: Gone | None = None) -> T:
        """The same of a job of which nothing is to be kept."""
        async with self._in_turn(gone):
            return await self._in(self._fitter, lambda: self._time(lambda: self._solver.run(job)))

    @asynccontextmanager
    async def _in_turn(self, gone: Gone | None) -> AsyncIterator[None]:
        """One question at a time; too many that wait are refused."""
        if self._waiting >= WAITING:
            raise RefusedError(503, "too many questions at once", "ask again in a moment")
        self._waiting += 1
        try:
            async with self._turn:
                if gone is not None and await gone():
                    raise RefusedError(503, "nobody waits for this answer", "ask again")
                yield
        finally:
            self._waiting -= 1

    @property
    def _schedule(self) -> Schedule | None:
        return schedule_of(self._state.settings)

    @property
    def waiting(self) -> int:
        """Questions that were asked and are not answered."""
        return self._waiting

    def close(self) -> None:
        """Drop what waits, and what is under way if the solver can."""
        self._solver.close()
        for thread in (self._reader, self._fitter):
            thread.shutdown(wait=False, cancel_futures=True)

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(thread, work)

    # -- in the threads --------------------------------------------------------------------------

    def _read(self) -> tuple[int, DatedReports | None]:
        schedule = self._schedule
        count, dated = self._latest() if schedule is None else self._last_release(schedule)
        stages = self._state.store.stages
        if dated is not None and any(one not in stages for one in dated.studies):
            self._dated = dated = dated.of(stages)  # words were corrected; the release is the same
        return count, dated

    def _last_release(self, schedule: Schedule) -> tuple[int, DatedReports | None]:
        """What was filed before the last release that brought enough, as a whole."""
        minimum, due = self._state.settings.minimum, schedule.last(this_hour())
        if due > self._before[0]:
            dated, shown = read_store(self._state.store), self._dated
            number = schedule.count_released(dated.all_hours, minimum, due)
            if number >= minimum + (0 if shown is None else shown.n):
                self._dated = first(dated, number)
            self._before = (due, schedule.count(dated.all_hours, due))
        return self._before[1], self._dated

    def _latest(self) -> tuple[int, DatedReports | None]:
        shown, minimum = self._dated, self._state.settings.minimum
        if shown is not None and self._clock() < self._not_before:
            return shown.n, shown
        count = self._state.store.count()
        if count < minimum:
            self._dated = None
            return count, None
        # The last reports fill no step, and nothing is promised of results that move as they come.
        step = 1 if is_over(self._state.settings) else step_of(minimum)
        if shown is not None and shown.n <= count < shown.n + step:
            return count, shown
        start = self._clock()
        self._dated = read_store(self._state.store)
        end = self._clock()
        self._not_before = end + (end - start) / SHARE
        return count, self._dated

    def _time(self, work: Callable[[], T]) -> T:
        start, outcome = time.monotonic(), "failed"
        try:
            made = work()
            outcome = "made"
        except CastellError:
            outcome = "refused"
            raise
        finally:
            self._tally.answers[outcome] += 1
            self._tally.answer_seconds.observe(time.monotonic() - start)
        return made

    def _overview(self, make: Callable[[int, DatedReports | None], T]) -> T:
        count, dated = self._read()
        told = round_down(count, self._state.settings.minimum) if dated is None else dated
        over = is_over(self._state.settings)
        seen = (told, self._before[0], self._state.study.digest, over)
        if self._told[0] is None or self._told[0] != seen:
            start = self._clock()
            self._told = (seen, make(count, dated))
            self._not_before += (self._clock() - start) / SHARE
        made: T = self._told[1]
        return made
