"""The embedded store's file: how it is made, known, refused, and kept in order."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from castell.collector import store_copies
from castell.collector.store import StoreError, Submission, is_store, open_store, sqlite
from castell.collector.store.filing import POOL
from castell.collector.store.invitations import invitation_key, new_invitation
from castell.collector.store.sqlite import SqliteStore
from castell.collector.store.sqlite_migrations import SCHEMA_VERSION
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
        with pytest.raises(StoreError, match=r"this castell knows \d: use the castell that"):
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


def test_a_disk_that_does_not_write_promises_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with closing(SqliteStore(path, STUDY)) as store:
        store.add(one())
        # SQLite's own limit: to the code above it, a disk without room.
        pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
        store._writer.execute(f"PRAGMA max_page_count = {pages}")
        # The spool still takes these. They are durable there, so this is no lie,
        assert sum(outcome.stored for outcome in store.add(one(1000))) == 1000
        # but it does not grow without a limit.
        for _ in range(2):
            with pytest.raises(StoreError, match=r"cannot write .*full.*see to the disk"):
                store.add(one())
        assert store.count() == 1001
        store._writer.execute("PRAGMA max_page_count = 1000000")
        assert store.add(one())[0].stored == 1
        assert store.count() == 1002
        assert len(store.spool.read().reports) == POOL + 1


def test_a_file_that_was_deleted_or_replaced_promises_nothing(tmp_path: Path) -> None:
    path, away = tmp_path / "s.sqlite", tmp_path / "away.sqlite"
    with closing(SqliteStore(path, STUDY)) as store:
        store.add(one(300))
        path.rename(away)
        with pytest.raises(StoreError, match=r"deleted or replaced: put it back"):
            store.add(one())
        away.rename(path)
        assert store.add(one())[0].stored == 1
        assert store.count() == 301


def test_a_spool_without_its_store(tmp_path: Path) -> None:
    path, other = tmp_path / "s.sqlite", tmp_path / "other.sqlite"
    for each in (path, other):
        with closing(open_store(each, STUDY)) as store:
            store.add(one(3))
    path.unlink()
    with pytest.raises(StoreError, match=r"a store that is gone: bring the store back"):
        open_store(path, STUDY)
    assert not path.exists()
    other.rename(path)
    with pytest.raises(StoreError, match=r"reports of another store: put it back"):
        open_store(path)
    (tmp_path / "other.sqlite-spool").rename(tmp_path / "s.sqlite-spool")
    with closing(open_store(path)) as store:
        assert store.count() == 3
    with pytest.raises(StoreError, match="has its spool beside it: leave --spool out"):
        open_store(path, spool=tmp_path)


def test_the_wal_is_emptied_after_a_filing(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    wal = tmp_path / "s.sqlite-wal"
    with closing(SqliteStore(path, STUDY)) as store:
        store.add(one(200))
        assert wal.stat().st_size == 0
        # A reader does not keep reports waiting; the WAL is emptied once it has gone.
        reading: Any = store.batches(step=1)
        next(reading)
        store.add(one(200))
        assert wal.stat().st_size > 0
        store.rest()
        store.add(one())
        reading.close()
        assert wal.stat().st_size > 0
        store.add(one())
        assert wal.stat().st_size == 0
        assert store.count() == 402


def test_a_larger_store_is_put_in_order_from_time_to_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(sqlite, "monotonic", lambda: now)
    monkeypatch.setattr(sqlite, "_SMALL", 0)
    wal = tmp_path / "s.sqlite-wal"
    with closing(SqliteStore(tmp_path / "s.sqlite", STUDY)) as store:
        store.add(one(200))
        assert wal.stat().st_size == 0
        store._next_rewrite = 10.0  # what was done just now took long
        store.add(one(200))
        assert wal.stat().st_size > 0
        now = 10.0
        store.add(one())
        assert wal.stat().st_size == 0
        # When nothing comes it does not wait; and one that is too large has its WAL emptied.
        store._next_rewrite = 99.0
        store.add(one(200))
        monkeypatch.setattr(sqlite, "REWRITE_LIMIT", 0)
        store.rest()
        assert wal.stat().st_size == 0


def test_a_filed_invitation_leaves_no_bytes(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    codes = [new_invitation() for _ in range(200)]
    with closing(SqliteStore(path, STUDY)) as store:
        store.invite(codes)
        store.rest()
        key = invitation_key(STUDY, codes[7])
        assert key in path.read_bytes()
        assert codes[7].encode() not in path.read_bytes()
        store.add([Submission((pair(),), code) for code in codes])
        store.rest()
        waiting = store.spool.read().spent
        assert len(waiting) == POOL
        files = [file.read_bytes() for file in tmp_path.iterdir()]
        for code in codes:
            key = invitation_key(STUDY, code)
            assert key in waiting or not any(key in content for content in files)
            assert not any(code.encode() in content for content in files)


def masked(path: Path) -> bytes:
    """A store's bytes but for its random name, and for SQLite's counters on the first page."""
    with closing(sqlite3.connect(path)) as link:
        (name,) = link.execute("SELECT value FROM about WHERE name = 'id'").fetchone()
    content = path.read_bytes()
    assert name.encode() in content
    return content[4096:].replace(name.encode(), b"")


def test_a_backup_has_no_memory_of_the_order(tmp_path: Path) -> None:
    """Two stores that got the same reports in other orders have the same backup, to the byte."""
    sent = [Submission((pair(),), new_invitation()) for _ in range(2000)]
    invited = [new_invitation() for _ in range(1000)]
    contents = []
    for number, order in enumerate((sent, sent[::-1])):
        path, copy = tmp_path / f"{number}.sqlite", tmp_path / f"copy{number}.sqlite"
        with closing(SqliteStore(path, STUDY)) as store:
            store.invite([one.invitation or "" for one in order] + invited)
            for start in range(0, len(order), 50):
                assert all(o.stored for o in store.add(order[start : start + 50]))
            assert store_copies.backup(str(path), copy) == 2000
        contents.append(masked(copy))
    assert len(contents[0]) > 50_000
    assert contents[0] == contents[1]


def test_the_file_has_no_memory_of_the_order(tmp_path: Path) -> None:
    """Nor has the store itself, of filings and of reports in them, live and after its end."""
    filings = [dict(pair() for _ in range(100)) for _ in range(20)]
    codes = [new_invitation() for _ in range(3000)]
    keys = [invitation_key(STUDY, code) for code in codes]
    contents: list[tuple[bytes, bytes]] = []
    for number, step in enumerate((1, -1)):
        path = tmp_path / f"{number}.sqlite"
        with closing(SqliteStore(path, STUDY)) as store:
            store.invite(codes)
            for i in range(20)[::step]:
                with store._writing() as link:
                    rows = dict(list(filings[i].items())[::step])
                    assert store._insert(link, rows, keys[100 * i : 100 * i + 100][::step], 0)
                store._rewrite()
            live = masked(path)
        contents.append((live, masked(path)))
    assert len(contents[0][0]) > 50_000
    assert contents[0] == contents[1]
