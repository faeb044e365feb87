"""The next stage of a store's study: planned from its reports, published if it does better.

By hand (`castell next-stage`) and by a collector, there in a process of its own: however long it
takes, reports do not wait for it. The store is all that both share. What is published there is one
transaction, and every collector of the store finds it within a second (`publish_changes`). A
process that dies before has changed nothing.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from typing import Any

from castell.collector.results.process import give_way, limit_memory
from castell.collector.settings import Staging
from castell.collector.store import counts_of, open_store
from castell.collector.store.store import StoreError
from castell.errors import CastellError
from castell.planning.next_stage import NextStage
from castell.planning.next_stage_planner import plan_next
from castell.study.study import Study


def next_stage(
    staging: Staging,
    n: int,
    *,
    at: int | None = None,
    tables: Sequence[Sequence[str]] | None = None,
    shares: Sequence[Mapping[str, Any]] | None = None,
    agree: Callable[[NextStage], bool] = lambda _: True,
    progress: Callable[[float], None] | None = None,
) -> NextStage:
    """Plan for `n` coming respondents, and publish the plan unless the present design is kept.

    `at` is the number of reports at which it was due. Whoever sees the plan may not `agree`.
    """
    with closing(open_store(staging.place, spool=staging.spool)) as store:
        _check_staged(store.study)
        counts = counts_of(store, store.study)
        if not counts.n or counts.study != store.study:
            raise StoreError("the present stage has no reports", "plan when there are some")
        found = plan_next(counts, n, tables=tables, shares=shares, progress=progress)
        if not agree(found):
            return found
        if not found.keeps_design:
            store.publish(found.study, at)
        elif at is not None:
            store.keep_design(at)
        return found


def _check_staged(study: Study) -> None:
    if study.promise is None:
        raise StoreError(
            f"{study.name!r} promises no stages, and devices would refuse one",
            "write stages = true into the study file before collecting",
        )


class PlanningError(Exception):
    """The plan was not made; the words say why, without anything of a report."""


class PlanningProcess:
    """Plans in a process of its own, one plan at a time."""

    def __init__(self, memory: int | None = None) -> None:
        self._memory, self._lock = memory, threading.Lock()
        self._process: Any = None
        self._closed = False

    def plan(self, staging: Staging, n: int, at: int) -> str:
        """'published' or 'kept', once it is."""
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        with self._lock:
            if self._closed:
                raise PlanningError("the collector ends")
            self._process = spawn.Process(
                target=_plan, args=(theirs, staging, n, at, self._memory), daemon=True
            )
            self._process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        try:
            became, words = ours.recv()
        except (EOFError, OSError):
            became, words = "failed", "its process died"
        finally:
            ours.close()
            self._process.join()
        if became == "failed":
            raise PlanningError(words)
        return str(became)

    def close(self) -> None:
        """End, with whatever is under way: it can be planned again."""
        with self._lock:
            self._closed = True
            if self._process is not None and self._process.is_alive():
                self._process.kill()


# -- in the process ------------------------------------------------------------------------------


def _plan(link: Connection, staging: Staging, n: int, at: int, memory: int | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the collector
    give_way()
    if memory is not None:
        limit_memory(memory)
    with suppress(OSError):  # a collector that was killed does not hear of it
        link.send(_outcome(staging, n, at))


def _outcome(staging: Staging, n: int, at: int) -> tuple[str, str]:
    """What became of a plan, and why it failed if it did."""
    try:
        found = next_stage(staging, n, at=at)
        return ("kept" if found.keeps_design else "published"), ""
    except CastellError as error:
        return "failed", str(error)
    except MemoryError:
        return "failed", "it needs more memory than it may take"
    except Exception as error:
        # Its kind only: the text of an error may hold anything.
        return "failed", type(error).__name__
