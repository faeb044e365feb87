"""One thread for small products, and as before after that."""

from __future__ import annotations

from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from castell import Study
from castell.counting import MemoryCounts
from castell.inference.latent import model as latent
from castell.linear.cores import _libraries, on_all_cores, one_thread
from castell.population import SCHEMA, health_survey


def threads() -> set[int]:
    # What was loaded when a limit was first set, such as NumPy's: another test may have loaded more
    # since, such as SciPy's, which castell does not multiply with.
    known = {found["filepath"] for found in _libraries().info()}
    return {
        found["num_threads"]
        for found in threadpool_info()
        if found["user_api"] == "blas" and found["filepath"] in known
    }


def test_one_inside_and_as_before_outside() -> None:
    with threadpool_limits(2, user_api="blas"):
        with one_thread():
            with one_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == {2}
        with pytest.raises(ValueError, match="no"), one_thread():
            raise ValueError("no")
        assert threads() == {2}


def test_a_thread_may_go_while_another_stays_and_any_may_come_later() -> None:
    """OpenBLAS obeys only the thread that set a limit first: the last to go is often another."""
    first_is_in, second_is_in, first_is_out = Event(), Event(), Event()
    seen: list[set[int]] = []

    def first() -> None:
        with one_thread():
            first_is_in.set()
            second_is_in.wait(10)
        first_is_out.set()

    def second() -> None:
        first_is_in.wait(10)
        with one_thread():
            second_is_in.set()
            first_is_out.wait(10)
            seen.append(threads())

    with threadpool_limits(2, user_api="blas"):
        both = [Thread(target=first), Thread(target=second)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        seen.append(threads())
        with one_thread():
            seen.append(threads())
        seen.append(threads())
    assert seen == [{1}, {2}, {1}, {2}]


def test_a_thread_that_is_still_alive_does_not_keep_the_limit() -> None:
    done, go = Event(), Event()

    def stay() -> None:
        with one_thread():
            pass
        done.set()
        go.wait(10)

    other = Thread(target=stay)
    other.start()
    done.wait(10)
    with one_thread():
        inside = threads()
    go.set()
    other.join()
    assert inside == {1}


def test_mixtures_are_fitted_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def spy(*given: object) -> object:
        seen.append(threads())
        return made(*given)  # type: ignore[arg-type]

    made = latent.fit_starts
    monkeypatch.setattr(latent, "fit_starts", spy)
    reports = Study(SCHEMA, 20.0).randomize(health_survey(500), seed=1)
    with threadpool_limits(2, user_api="blas"):
        latent.learn(MemoryCounts(reports), 2, 2, 3)
        assert threads() == {2}
    assert len(seen) == 1
    assert set.union(*seen) == {1}


def test_all_cores_work_on_their_share_and_what_fails_is_told() -> None:
    done = np.zeros(10)

    def work(places: range) -> None:
        for place in places:
            done[place] += place

    for pieces in (range(0), range(1), range(10), range(3, 10, 4)):
        done[:] = 0.0
        on_all_cores(work, pieces)
        assert np.flatnonzero(done).tolist() == [place for place in pieces if place]

    def fail(places: range) -> None:
        raise ValueError(f"no {places[0]}")

    with pytest.raises(ValueError, match="no"):
        on_all_cores(fail, range(5))
    # Threads know what the one who asked them does about overflow.
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        on_all_cores(lambda _: np.exp(np.full(3, 1e4)), range(5))
