"""Independent work on all cores: tasks in, results in the same order out.

Every task says itself which seed it has, so how many processes share the work changes no number.
Outside of `processes` everything is done here and now, in order.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import TypeVar

from castell import CastellError
from castell.cli.progress import progress_bar
from castell.errors import OptionError
from castell.linear.cores import usable_cores
from experiments import costs
from experiments.costs import Timed, timed

T = TypeVar("T")
R = TypeVar("R")

# A worker has one core; libraries that would take all of them are told so before they start.
_ALONE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}
# Seconds between two lines of progress, where there is no terminal to draw a bar on.
EVERY = 20.0

_pool: Executor | None = None


class WorkError(CastellError):
    """A process that ended before its work was done."""


@contextmanager
def processes(count: int | None = None) -> Iterator[None]:
    """Until the end of this, `work` is shared by so many processes; None: one for each core."""
    global _pool
    count = usable_cores() if count is None else count
    if count < 1:
        raise OptionError(f"{count} processes", "give one or more")
    before, others = dict(os.environ), set(multiprocessing.active_children())
    os.environ.update(_ALONE)
    context = multiprocessing.get_context("spawn")
    _pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin)
    try:
        yield
    except BaseException:
        # What nobody waits for any more is not worked out to its end.
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        _pool.shutdown(cancel_futures=True)
        _pool = None
        os.environ.clear()
        os.environ.update(before)


def work(
    do: Callable[[T], R], tasks: Sequence[T], what: str, cost: Callable[[T], float] | None = None
) -> list[R]:
    """What `do` makes of each task, in their order; see `work_in_any_order`."""
    found = dict(work_in_any_order(do, tasks, what, cost))
    costs.add(costs.SHARED, sum(one.seconds for one in found.values()))
    return [found[place].made for place in range(len(tasks))]


def work_in_any_order(
    do: Callable[[T], R], tasks: Sequence[T], what: str, cost: Callable[[T], float] | None = None
) -> Iterator[tuple[int, Timed[R]]]:
    """The place of each task, as it is done, what `do` makes of it and how long that took.

    The first error ends it all, and is that of the task. Progress goes by `cost`, roughly how long
    a task takes; without, all are alike.
    """
    sizes = [1.0 if cost is None else cost(task) for task in tasks]
    do_timed = partial(timed, do)
    with _progress(what, sum(sizes)) as tell:
        if _pool is None:
            for place, task in enumerate(tasks):
                made = do_timed(task)
                costs.done_here(made.seconds)
                tell(sizes[place])
                yield place, made
            return
        waiting: dict[Future[Timed[R]], int] = {
            _pool.submit(do_timed, task): place for place, task in enumerate(tasks)
        }
        try:
            for future in as_completed(waiting):
                made = future.result()
                tell(sizes[waiting[future]])
                yield waiting[future], made
        except BrokenProcessPool:
            raise WorkError(
                "a process ended before its work was done", "with little memory, try --jobs 1"
            ) from None
        finally:
            for future in waiting:
                future.cancel()


def _begin() -> None:
    """A worker leaves interrupts to the process that started it, and ends when that does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def _progress(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """Takes what was spent on a task: a bar on a terminal, else a line now and then."""
    done, last = 0.0, monotonic()
    with progress_bar(what) as bar:

        def tell(spent: float) -> None:
            nonlocal done, last
            done += spent
            bar(done / total)
            if not sys.stderr.isatty() and monotonic() - last >= EVERY:
                last = monotonic()
                print(f"  {what}: {done / total:.0%}", file=sys.stderr, flush=True)

        yield tell
