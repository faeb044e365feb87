"""Releases: what analysts see moves at fixed times only, by many reports at once.

Whoever sees the reports before and after one person has answered sees that person's report. Steps
that count reports do not prevent it where anybody may send: an analyst sends reports of their own
until a step is full, and leaves them out of the difference. So a release is a function of the clock
and of what was filed, never of who asks or sends: it comes at whole multiples of some hours (UTC),
holds what was filed before, and comes only if `minimum` reports are new in it. Own reports can fill
the minimum; they cannot move the time. What two releases differ by is all that came in between.

A collector that starts anew works out its last release from the hours of filing. Reports that wait
in the spool have the hour of the last of them, so it may leave some of them out until the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from castell.collector.results.dated_reports import DatedReports
from castell.collector.store.store import HOUR
from castell.reports.reports import Reports


def release_time(now: int, hours: int) -> int:
    """The last time at which a release could come, in seconds since 1970.

    >>> release_time(100_000, 24), release_time(100_000, 1)
    (86400, 97200)
    """
    return now // (hours * HOUR) * hours * HOUR


def next_release(now: int, hours: int) -> int:
    """The next time at which one can.

    >>> next_release(100_000, 24)
    172800
    """
    return release_time(now, hours) + hours * HOUR


def released(filed: NDArray[np.int64], minimum: int, hours: int, now: int) -> int:
    """How many reports are out, of those filed in these hours, which ascend.

    Each release counts from the one before it, whoever saw it.

    >>> days = np.repeat([0, 1, 2, 3], [150, 60, 50, 500]) * 24 * 3600
    >>> [released(days, 100, 24, day * 24 * 3600) for day in range(5)]
    [0, 150, 150, 260, 760]
    """
    ends = np.unique(filed // (hours * HOUR) + 1) * (hours * HOUR)
    out = 0
    for end in ends[ends <= now]:
        there = int(np.searchsorted(filed, end))
        if there - out >= minimum:
            out = there
    return out


def first(dated: DatedReports, number: int) -> DatedReports:
    """The reports that were filed first: those of whole hours, as `released` counts them."""
    columns = [column[:number] for column in dated.reports.columns]
    reports = Reports(dated.study, columns, secure=dated.reports.secure)
    return DatedReports(reports, dated.hours[:number])
