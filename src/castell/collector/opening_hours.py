"""Whether reports are taken now: the hours that a study file gives, and the owner's pause.

The clock is this machine's own, in UTC, looked at for each request. One that jumps can only close:
once the end was seen, the collection stays closed until the collector is started again, even if the
clock goes back. Before the beginning nothing is taken: a machine that wakes up in 1970 is closed.

503 with Retry-After while it is not open yet or paused: both end by themselves, and every client
that knows HTTP keeps its report and comes back. 403 after the end: to come back is of no use.
"""

from __future__ import annotations

import enum
import logging
import math
import time
from collections.abc import Callable
from typing import Any

from castell.collector.wire import RefusedError
from castell.study.collection_table import OpeningHours

# Seconds after which to come back: nobody knows when a pause ends, and an opening may be moved.
PAUSE, LONGEST = 300, 86_400

_LOG = logging.getLogger("castell")


class Phase(enum.Enum):
    NOT_OPEN_YET = "not_open_yet"
    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


class Opening:
    """Knows what time it is, and what follows from it."""

    def __init__(self, hours: OpeningHours, clock: Callable[[], float] = time.time) -> None:
        self._opens = -math.inf if hours.opens is None else hours.opens.timestamp()
        self._closes = math.inf if hours.closes is None else hours.closes.timestamp()
        self._told = {
            "opens": None if hours.opens is None else hours.opens.isoformat(),
            "closes": None if hours.closes is None else hours.closes.isoformat(),
        }
        self._clock, self._is_over, self._said = clock, False, False

    def phase(self, *, paused: bool = False) -> Phase:
        """What is so now. A pause before the beginning or after the end makes no difference."""
        now = self._clock()
        if now >= self._closes:
            self._is_over = True
        if self._is_over:
            if now < self._closes and not self._said:
                self._said = True
                _LOG.warning(
                    "castell: the clock went back to before the end of the collection, which stays "
                    "closed: if the end was not reached yet, start the collector again"
                )
            return Phase.CLOSED
        if now < self._opens:
            return Phase.NOT_OPEN_YET
        return Phase.PAUSED if paused else Phase.OPEN

    def for_clients(self, *, paused: bool) -> dict[str, Any]:
        """For clients, before anybody is asked anything."""
        return {"state": self.phase(paused=paused).value, **self._told}

    def refusal(self, phase: Phase) -> RefusedError:
        """Why a report is not taken. Nothing was kept, and its invitation is not used."""
        if phase is Phase.CLOSED:
            return _NotOpenError(
                403, phase, "the collection has ended", "keep the report; thank you"
            )
        if phase is Phase.PAUSED:
            remedy = "send the same report again later"
            return _NotOpenError(503, phase, "the collection is paused", remedy, PAUSE)
        left = math.ceil(self._opens - self._clock())
        problem, remedy = "the collection is not open yet", f"it opens {self._told['opens']}"
        return _NotOpenError(503, phase, problem, remedy, min(max(1, left), LONGEST))


class _NotOpenError(RefusedError):
    def __init__(
        self, status: int, phase: Phase, problem: str, remedy: str, seconds: int | None = None
    ) -> None:
        super().__init__(status, problem, remedy, phase.value)
        self.seconds, self.state = seconds, phase.value
