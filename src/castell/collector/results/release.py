"""Releases: what analysts see moves at fixed times only, by many reports at once.

Whoever sees the reports before and after one person has answered sees that person's report. Steps
that count reports do not prevent it where anybody may send: an analyst sends reports of their own
until a step is full, and leaves them out of the difference. So a release is a function of the clock
and of what was filed, never of who asks or sends: it comes at whole multiples of some hours (UTC),
holds what was filed before, and comes only if `minimum` reports are new in it. Own reports can fill
the minimum; they cannot move the time. What two releases differ by is all that came in between.

That must not be little because the collection opens just before a release or closes just after one.
So the first comes a whole period after the opening, and those of the last period before the end are
left to the final one after it, which holds all there is. If fewer than the minimum are new in that,
it does not come either: no later report can hide them.

A collector that starts anew works out its last release from the hours of filing. Reports that wait
in the spool have the hour of the last of them, so it may leave some of them out until the next.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from castell.collector.results.dated_reports import DatedReports
from castell.collector.settings import Settings
from castell.collector.store.store import HOUR

# Seconds after the end by which every report that came before it is in the store.
SETTLING = 600


@dataclass(frozen=True)
class Schedule:
    """When releases can come: every so many hours; times are in seconds since 1970.

    >>> every_day = Schedule(24)
    >>> every_day.last(100_000), every_day.next(100_000)
    (86400, 172800)
    """

    hours: int
    opens: float = -inf
    closes: float = inf

    @property
    def period(self) -> int:
        return self.hours * HOUR

    @property
    def final(self) -> float:
        """When the last one comes, of all that there is: after the end, at a time that is known."""
        if self.closes == inf:
            return inf
        moment = ceil(self.closes / self.period) * self.period
        return moment if moment - self.closes >= SETTLING else moment + HOUR

    def last(self, now: int) -> int:
        """The last time at which one could come; 0 if there was none."""
        if now >= self.final:
            return int(self.final)
        moment = now // self.period * self.period
        while moment > 0 and not self._has(moment):
            moment -= self.period
        return max(moment, 0)

    def next(self, now: int) -> int | None:
        """The next time at which one can; none after the final one.

        >>> half_past = Schedule(24, opens=86400 - 1800, closes=4 * 86400 + 1800)
        >>> [(half_past.next(day * 86400) or 0) / 86400 for day in range(6)]
        [2.0, 2.0, 3.0, 5.0, 5.0, 0.0]
        """
        if now >= self.final:
            return None
        moment = (now // self.period + 1) * self.period
        while moment < self.final and not self._has(moment):
            moment += self.period
        return int(min(moment, self.final))

    def count(self, filed: NDArray[np.int64], moment: int) -> int:
        """How many of the reports filed in these hours, which ascend, were there at a release."""
        return len(filed) if moment >= self.final else int(np.searchsorted(filed, moment))

    def count_released(self, filed: NDArray[np.int64], minimum: int, now: int) -> int:
        """How many of them are out. Each release counts from the one before it, whoever saw it.

        >>> days = np.repeat([0, 1, 2, 3], [150, 60, 50, 500]) * 24 * 3600
        >>> [Schedule(24).count_released(days, 100, day * 24 * 3600) for day in range(5)]
        [0, 150, 150, 260, 760]
        """
        ends = np.unique(filed // self.period + 1) * self.period
        # Where none can come at the end of a period, what was filed in it waits for the next.
        moments = [
            moment for moment in np.union1d(ends, ends + self.period).tolist() if self._has(moment)
        ]
        moments += [] if self.final == inf else [int(self.final)]
        out = 0
        for moment in moments:
            there = self.count(filed, moment)
            if moment <= now and there - out >= minimum:
                out = there
        return out

    def _has(self, moment: int) -> bool:
        """Whether one can come at this multiple of the period, before the end."""
        return self.opens + self.period <= moment <= self.closes - self.period


def schedule_of(settings: Settings) -> Schedule | None:
    """When results of a collector can change; none where they move as reports come."""
    opens, closes = settings.hours.opens, settings.hours.closes
    if not settings.release_hours:
        return None
    return Schedule(
        settings.release_hours,
        -inf if opens is None else opens.timestamp(),
        inf if closes is None else closes.timestamp(),
    )


def is_over(settings: Settings) -> bool:
    """Whether the study has ended, and all that can be released is."""
    schedule, closes = schedule_of(settings), settings.hours.closes
    if schedule is not None:
        return schedule.next(int(time.time())) is None
    return closes is not None and time.time() >= closes.timestamp()


def first(dated: DatedReports, number: int) -> DatedReports:
    """The reports that were filed first, as `released` counts them."""
    hours = dated.all_hours
    # A release ends with an hour: what was filed next is of a later one.
    return dated if number >= dated.n else dated.before(int(hours[number]))
