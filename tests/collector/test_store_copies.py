"""Export, backup under load, restore: of and into either kind of store."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from castell import Reports, scan_reports
from castell.collector import store_copies
from castell.collector.store import Store, StoreError, Submission, open_store
from castell.collector.store.invitations import new_invitation
from tests.collector.respondents import STUDY, pair

Pairs = dict[bytes, bytes]


def held(place: str | Path) -> Pairs:
    with closing(open_store(place)) as store, store.snapshot() as snapshot:
        return {bytes(id): bytes(codes) for part in snapshot.rows for id, codes, _ in part}


@contextmanager
def load(store: Store) -> Iterator[tuple[Pairs, Pairs]]:
    """Reports that keep coming: those sent, and those known to be kept."""
    sent: Pairs = {}
    kept: Pairs = {}
    stop, ready = threading.Event(), threading.Event()

    def send() -> None:
        while not stop.is_set():
            batch = dict(pair() for _ in range(20))
            sent.update(batch)
            store.add([Submission((one,)) for one in batch.items()])
            kept.update(batch)
            if len(kept) >= 400:
                ready.set()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        assert ready.wait(60)
        yield sent, kept
    finally:
        stop.set()
        thread.join()


def test_backup_under_load(store: Store, place: str, tmp_path: Path) -> None:
    with load(store) as (sent, kept):
        for number in range(3):
            before = dict(kept)
            path = tmp_path / f"backup{number}.sqlite"
            rows = store_copies.backup(place, path)
            found = held(path)
            assert rows == len(found)
            assert before.items() <= found.items() <= dict(sent).items()
    # It goes on from there: what is restored takes reports and knows those it has.
    restored = str(tmp_path / "restored.sqlite")
    assert store_copies.restore(path, restored) == rows
    with closing(open_store(restored, STUDY)) as again:
        known = next(iter(found.items()))
        outcomes = again.add([Submission((known,)), Submission((pair(),))])
        assert [(o.stored, o.repeated) for o in outcomes] == [(0, 1), (1, 0)]
    assert len(held(restored)) == rows + 1


def test_from_a_file_to_postgresql_and_back(tmp_path: Path, database: str) -> None:
    path, codes = tmp_path / "s.sqlite", [new_invitation() for _ in range(5)]
    reports = dict(pair() for _ in range(3))
    with closing(open_store(path, STUDY, secure=False)) as store:
        store.invite(codes)
        pairs = zip(reports.items(), codes, strict=False)
        store.add([Submission((one,), code) for one, code in pairs])
        hours = store.timeline()
    assert store_copies.backup(str(path), tmp_path / "backup.sqlite") == 3
    assert store_copies.restore(tmp_path / "backup.sqlite", database) == 3
    assert held(database) == reports
    with closing(open_store(database)) as moved:
        assert moved.timeline() == hours
        assert not moved.secure
        assert moved.needs_invitation()
        # Used invitations stay used, the others are good.
        outcomes = moved.add([Submission((pair(),), codes[0]), Submission((pair(),), codes[4])])
        assert [outcome.stored for outcome in outcomes] == [0, 1]
    assert store_copies.backup(database, tmp_path / "back.sqlite") == 4
    with closing(open_store(tmp_path / "back.sqlite")) as back:
        assert back.count() == 4
        assert back.needs_invitation()
        assert not back.secure
        with back.snapshot() as snapshot:
            assert len(snapshot.unspent) == 1


def test_nothing_is_overwritten(store: Store, place: str, tmp_path: Path) -> None:
    store.add([Submission((pair(),))])
    backup = tmp_path / "backup.sqlite"
    store_copies.backup(place, backup)
    with pytest.raises(StoreError, match="there already"):
        store_copies.backup(place, backup)
    with pytest.raises(StoreError, match="already"):
        store_copies.restore(backup, place)
    assert store.count() == 1
    with pytest.raises(StoreError, match="there is no folder"):
        store_copies.backup(place, tmp_path / "no" / "backup.sqlite")
    # A WAL or a spool without its file would be taken for the new file's own.
    for end in ("-wal", "-spool"):
        (tmp_path / f"new.sqlite{end}").write_bytes(b"old")
        with pytest.raises(StoreError, match="there already"):
            store_copies.restore(backup, str(tmp_path / "new.sqlite"))
        (tmp_path / f"new.sqlite{end}").unlink()


def test_a_restore_takes_only_backups(tmp_path: Path, database: str) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        store_copies.restore(tmp_path / "nothing.sqlite", str(tmp_path / "s.sqlite"))
    (tmp_path / "text").write_text("dear diary", encoding="utf-8")
    with pytest.raises(StoreError, match="is no store"):
        store_copies.restore(tmp_path / "text", str(tmp_path / "s.sqlite"))
    open_store(tmp_path / "s.sqlite", STUDY).close()
    open_store(database, STUDY, secure=False).close()
    with pytest.raises(StoreError, match="made for other reports"):
        store_copies.restore(tmp_path / "s.sqlite", database)


def test_a_damaged_copy_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from castell.collector.store.sqlite import SqliteStore

    with closing(open_store(tmp_path / "s.sqlite", STUDY)) as store:
        store.add([Submission(tuple(pair() for _ in range(2000)))])

    real = SqliteStore.close

    def spoil(self: SqliteStore) -> None:
        real(self)
        if "backup" in self.path.name:
            whole = self.path.read_bytes()
            self.path.write_bytes(whole[: len(whole) // 2] + b"\xff" * (len(whole) // 2))

    monkeypatch.setattr(SqliteStore, "close", spoil)
    with pytest.raises(StoreError, match="the copy is damaged"):
        store_copies.backup(str(tmp_path / "s.sqlite"), tmp_path / "backup.sqlite")
    assert [p.name for p in tmp_path.iterdir() if "backup" in p.name] == []


def test_export(store: Store, tmp_path: Path) -> None:
    reports = sorted(pair() for _ in range(500))
    store.add([Submission(tuple(reports))])
    path = tmp_path / "reports.parquet"
    assert store_copies.export(store, path) == {path: 500}
    loaded = Reports.load(path, STUDY)
    assert loaded.secure
    assert scan_reports(path, STUDY).n == 500
    expected = [columns.tolist() for columns in store._packing.columns([c for _, c in reports])]  # type: ignore[attr-defined]
    assert [column.tolist() for column in loaded.columns] == expected
    # The ids stay behind: Parquet holds a column for each block and nothing else.
    import pyarrow.parquet as pq

    assert pq.read_schema(path).names == ["sex x smokes", "health", "town"]


def test_an_insecure_export_says_so(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "s.sqlite", STUDY, secure=False)) as store:
        store.add([Submission((pair(),))])
        store_copies.export(store, tmp_path / "r.parquet")
    assert not Reports.load(tmp_path / "r.parquet", STUDY).secure


def test_an_empty_export(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "s.sqlite", STUDY)) as store:
        assert store_copies.export(store, tmp_path / "r.parquet") == {tmp_path / "r.parquet": 0}
    assert len(Reports.load(tmp_path / "r.parquet", STUDY)) == 0


def test_a_backup_is_a_plain_file_of_its_owner(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "s.sqlite", STUDY)) as store:
        store.add([Submission((pair(),))])
        store_copies.backup(str(tmp_path / "s.sqlite"), tmp_path / "b.sqlite")
    assert (tmp_path / "b.sqlite").stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(tmp_path / "b.sqlite")) as link:
        assert link.execute("PRAGMA integrity_check").fetchone() == ("ok",)
