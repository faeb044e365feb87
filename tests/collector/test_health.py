"""A store that is gone is noticed: no report is promised, and whoever asks is told."""

from __future__ import annotations

import asyncio
import shutil
import threading
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from castell.collector import health as module
from castell.collector.health import Health
from castell.collector.store import open_store
from castell.collector.store.sqlite import SqliteStore
from castell.collector.writer import Writer
from tests.collector import postgres
from tests.collector.respondents import LOGGED_IN, STUDY, collector, report


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FRESH", -1.0)


def _is_refused(client: TestClient) -> None:
    assert client.get("/healthz").status_code == 503
    answer = client.post("/reports", json=report())
    assert answer.status_code == 503
    assert client.get("/healthz").status_code == 503


def test_a_deleted_file_takes_no_reports(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with collector(path) as client:
        assert client.post("/reports", json=report()).status_code == 201
        assert client.get("/healthz").status_code == 200
        for file in tmp_path.iterdir():
            file.unlink()
        _is_refused(client)


def test_a_deleted_folder_takes_no_reports(tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    with collector(folder / "store.sqlite") as client:
        shutil.rmtree(folder)
        _is_refused(client)


def test_a_file_put_in_its_place_takes_no_reports_either(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    open_store(tmp_path / "other.sqlite", STUDY).close()
    with collector(path) as client:
        (tmp_path / "other.sqlite").replace(path)
        _is_refused(client)


def test_a_dead_database_is_not_healthy(server: str) -> None:
    del server  # skips where there is no PostgreSQL
    with ExitStack() as after:
        with postgres.running() as address:
            client = after.enter_context(collector(open_store(address, STUDY)))
            assert client.get("/healthz").status_code == 200
        assert client.get("/healthz").status_code == 503
        assert client.get("/collector.json").status_code == 503


class Stuck(SqliteStore):
    """A database that does not answer."""

    looks = 0

    def needs_invitation(self) -> bool:
        self.looks += 1
        self.let.wait(30)
        return super().needs_invitation()

    let = threading.Event()


def test_a_database_that_does_not_answer_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    store = Stuck(tmp_path / "store.sqlite", STUDY)

    async def run() -> list[bool]:
        writer = Writer(store, 10)
        health = Health(store, writer)
        found = list(await asyncio.gather(*(health.good() for _ in range(5))))
        found.append(await health.good())
        Stuck.let.set()
        while not await health.good():
            await asyncio.sleep(0.001)
        health.close()
        await writer.close()
        return found

    with closing(store):
        assert asyncio.run(run()) == [False] * 6
    assert store.looks <= 3


def test_the_place_of_the_store_is_not_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a-telling-name.sqlite"
    with collector(path, minimum=1) as client:
        client.post("/reports", json=report())
        for file in tmp_path.iterdir():
            file.unlink()
        for asked in ("overview", "estimate?attributes=sex", "download?format=csv&attributes=sex"):
            answer = client.get(f"/results/api/{asked}", headers=LOGGED_IN)
            assert answer.status_code == 503
            assert "telling" not in answer.text
            assert str(tmp_path) not in answer.text
    # The operator is told.
    assert "a-telling-name" in caplog.text
