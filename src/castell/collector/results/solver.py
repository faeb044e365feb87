"""Questions worked out from reports in memory: here, or in a process of its own (`process`)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Protocol, TypeVar

from castell.collector.results.answer import Answer, signals, solve
from castell.collector.results.dated_reports import DatedReports
from castell.collector.results.question import Question
from castell.results.joint import JointEstimate

# Tables kept for the next who asks.
KEPT = 64

T = TypeVar("T")


def load_charts() -> None:
    """What charts and frames use, where it is installed, before the first question.

    Altair looks into pandas as soon as any thread begins to import it, and fails if that thread is
    not yet done; a thread that imports it too waits until it is.
    """
    for name in ("pandas", "altair"):
        with suppress(ImportError):
            import_module(name)


class Solver(Protocol):
    """Answers one question at a time, from one thread."""

    def start(self) -> None:
        """Get ready, before anybody waits."""
        ...

    def answer(self, dated: DatedReports, question: Question, make: Callable[[Answer], T]) -> T:
        """What `make` makes of the answer."""
        ...

    def run(self, job: Callable[[], T]) -> T:
        """What a job makes that needs no reports; one that can be sent to another process."""
        ...

    def close(self) -> None:
        """End, with whatever is under way; may be called from any thread."""
        ...


class LocalSolver:
    """Works in the thread that asks."""

    def __init__(self) -> None:
        self._joints: OrderedDict[tuple[object, ...], JointEstimate] = OrderedDict()

    def start(self) -> None:
        """Nothing to do."""

    def answer(self, dated: DatedReports, question: Question, make: Callable[[Answer], T]) -> T:
        # Reports are never taken away, so as many reports are the same reports; words may change.
        key = (dated.study.digest, dated.n, question.attributes, question.method, question.post)
        joint = self._joints.pop(key, None) or solve(dated, question)
        self._joints[key] = joint
        if len(self._joints) > KEPT:
            self._joints.popitem(last=False)
        return make(Answer(question, dated, joint, signals(dated, joint, question.level)))

    def run(self, job: Callable[[], T]) -> T:
        return job()

    def close(self) -> None:
        """Nothing to do: what is under way ends by itself."""
