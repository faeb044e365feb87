"""Models in a process of their own: the same answers, and nothing that happens there ends here."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from castell.collector.results.answer import Answer, document
from castell.collector.results.dated_reports import DatedReports
from castell.collector.results.process import NICE, SolverProcess, default_memory
from castell.collector.results.question import Question
from castell.collector.results.solver import LocalSolver
from castell.collector.wire import RefusedError
from castell.errors import OptionError
from tests.collector.process import collecting
from tests.collector.results.stores import STUDY, TOKEN, reports_of, spread

ASKED = Question(("smokes", "health"), method="castell")


# What the process makes of an answer: it finds these by their names.


def _n(given: Answer) -> int:
    return given.joint.n


def _pid(given: Answer) -> int:
    del given
    return os.getpid()


def _niceness(given: Answer) -> int:
    del given
    return os.nice(0)


def _die(given: Answer) -> None:
    del given
    os.kill(os.getpid(), signal.SIGKILL)


def _die_once(given: Answer) -> str:
    mark = Path(os.environ["CASTELL_TEST_MARK"])
    if not mark.exists():
        mark.touch()
        _die(given)
    return "made"


def _refuse(given: Answer) -> None:
    del given
    raise OptionError("a problem", "a remedy")


def _fail(given: Answer) -> None:
    del given
    raise KeyError("a respondent's secret")


def _hog(given: Answer) -> float:
    del given
    return float(np.ones(1 << 29).sum())


def _sleep(given: Answer) -> None:
    del given
    time.sleep(600)


def dated(n: int, seed: int = 1) -> DatedReports:
    return DatedReports(reports_of(n, seed), spread(n, 2))


@pytest.fixture
def restarts() -> Counter[str]:
    return Counter()


@pytest.fixture
def solver(restarts: Counter[str]) -> Iterator[SolverProcess]:
    made = SolverProcess(restarts)
    yield made
    made.close()


def test_the_answers_are_the_same(solver: SolverProcess) -> None:
    held = dated(400)
    for method in ("castell", "auto"):
        question = Question(("smokes", "health"), method=method)
        told = solver.answer(held, question, document)
        assert told == LocalSolver().answer(held, question, document)
    assert solver.answer(held, ASKED, _pid) != os.getpid()
    assert solver.answer(held, ASKED, _niceness) >= min(19, os.nice(0) + NICE)


def test_newer_reports_take_the_place_of_older(solver: SolverProcess) -> None:
    first, second = dated(200), dated(300, seed=2)
    asked = [solver.answer(held, ASKED, _n) for held in (first, second, second, first)]
    assert asked == [200, 300, 300, 200]


def test_a_process_that_died_is_started_again(
    solver: SolverProcess,
    restarts: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    held = dated(200)
    os.kill(solver.answer(held, ASKED, _pid), signal.SIGKILL)
    assert solver.answer(held, ASKED, _n) == 200
    assert restarts["restarts"] == 1
    # It knows the reports again, whichever question it died of.
    solver.close()
    monkeypatch.setenv("CASTELL_TEST_MARK", str(tmp_path / "mark"))
    other = SolverProcess()
    assert other.answer(held, ASKED, _die_once) == "made"
    other.close()


def test_a_question_that_kills_it_twice_is_refused(
    solver: SolverProcess, restarts: Counter[str]
) -> None:
    held = dated(200)
    with pytest.raises(RefusedError, match="too much") as refused:
        solver.answer(held, ASKED, _die)
    assert refused.value.status == 503
    assert restarts["restarts"] == 2
    assert solver.answer(held, ASKED, _n) == 200


def test_memory_is_bounded() -> None:
    solver, held = SolverProcess(memory=2 << 30), dated(200)
    pid = solver.answer(held, ASKED, _pid)
    with pytest.raises(RefusedError, match="too much"):
        solver.answer(held, ASKED, _hog)
    # It lives on.
    assert solver.answer(held, ASKED, _pid) == pid
    solver.close()
    assert default_memory() > 1 << 28


def test_errors_come_across_and_unforeseen_ones_without_their_text(solver: SolverProcess) -> None:
    held = dated(200)
    with pytest.raises(OptionError, match="a problem: a remedy"):
        solver.answer(held, ASKED, _refuse)
    with pytest.raises(RuntimeError, match="KeyError") as failed:
        solver.answer(held, ASKED, _fail)
    assert "secret" not in str(failed.value)
    assert solver.answer(held, ASKED, _n) == 200


def test_closing_does_not_wait_for_a_fit(solver: SolverProcess) -> None:
    held, found = dated(200), list[Any]()
    pid = solver.answer(held, ASKED, _pid)

    def ask() -> None:
        try:
            solver.answer(held, ASKED, _sleep)
        except RefusedError as error:
            found.append(error.status)

    thread = threading.Thread(target=ask)
    thread.start()
    solver.close()
    thread.join()
    assert found == [503]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(RefusedError):
        solver.answer(held, ASKED, _n)


def _children(pid: int) -> list[int]:
    """The processes that a process has started, from whichever thread."""
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in found for child in path.read_text(encoding="utf-8").split()]


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_the_collector_however_that_ends(tmp_path: Path, how: signal.Signals) -> None:
    if not Path("/proc/self/task").is_dir():
        pytest.skip("NOT TESTED: there is no /proc to find processes in")
    (tmp_path / "study.json").write_text(STUDY.to_json(), encoding="utf-8")
    options = ("--port", "0", "--token", TOKEN, "--minimum", "1")
    with collecting(tmp_path, *options) as server:
        address = f"http://127.0.0.1:{server.port}/results/api/overview"
        headers = {"authorization": f"Bearer {TOKEN}"}
        assert httpx.get(address, headers=headers, trust_env=False, timeout=60).status_code == 200
        while not (children := _children(server.process.pid)):
            time.sleep(0.01)
        server.process.send_signal(how)
        server.end()
        while any(map(_is_running, children)):
            time.sleep(0.01)
