"""How far a question has come, for whoever waits for its answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from castell.collector.results.question import Question


@dataclass(eq=False)
class _Place:
    question: Question
    since: float | None = None  # when it became its turn


class Progress:
    """Questions in the order they came: that in which they are worked out, one at a time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._line: list[_Place] = []
        self._took: dict[str, float] = {}

    @contextmanager
    def of(self, question: Question) -> Iterator[None]:
        """While the block runs, the question waits or is worked out."""
        place = _Place(question)
        self._line.append(place)
        self._next()
        try:
            yield
            if place.since is not None:
                self._took[question.method] = self._clock() - place.since
        finally:
            self._line.remove(place)
            self._next()

    def _next(self) -> None:
        if self._line and self._line[0].since is None:
            self._line[0].since = self._clock()

    def place_in_line(self, question: Question) -> dict[str, Any]:
        """How many questions are before it, the seconds since its turn came, and those that the
        last question to the same method took; null where there is nothing to tell."""
        usual = self._took.get(question.method)
        for ahead, place in enumerate(self._line):
            if place.question == question:
                seconds = None if place.since is None else self._clock() - place.since
                return {"ahead": ahead, "seconds": seconds, "usual": usual}
        return {"ahead": None, "seconds": None, "usual": usual}
