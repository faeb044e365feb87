"""What several tests of the collector need: a client, a store of each kind, a database server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from castell.collector.store import Store, open_store
from tests.collector import postgres
from tests.collector.respondents import STUDY, collector


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL server for this run."""
    if postgres.tools() is None:
        pytest.skip("NOT TESTED: PostgreSQL is not installed (apt-get install postgresql)")
    with postgres.running() as address:
        yield address


@pytest.fixture
def database(server: str) -> Iterator[str]:
    with postgres.database(server) as address:
        yield address


@pytest.fixture(autouse=True)
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where reports wait that are not in a database yet: each test has a folder of its own."""
    folder = tmp_path / "spool"
    monkeypatch.setenv("CASTELL_SPOOL", str(folder))
    return folder


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store of each kind can be made."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    return str(request.getfixturevalue("database"))


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    with closing(open_store(place, STUDY)) as opened:
        yield opened


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with collector(tmp_path / "store.sqlite") as made:
        yield made
