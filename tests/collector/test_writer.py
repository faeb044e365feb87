"""Group commit: together while the disk is busy, answered after it, never lost on the way."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from castell.collector import writer as module
from castell.collector.store import StoreError, Submission
from castell.collector.store.sqlite import SqliteStore
from castell.collector.store.store import Outcome
from castell.collector.writer import BusyError, Writer
from tests.collector.respondents import STUDY, pair


class Gated(SqliteStore):
    """A disk that waits to be let go on, and remembers what came together."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, STUDY)
        self.gate, self.batches_seen = threading.Semaphore(0), list[int]()
        self.rested = 0

    def add(self, submissions: Any) -> list[Outcome]:
        assert self.gate.acquire(timeout=30)
        self.batches_seen.append(len(submissions))
        return super().add(submissions)

    def rest(self) -> None:
        self.rested += 1
        super().rest()


def one() -> Submission:
    return Submission((pair(),))


def run(
    store: Gated, test: Callable[[Writer], Coroutine[Any, Any, None]], queue: int = 100
) -> None:
    async def main() -> None:
        writer = Writer(store, queue)
        try:
            await test(writer)
        finally:
            for _ in range(50):
                store.gate.release()
            await writer.close()

    asyncio.run(main())
    store.close()


@pytest.fixture
def store(tmp_path: Path) -> Gated:
    return Gated(tmp_path / "s.sqlite")


async def tick() -> None:
    for _ in range(5):
        await asyncio.sleep(0.01)


def test_what_waits_goes_together_and_is_answered_after(store: Gated) -> None:
    async def test(writer: Writer) -> None:
        first = writer.submit(one())
        await tick()
        others = [writer.submit(one()) for _ in range(9)]
        await tick()
        # Nothing is on the disk, so nobody has been told anything.
        assert not any(future.done() for future in [first, *others])
        assert store.count() == 0
        store.gate.release()
        assert (await first).stored == 1
        assert store.count() == 1
        assert not any(future.done() for future in others)
        store.gate.release()
        assert [outcome.stored for outcome in await asyncio.gather(*others)] == [1] * 9
        assert store.batches_seen == [1, 9]
        assert store.count() == 10
        assert writer.commits == 2

    run(store, test)


def test_a_batch_has_a_size(store: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 4)

    async def test(writer: Writer) -> None:
        large = Submission(tuple(pair() for _ in range(6)))
        waiting = [writer.submit(s) for s in (one(), one(), large, one(), one())]
        for _ in range(9):
            store.gate.release()
        await asyncio.gather(*waiting)
        # One that is larger than a batch goes alone.
        assert store.batches_seen == [2, 1, 2]

    run(store, test)


def test_memory_has_a_limit(store: Gated) -> None:
    async def test(writer: Writer) -> None:
        futures = [writer.submit(one()) for _ in range(3)]
        with pytest.raises(BusyError, match=r"busy: send the report again"):
            writer.submit(one())
        for _ in range(9):
            store.gate.release()
        await asyncio.gather(*futures)
        await tick()
        assert (await writer.submit(one())).stored == 1

    run(store, test, queue=3)


def test_a_client_that_went_away_does_not_stop_the_others(store: Gated) -> None:
    async def test(writer: Writer) -> None:
        gone, stays = writer.submit(one()), writer.submit(one())
        await tick()
        gone.cancel()
        store.gate.release()
        assert (await stays).stored == 1
        assert store.count() == 2

    run(store, test)


def test_an_error_reaches_everybody_in_the_batch_and_nobody_else(store: Gated) -> None:
    async def test(writer: Writer) -> None:
        real = SqliteStore.add

        def fail(self: Any, submissions: Any) -> Any:
            del self, submissions
            raise OSError("no disk")

        store.add = fail.__get__(store)  # type: ignore[method-assign]
        futures = [writer.submit(one()) for _ in range(3)]
        for found in await asyncio.gather(*futures, return_exceptions=True):
            assert isinstance(found, StoreError)
        assert writer.failing
        store.add = real.__get__(store)  # type: ignore[method-assign]
        assert (await writer.submit(one())).stored == 1
        assert not writer.failing

    run(store, test)


def test_failing_is_forgotten_after_a_while(store: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FAILS_FOR", 0.0)

    async def test(writer: Writer) -> None:
        store._writer.execute("PRAGMA query_only = 1")
        store.gate.release()
        with pytest.raises(StoreError):
            await writer.submit(one())
        assert not writer.failing

    run(store, test)


def test_closing_finishes_what_waits(store: Gated) -> None:
    futures: list[asyncio.Future[Outcome]] = []

    async def test(writer: Writer) -> None:
        futures.extend(writer.submit(one()) for _ in range(5))

    run(store, test)
    assert [future.result().stored for future in futures] == [1] * 5


def test_rest_comes_when_nothing_does(store: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REST_AFTER", 0.01)

    async def test(writer: Writer) -> None:
        store.gate.release()
        await writer.submit(one())
        for _ in range(500):
            if store.rested:
                break
            await asyncio.sleep(0.01)
        assert store.rested == 1

    run(store, test)
