"""Work on parts of something long in several threads, and have the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from castell.errors import OptionError
from castell.numbers import is_whole

T = TypeVar("T")
R = TypeVar("R")


def check_threads(threads: int) -> int:
    if not is_whole(threads, 1):
        raise OptionError(f"threads is {threads!r}", "give a whole number from 1 up, or none")
    return int(threads)


def in_order(work: Callable[[T], R], parts: Iterable[T], threads: int) -> Iterator[R]:
    """The results in the order of the parts, which are read here, at most one more than threads
    ahead: memory stays bounded. With one thread nothing is read ahead.

    >>> list(in_order(lambda part: part**2, range(5), 2))
    [0, 1, 4, 9, 16]
    """
    if threads == 1:
        yield from map(work, parts)
        return
    pool, waiting = ThreadPoolExecutor(threads), deque[Future[R]]()
    try:
        for part in parts:
            waiting.append(pool.submit(work, part))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # Whoever stops early does not wait for what was not begun.
        pool.shutdown(cancel_futures=True)
