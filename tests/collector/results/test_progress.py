"""How far a question has come: how many are before it, and for how long it has been its turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from castell.collector.results.progress import Progress
from castell.collector.results.question import Question
from tests.collector.results.stores import ask, fill_store, query, reports_of, spread, state_of

ONE, OTHER = Question(("age",)), Question(("health",))


def test_questions_are_told_their_place_and_their_time() -> None:
    now = 0.0
    progress = Progress(lambda: now)
    assert progress.place_in_line(ONE) == {"ahead": None, "seconds": None, "usual": None}
    first, second = progress.of(ONE), progress.of(OTHER)
    first.__enter__()
    now = 2.0
    second.__enter__()
    now = 3.0
    assert progress.place_in_line(ONE) == {"ahead": 0, "seconds": 3.0, "usual": None}
    assert progress.place_in_line(OTHER) == {"ahead": 1, "seconds": None, "usual": None}
    first.__exit__(None, None, None)
    now = 3.5
    # Its turn began when the first was done, which took three seconds by the same method.
    assert progress.place_in_line(OTHER) == {"ahead": 0, "seconds": 0.5, "usual": 3.0}
    second.__exit__(None, None, None)
    assert progress.place_in_line(OTHER) == {"ahead": None, "seconds": None, "usual": 0.5}


def test_a_question_that_fails_leaves_the_line_and_says_nothing_of_time() -> None:
    progress = Progress()

    def fail() -> None:
        with progress.of(ONE):
            raise ValueError("no table")

    with pytest.raises(ValueError, match="no table"):
        fail()
    assert progress.place_in_line(ONE) == {"ahead": None, "seconds": None, "usual": None}


def test_the_progress_of_a_question_is_told_over_http(tmp_path: Path) -> None:
    store = fill_store(tmp_path / "s.sqlite", reports_of(300), spread(300, 1))
    asked = query(["age"], method="castell")
    before, _, after, refused = ask(
        state_of(store),
        f"/results/api/progress?{asked}",
        f"/results/api/estimate?{asked}",
        f"/results/api/progress?{asked}",
        "/results/api/progress?attributes=agee",
    )
    (closed,) = ask(state_of(store), f"/results/api/progress?{asked}", headers={"accept": "*/*"})
    store.close()
    assert before.json() == {"ahead": None, "seconds": None, "usual": None}
    assert after.json()["usual"] > 0
    assert (refused.status_code, closed.status_code) == (400, 401)
