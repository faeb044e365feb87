"""The embedded store's file: how it is made, known, refused, and kept in order."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from castell.collector.store import StoreError, Submission, is_store, open_store
from castell.collector.store.invitations import invitation_key, new_invitation
from castell.collector.store.sqlite import SqliteStore
from castell.collector.store.sqlitefile import SCHEMA_VERSION
from tests.collector.respondents import STUDY, pair


def one(count: int = 1) -> list[Submission]:
    return [Submission((pair(),)) for _ in range(count)]


def test_commits_wait_for_the_disk(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "s.sqlite", STUDY)) as store:
        ask = store._writer.execute
        assert ask("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ask("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert ask("PRAGMA secure_delete").fetchone() == (1,)


def test_the_file_is_its_owners(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "s.sqlite", STUDY)) as store:
        store.add(one())
        for path in tmp_path.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_an_unknown_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    open_store(path, STUDY).close()
    with closing(sqlite3.connect(path)) as link:
        link.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = path.read_bytes()
    for study in (STUDY, None):
        with pytest.raises(StoreError, match=r"schema version 2, this castell knows 1.*use the"):
            open_store(path, study)
    assert path.read_bytes() == before


def test_what_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    text, foreign = tmp_path / "text", tmp_path / "foreign.db"
    text.write_text("dear diary", encoding="utf-8")
    with closing(sqlite3.connect(foreign)) as link:
        link.execute("CREATE TABLE diary (dear TEXT)")
    for path, said in ((text, "is no store"), (foreign, "another program's database")):
        before = path.read_bytes()
        with pytest.raises(StoreError, match=said):
            open_store(path, STUDY)
        assert path.read_bytes() == before
    assert not is_store(text)
    assert not is_store(tmp_path / "nothing")
    with pytest.raises(StoreError, match="there is no folder"):
        open_store(tmp_path / "no" / "s.sqlite", STUDY)
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(tmp_path / "folder", STUDY)


def test_a_damaged_file_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with closing(open_store(path, STUDY)) as store:
        store.add([Submission(tuple(pair() for _ in range(2000)))])
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\xff" * 4000 + whole[4100:])
    with pytest.raises(StoreError):
        open_store(path)
    half = len(whole) // 8192 * 4096
    path.write_bytes(whole[:half] + b"\xff" * (len(whole) - half))
    with closing(open_store(path)) as store, pytest.raises(StoreError, match="cannot be read"):
        store.count()


def test_a_file_that_another_program_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.sqlite"
    open_store(path, STUDY).close()
    connect = sqlite3.connect
    hurried = lambda *args, **options: connect(*args, **options | {"timeout": 0.1})  # noqa: E731
    with closing(connect(path, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
        holder.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(sqlite3, "connect", hurried)
        with pytest.raises(StoreError, match="end what holds it"):
            open_store(path, STUDY)


def test_a_making_that_was_cut_short_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    path.touch()
    with closing(open_store(path, STUDY)) as store:
        assert store.count() == 0


def test_a_disk_that_does_not_write_keeps_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with closing(SqliteStore(path, STUDY)) as store:
        store.add(one())
        # SQLite's own limit: to the code above it, a disk without room.
        pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
        store._writer.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match=r"cannot write .*full.*see to the disk"):
            store.add(one(1000))
        assert store.count() == 1
        store._writer.execute("PRAGMA max_page_count = 1000000")
        assert sum(outcome.stored for outcome in store.add(one(1000))) == 1000
        assert store.count() == 1001


def test_the_wal_is_emptied_when_all_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    wal = tmp_path / "s.sqlite-wal"
    with closing(open_store(path, STUDY)) as store:
        store.add(one(20))
        assert wal.stat().st_size > 0
        store.rest()
        assert wal.stat().st_size == 0
        # A reader does not keep reports waiting.
        store.add(one())
        reading: Any = store.batches(step=1)
        next(reading)
        store.rest()
        store.add(one())
        reading.close()
        assert store.count() == 22


def test_a_used_invitation_leaves_no_bytes(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    codes = [new_invitation() for _ in range(50)]
    with closing(open_store(path, STUDY)) as store:
        store.invite(codes)
        store.rest()
        key = invitation_key(STUDY, codes[7])
        assert key in path.read_bytes()
        assert codes[7].encode() not in path.read_bytes()
        store.add([Submission((pair(),), codes[7])])
        store.rest()
        for file in tmp_path.iterdir():
            assert key not in file.read_bytes(), file
            assert codes[7].encode() not in file.read_bytes(), file


def test_a_copy_has_no_memory_of_the_order(tmp_path: Path) -> None:
    """Two stores that got the same reports in other orders have the same copy, byte for byte."""
    sent = [Submission((pair(),), new_invitation()) for _ in range(2000)]
    invited = [new_invitation() for _ in range(1000)]
    contents = []
    for number, order in enumerate((sent, sent[::-1])):
        with closing(SqliteStore(tmp_path / f"{number}.sqlite", STUDY)) as store:
            store.invite([one.invitation or "" for one in order] + invited)
            for start in range(0, len(order), 50):
                assert all(o.stored for o in store.add(order[start : start + 50]))
            store.copy_to(tmp_path / f"copy{number}.sqlite")
        contents.append((tmp_path / f"copy{number}.sqlite").read_bytes())
    assert len(contents[0]) > 50_000
    # The file's own change counters, on its first page, may differ; nothing else may.
    assert contents[0][4096:] == contents[1][4096:]


def test_a_batch_has_no_memory_of_the_order(tmp_path: Path) -> None:
    """What is committed together lies in the file as if it had come in any other order."""
    sent = one(500)
    contents = []
    for number, order in enumerate((sent, sent[::-1])):
        path = tmp_path / f"{number}.sqlite"
        with closing(SqliteStore(path, STUDY)) as store:
            store.add(order)
        contents.append(path.read_bytes())
    assert contents[0][4096:] == contents[1][4096:]
