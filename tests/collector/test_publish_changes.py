"""A correction is published by a collector that runs, all of it at once, and nothing is lost."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from castell import Study
from castell.collector import publish_changes
from castell.collector.app import make_app
from castell.collector.results.solver import LocalSolver, Solver
from castell.collector.settings import State
from castell.collector.store import StoreError, open_store
from castell.collector.store.sqlite import SqliteStore
from castell.collector.wire import new_id
from castell.device.client import Client
from tests.collecting import collecting
from tests.collector.respondents import LOGGED_IN, settings
from tests.collector.test_correct_command import ANSWER, FILE, FIXED, OLD, correct

NEW = OLD.corrected(Study.from_toml(FIXED), "2026-11-16")
GIVEN = re.compile(r'<script type="application/json" id="given">(.*?)</script>', re.DOTALL)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish_changes, "LOOK_EVERY", 0.02)


@contextmanager
def running(place: str, solver: Solver | None = None) -> Iterator[TestClient]:
    state = State(open_store(place, OLD), settings(minimum=5))
    with TestClient(make_app(state, solver=solver)) as client:
        yield client


def fix(place: str) -> None:
    """What `castell correct` does to the store, from another process say."""
    with closing(open_store(place)) as store:
        store.correct(NEW)


def until(good: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not good():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def digest(client: TestClient) -> str:
    return str(client.get("/study.json").json()["digest"])


def send(client: TestClient, study: str, code: int) -> int:
    sent = {"id": new_id(), "study": study, "codes": [code]}
    return client.post("/reports", json=sent).status_code


def asked(client: TestClient, path: str) -> Any:
    return client.get(f"/results/api/{path}", headers=LOGGED_IN).json()


def test_a_correction_is_published_and_both_digests_are_taken(place: str) -> None:
    with running(place) as client:
        assert [send(client, OLD.digest, code) for code in (0, 1, 0)] == [201] * 3
        assert send(client, NEW.digest, 0) == 409
        fix(place)
        until(lambda: digest(client) == NEW.digest)
        told = client.get("/collector.json").json()
        assert told["study"] == NEW.digest
        assert "Drinks" in client.get("/").text
        schema = client.get("/openapi.json").json()["components"]["schemas"]["Report"]
        assert schema["properties"]["study"]["enum"] == [OLD.digest, NEW.digest]
        # A page that was opened before sends under the words it had.
        assert [send(client, d, 1) for d in (OLD.digest, NEW.digest)] == [201, 201]
    with closing(open_store(place, NEW)) as store:
        assert store.count() == 5


def test_results_have_the_new_words_of_the_same_reports(place: str) -> None:
    with running(place) as client:
        assert asked(client, "overview")["study"]["title"] == "Drnks"  # too few reports
        for code in (0, 1, 0, 1, 0):
            send(client, OLD.digest, code)
        before = asked(client, "estimate?attributes=drink&method=castell")
        assert [cell[0] for cell in before["cells"]] == ["te", "coffee"]
        fix(place)
        until(lambda: bool(asked(client, "overview")["study"]["digest"] == NEW.digest))
        after = asked(client, "estimate?attributes=drink&method=castell")
        assert [cell[0] for cell in after["cells"]] == ["tea", "coffee"]
        assert [cell[1:] for cell in after["cells"]] == [cell[1:] for cell in before["cells"]]
        assert after["n"] == 5
        assert "error" in asked(client, "estimate?attributes=drink&merge=drink=te")


def test_words_of_a_study_without_enough_reports_are_told_too(tmp_path: Path) -> None:
    place = str(tmp_path / "s.sqlite")
    with running(place) as client:
        assert asked(client, "overview")["study"]["title"] == "Drnks"
        fix(place)
        until(lambda: bool(asked(client, "overview")["study"]["title"] == "Drinks"))


def test_no_answer_is_half_old_and_half_new(tmp_path: Path) -> None:
    """Twenty corrections, one after the other, while the page is asked for without a pause."""
    place = str(tmp_path / "s.sqlite")
    with running(place) as client, closing(open_store(place)) as store:
        study = OLD
        for number in range(20):
            words = FILE.replace("Drnks", f"Drinks {number}")
            study = study.corrected(Study.from_toml(words), "2026-11-16")
            store.correct(study)
            seen = ""
            while seen != study.digest:
                found = GIVEN.search(client.get("/").text)
                assert found is not None
                given = json.loads(found[1])
                published = Study.from_json(given["study"])
                seen = given["collector"]["study"]
                assert seen == published.digest
                # Whoever got the page can send.
                assert send(client, seen, 0) == 201


def test_a_question_that_waited_over_a_correction_is_to_be_asked_again(tmp_path: Path) -> None:
    place = str(tmp_path / "s.sqlite")
    opened = open_store(place, OLD)

    class Slow(LocalSolver):
        def answer(self, *given: Any) -> Any:
            fix(place)
            until(lambda: opened.study == NEW)
            return super().answer(*given)

    state = State(opened, settings(minimum=5))
    with TestClient(make_app(state, solver=Slow())) as client:
        for code in (0, 1, 0, 1, 0):
            send(client, OLD.digest, code)
        path = "/results/api/estimate?attributes=drink&method=castell"
        late = client.get(path, headers=LOGGED_IN)
        assert (late.status_code, late.json()["remedy"]) == (409, "ask again")


def test_a_store_that_is_away_for_a_moment_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, real, failed = str(tmp_path / "s.sqlite"), SqliteStore._study_text, [0]

    def failing(self: SqliteStore) -> str:
        failed[0] += 1
        if failed[0] < 5:
            raise StoreError("away", "wait")
        return real(self)

    monkeypatch.setattr(SqliteStore, "_study_text", failing)
    with running(place) as client:
        fix(place)
        until(lambda: digest(client) == NEW.digest)
    assert failed[0] >= 5


def test_another_study_in_the_store_is_not_published(tmp_path: Path) -> None:
    other = Study.from_toml(FILE.replace("epsilon = 1.0", "epsilon = 3.0"))
    with closing(open_store(tmp_path / "s.sqlite", OLD)) as store:
        assert store.look_again() is store.study
        assert isinstance(store, SqliteStore)
        assert store._replace_study(OLD.to_json(), other.to_json(), {})
        with pytest.raises(StoreError, match=r"another study than before: start the collector"):
            store.look_again()
        assert store.study == OLD


def test_the_same_study_written_otherwise_is_the_same(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "s.sqlite", OLD)) as store:
        assert isinstance(store, SqliteStore)
        held = store.study
        assert store._replace_study(OLD.to_json(), f" {OLD.to_json()}", {})
        assert store.look_again() is held


def test_a_device_and_a_collector_that_was_not_started_again(tmp_path: Path) -> None:
    """As people run it: a process that serves, and the words corrected beside it."""
    with collecting(FILE, tmp_path) as served:
        waiting = Client(served.url, folder=tmp_path / "seen")
        made = waiting.make(ANSWER)
        new = correct(tmp_path / "study.toml", str(served.store))

        def published() -> bool:
            with urllib.request.urlopen(f"{served.url}/study.json") as answer:  # noqa: S310
                return bool(json.load(answer)["digest"] == new.digest)

        until(published)
        assert waiting.send(made)  # under the old words
        fresh = Client(served.url, folder=tmp_path / "fresh")
        assert fresh.study == new
        assert fresh.send(fresh.make({"drink": "tea"}))
    with closing(open_store(served.store, new)) as store:
        assert store.count() == 2
