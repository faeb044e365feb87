"""A process of its own for models: however long a fit takes, reports do not wait for it.

Threads share one interpreter, and a fit in a thread halves the reports a second. The process is
started when it is first needed, gets the reports once, and is started again if it dies.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from castell.collector.results.answer import Answer
from castell.collector.results.dated_reports import DatedReports
from castell.collector.results.question import Question
from castell.collector.results.solver import LocalSolver, load_charts
from castell.collector.wire import RefusedError
from castell.errors import CastellError

# Models give way to reports where both want the processor.
NICE = 19
# The share of the machine's memory that a fit may take.
MEMORY_SHARE = 0.5

_LOG = logging.getLogger("castell")

T = TypeVar("T")


class SolverProcess:
    """Hands questions to a process and waits for its answers.

    `memory` is how many bytes it may take; a question that needs more is refused. `counted` counts
    how often it had to be started again.
    """

    def __init__(self, counted: Counter[str] | None = None, memory: int | None = None) -> None:
        self._counted: Counter[str] = Counter() if counted is None else counted
        self._memory = memory or default_memory()
        self._lock = threading.Lock()  # of starting and ending, not of waiting
        self._process: Any = None
        self._link: Connection | None = None
        self._sent: DatedReports | None = None
        self._closed = False

    def start(self) -> None:
        self._connect()

    def answer(self, dated: DatedReports, question: Question, make: Callable[[Answer], T]) -> T:
        made: T = self._ask_twice((question, make), dated)
        return made

    def run(self, job: Callable[[], T]) -> T:
        made: T = self._ask_twice(job)
        return made

    def _ask_twice(self, asked: Any, dated: DatedReports | None = None) -> Any:
        for _ in range(2):  # whatever killed it may have been meant for another
            try:
                kind, content = self._ask(asked, dated)
                break
            except (EOFError, OSError):
                self._end()
                if self._closed:
                    raise RefusedError(503, "the collector ends", "ask again later") from None
                self._counted["restarts"] += 1
                _LOG.error("castell: the process that fits models died and is started again")
        else:
            raise _too_much()
        if kind == "error":
            raise content
        if kind == "memory":
            raise _too_much()
        if kind == "failed":
            raise RuntimeError(f"the process that fits models failed: {content}")
        return content

    def close(self) -> None:
        self._closed = True
        with self._lock:
            if self._process is not None:
                self._process.kill()  # who waits for its answer closes the pipe
                self._process.join()

    def _ask(self, asked: Any, dated: DatedReports | None) -> tuple[str, Any]:
        link = self._connect()
        if dated is not None and self._sent is not dated:
            link.send(dated)
            self._sent = dated
        link.send(asked)
        kind, content = link.recv()
        return kind, content

    def _connect(self) -> Connection:
        with self._lock:
            if self._closed:
                raise EOFError
            if self._link is None:
                # Not a fork: it would take the locks of threads that are not there any more along.
                spawn = multiprocessing.get_context("spawn")
                self._link, theirs = spawn.Pipe()
                self._process = spawn.Process(
                    target=_serve, args=(theirs, self._memory), name="castell-models", daemon=True
                )
                self._process.start()
                theirs.close()  # so that the end of the process is the end of the pipe
                self._sent = None
            return self._link

    def _end(self) -> None:
        with self._lock:
            if self._process is not None and self._link is not None:
                self._process.kill()
                self._process.join()
                self._process.close()
                self._link.close()
            self._process = self._link = None


def default_memory() -> int:
    """Bytes that a fit may take: a share of what the machine has."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not known on this system
        whole = 8 << 30
    return int(whole * MEMORY_SHARE)


def _too_much() -> RefusedError:
    return RefusedError(
        503, "this is too much to work out here", "ask for fewer attributes, or another method"
    )


# -- in the process ------------------------------------------------------------------------------


def _serve(link: Connection, memory: int) -> None:
    """Answer until the collector hangs up, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the collector
    give_way()
    limit_memory(memory)
    load_charts()
    solver, dated = LocalSolver(), None
    with contextlib.suppress(EOFError, OSError):
        while True:
            asked = link.recv()
            if isinstance(asked, DatedReports):
                dated = asked
                continue
            link.send(_answer(solver, dated, asked))


def _answer(solver: LocalSolver, dated: Any, asked: Any) -> tuple[str, Any]:
    """A question with what to make of its answer, or a job that needs no reports."""
    try:
        return "made", solver.run(asked) if callable(asked) else solver.answer(dated, *asked)
    except CastellError as error:
        return "error", error
    except MemoryError:
        return "memory", None
    except Exception as error:
        # Its kind only: the text of an error may hold anything.
        return "failed", type(error).__name__


def give_way() -> None:
    """Have the processor after those who take reports."""
    with contextlib.suppress(AttributeError, OSError):
        os.nice(NICE)


def limit_memory(size: int) -> None:
    """Take so many bytes and no more, where the system can see to that."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
