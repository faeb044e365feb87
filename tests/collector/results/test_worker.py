"""Questions never hold up reports, are worked out once, and move in steps."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from castell import JointEstimate
from castell.collector.results import solver as solver_module
from castell.collector.results import worker as worker_module
from castell.collector.results.answer import Answer, solve
from castell.collector.results.dated_reports import DatedReports, read_store
from castell.collector.results.question import Question
from castell.collector.results.worker import WAITING, ResultsWorker
from castell.collector.store import Packing, Store, Submission
from castell.collector.wire import RefusedError
from tests.collector.results.stores import STUDY, fill_store, reports_of, spread, state_of

ASKED = Question(("smokes", "health"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = fill_store(tmp_path / "s.sqlite", reports_of(200), spread(200, 2))
    yield made
    made.close()


def _add(store: Store, many: int, seed: int) -> None:
    pack = Packing(STUDY.design.widths).pack
    rows = zip(*(c.tolist() for c in reports_of(many, seed).columns), strict=True)
    pairs = ((bytes([seed]) * 15 + bytes([k]), pack(codes)) for k, codes in enumerate(rows))
    store.add([Submission(tuple(pairs))])


def _n(given: Answer) -> int:
    return given.joint.n


def _both(count: int, dated: DatedReports | None) -> tuple[int, DatedReports | None]:
    return count, dated


class Solver:
    """Counts what is really worked out."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    def __call__(self, dated: DatedReports, question: Question) -> JointEstimate:
        self.asked.append(question)
        return solve(dated, question)


class Held(Solver):
    """Works nothing out before it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, dated: DatedReports, question: Question) -> JointEstimate:
        self.begun.set()
        assert self.go_on.wait(30)
        return super().__call__(dated, question)

    async def asked_by(self, worker: ResultsWorker) -> asyncio.Task[int]:
        """A question that is under way."""
        asked = asyncio.create_task(worker.answer(ASKED, _n))
        while not self.begun.is_set():
            await asyncio.sleep(0.001)
        return asked


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    solver = Held()
    monkeypatch.setattr(solver_module, "solve", solver)
    return solver


def test_results_move_in_steps_so_that_no_single_report_shows(store: Store) -> None:
    async def run() -> list[int]:
        worker = ResultsWorker(state_of(store), clock=lambda: 0.0)
        seen = [await worker.answer(ASKED, _n)]
        _add(store, 9, seed=2)
        seen.append(await worker.answer(ASKED, _n))
        _add(store, 1, seed=3)
        seen.append(await worker.answer(ASKED, _n))
        worker.close()
        return seen

    # Steps of a tenth of the minimum of 100.
    assert asyncio.run(run()) == [200, 200, 210]


def test_a_store_that_takes_long_to_read_is_read_seldom(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def slow(taken: Store) -> DatedReports:
        nonlocal now
        now += 2.0
        return read_store(taken)

    monkeypatch.setattr(worker_module, "read_store", slow)

    async def run() -> list[int]:
        nonlocal now
        worker = ResultsWorker(state_of(store), clock=lambda: now)
        seen = [await worker.answer(ASKED, _n)]
        _add(store, 50, seed=2)
        now += 39.0
        seen.append(await worker.answer(ASKED, _n))
        now += 1.0
        seen.append(await worker.answer(ASKED, _n))
        worker.close()
        return seen

    assert asyncio.run(run()) == [200, 200, 250]


def test_a_table_is_worked_out_once_for_all_levels_and_charts(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = Solver()
    monkeypatch.setattr(solver_module, "solve", solver)
    other = [
        Question(ASKED.attributes, level=0.9),
        Question(ASKED.attributes, chart="bars"),
        Question(ASKED.attributes, post="clip"),
        Question(ASKED.attributes[::-1]),
    ]

    async def run() -> None:
        worker = ResultsWorker(state_of(store))
        for question in (ASKED, *other, ASKED):
            await worker.answer(question, _n)
        worker.close()

    asyncio.run(run())
    assert solver.asked == [ASKED, *other[2:]]


def test_a_long_fit_holds_up_neither_the_loop_nor_the_overview(store: Store, held: Held) -> None:
    async def run() -> int:
        worker = ResultsWorker(state_of(store))
        asked = await held.asked_by(worker)
        # Were the loop or the reader held up, this would wait for what only this lets go on.
        count = await worker.read(lambda count, _: count)
        assert not asked.done()
        held.go_on.set()
        assert await asked == 200
        worker.close()
        return count

    assert asyncio.run(run()) == 200


def test_too_many_questions_at_once_are_told_to_come_back(store: Store, held: Held) -> None:
    async def run() -> list[int | BaseException]:
        worker = ResultsWorker(state_of(store))
        first = await held.asked_by(worker)
        rest = [asyncio.create_task(worker.answer(ASKED, _n)) for _ in range(WAITING + 4)]
        while sum(task.done() for task in rest) < 5:
            await asyncio.sleep(0.001)
        held.go_on.set()
        found = await asyncio.gather(first, *rest, return_exceptions=True)
        worker.close()
        return found

    found = asyncio.run(run())
    refused = [error for error in found if isinstance(error, RefusedError)]
    assert len(refused) == 5
    assert {error.status for error in refused} == {503}
    assert [n for n in found if n == 200] == [200] * WAITING


def test_who_is_gone_when_it_is_their_turn_gets_no_answer(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = Solver()
    monkeypatch.setattr(solver_module, "solve", solver)

    async def left() -> bool:
        return True

    async def stays() -> bool:
        return False

    async def run() -> None:
        worker = ResultsWorker(state_of(store))
        with pytest.raises(RefusedError, match="nobody waits"):
            await worker.answer(Question(("age",)), _n, left)
        assert await worker.answer(ASKED, _n, stays) == 200
        worker.close()

    asyncio.run(run())
    assert solver.asked == [ASKED]


def test_nothing_of_a_look_or_an_answer_is_made_in_the_loop_itself(store: Store) -> None:
    loop = threading.get_ident()

    async def run() -> set[int]:
        worker = ResultsWorker(state_of(store))
        return {
            await worker.read(lambda *_: threading.get_ident()),
            await worker.answer(ASKED, lambda _: threading.get_ident()),
        }

    assert loop not in asyncio.run(run())


def test_below_the_minimum_it_forgets_what_it_knew(tmp_path: Path) -> None:
    few = fill_store(tmp_path / "few.sqlite", reports_of(99), spread(99, 1))

    async def run() -> None:
        worker = ResultsWorker(state_of(few))
        assert await worker.read(_both) == (99, None)
        with pytest.raises(RefusedError) as refused:
            await worker.answer(ASKED, _n)
        assert refused.value.status == 409
        _add(few, 1, seed=2)
        count, dated = await worker.read(_both)
        assert count == 100
        assert dated is not None
        worker.close()

    asyncio.run(run())
    few.close()


SLOW_PANDAS = """
import time
time.sleep(1)
Timestamp = 1
"""
BESIDE = """
import asyncio, sys, threading, time
from castell.collector.results.worker import ResultsWorker
beside = threading.Thread(target=__import__, args=("pandas",))
beside.start()
while "pandas" not in sys.modules:
    time.sleep(0.01)
worker = ResultsWorker(None)
worker._read = lambda: (0, None)
print(asyncio.run(worker.read(lambda *_: hasattr(sys.modules["pandas"], "Timestamp"))))
"""


def test_no_chart_is_drawn_while_another_thread_is_half_way_through_pandas(tmp_path: Path) -> None:
    # Altair looks for Timestamp in whatever part of pandas there is.
    (tmp_path / "pandas.py").write_text(SLOW_PANDAS)
    told = subprocess.run(
        [sys.executable, "-c", BESIDE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "True\n"
