"""An SQLite store of an older castell is brought up to date: nothing is lost, whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from castell import Study
from castell.collector import store_copies
from castell.collector.store import (
    Store,
    StoreError,
    Submission,
    open_store,
    sqlite,
    sqlite_migrations,
)
from castell.collector.store.invitations import invitation_key, new_invitation
from castell.collector.store.sqlite_migrations import SCHEMA_VERSION
from castell.collector.store.store import Row, report_key, same_study
from tests.collector.process import ROOT
from tests.collector.respondents import STUDY, pair

# The file as the first version made it.
FIRST = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;
CREATE TABLE reports (id BLOB PRIMARY KEY CHECK (length(id) = 16), codes BLOB NOT NULL,
  hour INTEGER NOT NULL CHECK (hour % 3600 = 0)) WITHOUT ROWID, STRICT;
CREATE TABLE unspent (code BLOB PRIMARY KEY CHECK (length(code) = 16)) WITHOUT ROWID, STRICT;
PRAGMA application_id = 1130451796;
PRAGMA user_version = 1;
"""
INVITATION = new_invitation()


def old_store(path: Path, reports: dict[bytes, bytes], *, invited: bool = False) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as link:
        link.execute("PRAGMA journal_mode=WAL").fetchall()
        link.executescript(FIRST)
        about = {"study": STUDY.to_json(), "secure": "true", "invitations": str(invited).lower()}
        link.executemany("INSERT INTO about VALUES (?, ?)", list(about.items()))
        rows = [(id, codes, 7200) for id, codes in reports.items()]
        link.executemany("INSERT INTO reports VALUES (?, ?, ?)", rows)
        if invited:
            key = invitation_key(STUDY, INVITATION)
            link.execute("INSERT INTO unspent VALUES (?)", (key,))


def rows_of(store: Store) -> list[Row]:
    with store.snapshot() as snapshot:
        return [row for part in snapshot.rows for row in part]


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as link:
        return int(link.execute("PRAGMA user_version").fetchone()[0])


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as link:
        found = link.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return sorted((name, " ".join(sql.split())) for name, sql in found)


def wanted(reports: dict[bytes, bytes]) -> list[Row]:
    return sorted((report_key(STUDY, id), codes, 7200) for id, codes in reports.items())


def test_a_store_of_the_first_version_loses_nothing(tmp_path: Path) -> None:
    path, reports = tmp_path / "s.sqlite", dict(pair() for _ in range(3000))
    old_store(path, reports, invited=True)
    with closing(open_store(path, STUDY)) as store:
        assert rows_of(store) == wanted(reports)
        # Sent again it is known, and an invitation of then lets one report in.
        sent = [Submission(((report_key(STUDY, id), c),), None) for id, c in reports.items()]
        assert {outcome.repeated for outcome in store.add(sent)} == {1}
        new = [Submission((pair(),), INVITATION) for _ in range(2)]
        assert [outcome.stored for outcome in store.add(new)] == [1, 0]
    assert version(path) == SCHEMA_VERSION
    # No id is left in the files: they were the client's, and may tell an order.
    left = b"".join(found.read_bytes() for found in tmp_path.iterdir())
    assert not [id for id in reports if id in left]
    with closing(open_store(path)) as store:
        assert store.count() == 3001


def test_a_store_brought_up_to_date_has_the_schema_of_a_new_one(tmp_path: Path) -> None:
    old_store(tmp_path / "old.sqlite", {})
    for name in ("old.sqlite", "new.sqlite"):
        open_store(tmp_path / name, STUDY).close()
    assert schema(tmp_path / "old.sqlite") == schema(tmp_path / "new.sqlite")


def test_whoever_only_reads_changes_nothing(tmp_path: Path) -> None:
    """A collector of the older version may be running on it."""
    path = tmp_path / "s.sqlite"
    old_store(path, dict([pair()]))
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"version 1, this castell reads \d: castell serve brings"):
        open_store(path)
    assert path.read_bytes() == before


def test_another_study_is_refused_before_anything_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    old_store(path, dict([pair()]))
    other = Study(STUDY.schema, epsilon=1.0, name="other")
    with pytest.raises(StoreError, match="another study"):
        open_store(path, other)
    assert version(path) == 1


def test_a_backup_of_an_older_version_is_restored_and_left_as_it_is(tmp_path: Path) -> None:
    backup, reports = tmp_path / "backup.sqlite", dict(pair() for _ in range(300))
    old_store(backup, reports)
    before = backup.read_bytes()
    assert store_copies.restore(backup, str(tmp_path / "new.sqlite")) == 300
    with closing(open_store(tmp_path / "new.sqlite", STUDY)) as store:
        assert rows_of(store) == wanted(reports)
    assert backup.read_bytes() == before


def test_a_crash_on_the_way_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    """kill -9 after the last step and before the commit: the next start does it all again."""
    path, reports = tmp_path / "s.sqlite", dict(pair() for _ in range(3000))
    old_store(path, reports)
    code = f"""
import os, signal, sys
from castell.collector.store import open_store, sqlite_migrations
from tests.collector.respondents import STUDY
def last(link):
    link.execute("PRAGMA cache_size = 1")  # what is not committed goes to the WAL as well
    link.execute("UPDATE reports SET codes = x'00'")
    os.kill(os.getpid(), signal.SIGKILL)
sqlite_migrations.STEPS += (last,)
open_store({str(path)!r}, STUDY)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=False)
    assert ran.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(path)) as link:
        found = link.execute("SELECT id, codes FROM reports").fetchall()
    assert (version(path), dict(found)) == (1, reports)
    with closing(open_store(path, STUDY)) as store:
        assert rows_of(store) == wanted(reports)


def test_a_step_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, reports = tmp_path / "s.sqlite", dict(pair() for _ in range(10))
    old_store(path, reports)

    def fails(link: sqlite3.Connection) -> None:
        link.execute("DROP TABLE reports")
        link.execute("no SQL")

    monkeypatch.setattr(sqlite_migrations, "STEPS", (*sqlite_migrations.STEPS, fails))
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(path, STUDY)
    monkeypatch.undo()
    assert version(path) == 1
    with closing(open_store(path, STUDY)) as store:
        assert rows_of(store) == wanted(reports)


def test_of_two_that_start_at_once_one_does_it(tmp_path: Path) -> None:
    path, reports = tmp_path / "s.sqlite", dict(pair() for _ in range(3000))
    old_store(path, reports)
    code = f"""
from castell.collector.store import open_store
from tests.collector.respondents import STUDY
open_store({str(path)!r}, STUDY).close()
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with contextlib.ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment)
            )
            for _ in range(2)
        ]
        assert [process.wait(120) for process in started] == [0, 0]
    with closing(open_store(path, STUDY)) as store:
        assert rows_of(store) == wanted(reports)


def test_another_does_it_while_the_file_is_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is read, then another brings it up to date, then there is nothing left to do."""
    path, reports = tmp_path / "s.sqlite", dict(pair() for _ in range(10))
    old_store(path, reports)

    def too_late(*read: Any) -> Any:
        monkeypatch.setattr(sqlite, "same_study", same_study)
        open_store(path, STUDY).close()
        return same_study(*read)

    monkeypatch.setattr(sqlite, "same_study", too_late)
    with closing(open_store(path, STUDY)) as store:
        assert rows_of(store) == wanted(reports)
