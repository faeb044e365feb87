"""The embedded store: one SQLite file, which a power cut cannot take an acknowledged report from.

WAL with synchronous=FULL: a commit returns after its fsync. Reports lie in the order of their
random ids (WITHOUT ROWID), so the table has no memory of who came after whom. What is deleted is
overwritten (secure_delete).
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.collector.store.acceptance import settle
from castell.collector.store.invitations import invitation_key
from castell.collector.store.packing import Packing
from castell.collector.store.sqlitefile import connect, is_castell, make
from castell.collector.store.store import (
    Outcome,
    Snapshot,
    StoreError,
    Submission,
    hour_text,
    not_empty,
    same_study,
    this_hour,
)
from castell.study.study import Study

_INSERT = "INSERT INTO reports VALUES (?, ?, ?)"
_INSERT_NEW = _INSERT + " ON CONFLICT DO NOTHING"
_INVITED = "SELECT value = 'true' FROM about WHERE name = 'invitations'"


class SqliteStore:
    """Reports of one study in a file. Opening makes the file if `study` is given."""

    def __init__(
        self, path: str | Path, study: Study | None = None, *, secure: bool = True
    ) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise StoreError(f"there is no folder {self.path.parent}", "make it first")
        self._lock = threading.Lock()
        try:
            # A foreign file is found out before anything is written to it.
            there = is_castell(self.path)
            if not there and study is None:
                raise StoreError(f"there is no store {path}", "castell serve makes one")
            with contextlib.ExitStack() as undo:
                self._writer = connect(self.path)
                undo.callback(self._writer.close)
                if not there and study is not None:
                    make(self._writer, study, secure)
                about = dict(self._writer.execute("SELECT name, value FROM about").fetchall())
                self.study = same_study(Study.from_json(about["study"]), study, str(path))
                undo.pop_all()
        except (sqlite3.Error, OSError, KeyError) as error:
            remedy = "give another file, or restore a backup"
            if "locked" in str(error):
                remedy = "end what holds it, then try again"
            raise StoreError(f"{path} cannot be opened ({error!s:.80})", remedy) from None
        self.secure = about["secure"] == "true"
        self._packing = Packing(self.study.design.widths)

    # -- writing -------------------------------------------------------------------------------

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        hour = this_hour()
        rows = [(id, codes, hour) for one in submissions for id, codes in one.reports]
        # In the order of the table: fewer pages to find, and no trace of who came first.
        rows.sort()
        with self._writing() as writer:
            if not _invited(writer) and not any(one.invitation for one in submissions):
                before = writer.total_changes
                writer.executemany(_INSERT_NEW, rows)
                if writer.total_changes - before == len(rows):
                    return [Outcome(len(one.reports)) for one in submissions]
                writer.execute("ROLLBACK")
        with self._writing() as writer:
            known = {}
            for id, _, _ in rows:
                found = writer.execute("SELECT codes FROM reports WHERE id = ?", (id,)).fetchone()
                if found:
                    known[id] = found[0]
            outcomes, new = settle(submissions, known, self._spend if _invited(writer) else None)
            writer.executemany(_INSERT, [(id, codes, hour) for id, codes in sorted(new.items())])
        return outcomes

    def _spend(self, invitation: str | None) -> bool:
        # A used invitation is forgotten, not marked: the store never says who has answered.
        if invitation is None:
            return False
        key = invitation_key(self.study, invitation)
        return self._writer.execute("DELETE FROM unspent WHERE code = ?", (key,)).rowcount == 1

    def invite(self, codes: Sequence[str]) -> None:
        keys = sorted((invitation_key(self.study, code),) for code in codes)
        with self._writing() as writer:
            writer.executemany("INSERT INTO unspent VALUES (?)", keys)
            writer.execute("UPDATE about SET value = 'true' WHERE name = 'invitations'")

    def invited(self) -> bool:
        with self._reading() as reader:
            return _invited(reader)

    def load(self, snapshot: Snapshot) -> int:
        loaded = 0
        with self._writing() as writer:
            if writer.execute("SELECT count(*) FROM reports").fetchone()[0]:
                raise not_empty(str(self.path))
            for rows in snapshot.rows:
                writer.executemany(_INSERT, rows)
                loaded += len(rows)
            writer.executemany("INSERT INTO unspent VALUES (?)", [(k,) for k in snapshot.unspent])
            writer.execute(
                "UPDATE about SET value = ? WHERE name = 'invitations'",
                ("true" if snapshot.invitations else "false",),
            )
        return loaded

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, durable when the block is left; one at a time."""
        with self._lock:
            writer = self._writer
            try:
                writer.execute("BEGIN IMMEDIATE")
                yield writer
                if writer.in_transaction:
                    writer.execute("COMMIT")
            except sqlite3.Error as error:
                raise StoreError(
                    f"the store cannot write ({error})", "see to the disk, then send again"
                ) from None
            finally:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")

    # -- reading -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A view of one moment, which writing does not wait for."""
        try:
            with contextlib.closing(connect(self.path, readonly=True)) as reader:
                reader.execute("BEGIN")
                yield reader
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be read ({error})", "restore a backup") from None

    def count(self) -> int:
        with self._reading() as reader:
            return int(reader.execute("SELECT count(*) FROM reports").fetchone()[0])

    def batches(self, step: int = 1 << 16) -> Iterator[list[NDArray[Any]]]:
        for _, columns in self.dated(step):
            yield columns

    def dated(self, step: int = 1 << 16) -> Iterator[tuple[NDArray[np.int64], list[NDArray[Any]]]]:
        with self._reading() as reader:
            cursor = reader.execute("SELECT hour, codes FROM reports ORDER BY id")
            while rows := cursor.fetchmany(step):
                hours = np.array([row[0] for row in rows], dtype=np.int64)
                yield hours, self._packing.columns([row[1] for row in rows])

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with self._reading() as reader:
            keys = [row[0] for row in reader.execute("SELECT code FROM unspent ORDER BY code")]
            cursor = reader.execute("SELECT id, codes, hour FROM reports ORDER BY id")
            rows = iter(lambda: cursor.fetchmany(1 << 14), [])
            yield Snapshot(rows, keys, _invited(reader))

    def timeline(self) -> list[tuple[str, int]]:
        query = "SELECT hour, count(*) FROM reports GROUP BY hour ORDER BY hour"
        with self._reading() as reader:
            return [(hour_text(hour), n) for hour, n in reader.execute(query)]

    # -- upkeep --------------------------------------------------------------------------------

    def copy_to(self, path: Path) -> None:
        """A copy of one moment, packed in the order of ids; writing goes on meanwhile."""
        with self._reading() as reader:
            reader.execute("COMMIT")
            reader.execute("VACUUM INTO ?", (str(path),))

    def rest(self) -> None:
        """Empty the WAL, whose pages lie in the order they were written."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            # A long reader keeps the WAL: next time, rather than to keep reports waiting.
            self._writer.execute("PRAGMA busy_timeout=0").fetchall()
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._writer.execute("PRAGMA busy_timeout=30000").fetchall()

    def close(self) -> None:
        self.rest()
        self._writer.close()


def _invited(link: sqlite3.Connection) -> bool:
    return bool(link.execute(_INVITED).fetchone()[0])
