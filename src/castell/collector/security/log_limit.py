"""Strangers can make the server write log lines; this keeps them from filling the disk."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

# Lines of one text in one period, and how long that is in seconds.
LINES = 5
PERIOD = 600.0
# Texts told apart; more come from no program, only from what is put into them.
TEXTS = 100


class LogLimit(logging.Filter):
    """Lets the first lines of each text through, says once that more are left out, counts those."""

    def __init__(self, dropped: Counter[str], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._dropped, self._clock = dropped, clock
        self._lines: Counter[str] = Counter()
        self._end = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        now = self._clock()
        if now >= self._end:
            self._lines.clear()
            self._end = now + PERIOD
        text = str(record.msg) if record.msg in self._lines or len(self._lines) < TEXTS else ""
        self._lines[text] += 1
        if self._lines[text] > LINES:
            self._dropped["log_lines"] += 1
            return False
        if self._lines[text] == LINES:
            more = f" (more of these are left out for {PERIOD / 60:.0f} minutes)"
            record.msg, record.args = record.getMessage() + more, ()
        return True
