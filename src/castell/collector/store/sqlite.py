"""The embedded store: one SQLite file and a spool beside it, which a power cut takes nothing from.

WAL with synchronous=FULL: a commit returns after its fsync. Reports lie in the order of their
random keys (WITHOUT ROWID); what is deleted is overwritten (secure_delete).

That alone does not forget: the WAL holds pages in the order they were written, and inside a page
rows lie in the order they came. Both tell the order of filings (see `filing`), never of reports.
To keep even that out of the files they are put in order after a filing: the database is written
anew (VACUUM), which leaves the same bytes whatever came first, and the WAL is emptied. For a small
store that is done each time; a larger one spends at most a fiftieth of the time on it; one of more
than `REWRITE_LIMIT` bytes only gets its WAL emptied.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic
from typing import Any

from castell.collector.store.administration import INVITATIONS, PAUSED, rules_of
from castell.collector.store.filing import is_due
from castell.collector.store.invitations import invitation_key
from castell.collector.store.spool import Spool
from castell.collector.store.spooled_store import SpooledStore
from castell.collector.store.sqlite_file import bring_up_to_date, connect, is_castell, make
from castell.collector.store.stage_rows import StageRows
from castell.collector.store.staged import PLANNED, stages_in
from castell.collector.store.store import Row, Rules, Snapshot, StoreError, same_study
from castell.study.study import Study

SPOOL = "-spool"  # what the spool's name adds to the file's
_SPOOLED = "spooled"  # a row that says that there must be a spool
REWRITE_LIMIT = 64 << 20
_SMALL = 64 << 10
_REWRITE_SHARE = 1 / 50

_INSERT = "INSERT INTO reports VALUES (?, ?, ?)"
_INSERT_NEW = _INSERT + " ON CONFLICT DO NOTHING"
_RULES = f"SELECT name, value FROM about WHERE name IN ('{INVITATIONS}', '{PAUSED}')"
_NOTE = "INSERT INTO about VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


class SqliteStore(SpooledStore[sqlite3.Connection]):
    """Reports of one study in a file.

    Opening makes the file if `study` is given, and brings an older one up to date.
    """

    def __init__(
        self, path: str | Path, study: Study | None = None, *, secure: bool = True
    ) -> None:
        self.path, self.place = Path(path), str(path)
        if not self.path.parent.is_dir():
            raise StoreError(f"there is no folder {self.path.parent}", "make it first")
        self._lock = threading.Lock()
        try:
            # A foreign file is found out before anything is written to it.
            there = is_castell(self.path, writing=study is not None)
            if not there and study is None:
                raise StoreError(f"there is no store {path}", "castell serve makes one")
            beside = self.path.with_name(self.path.name + SPOOL)
            if not there and beside.exists():
                raise StoreError(
                    f"{beside} holds reports of a store that is gone",
                    "bring the store back, or move this file away",
                )
            with contextlib.ExitStack() as undo:
                self._writer = connect(self.path)
                undo.callback(self._writer.close)
                if not there and study is not None:
                    make(self._writer, study, secure)
                about = _about(self._writer)
                self.stages = same_study(stages_in(about), study, str(path))
                if study is not None:
                    bring_up_to_date(self._writer, str(path))
                    # Even if there was nothing to do: another that started with this one may have
                    # done it since the file was read.
                    about = _about(self._writer)
                self._file_number = _number(self.path)
                self._packing = StageRows(self.stages)
                self.spool = Spool(beside, bytes.fromhex(about["id"]), self._packing.size)
                self.spool.read()  # one that is damaged, or another store's, is found out now
                if _SPOOLED in about:
                    self.spool.check(collecting=study is not None)
                undo.pop_all()
        except (sqlite3.Error, OSError, KeyError) as error:
            remedy = "give another file, or restore a backup"
            if "locked" in str(error):
                remedy = "end what holds it, then try again"
            raise StoreError(f"{path} cannot be opened ({error!s:.80})", remedy) from None
        self.secure = about["secure"] == "true"
        # What a collector that was killed has left is put in order by the first rest().
        self._unordered, self._wrote, self._next_rewrite = True, False, 0.0
        self._noted = False

    # -- writing -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            writer = self._writer
            try:
                writer.execute("BEGIN IMMEDIATE")
                self._check_file()
                yield writer
                if writer.in_transaction:
                    writer.execute("COMMIT")
                # Once more, for the answers that are about to be given.
                self._check_file()
            except sqlite3.Error as error:
                raise StoreError(
                    f"the store cannot write ({error})", "see to the disk, then send again"
                ) from None
            finally:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")

    def _note_spool(self) -> None:
        if not self._noted:
            insert = "INSERT OR IGNORE INTO about VALUES (?, 'true')"
            self._writer.execute(insert, (_SPOOLED,))
            self._noted = True

    def _check_file(self) -> None:
        """SQLite would go on writing to a file that has been deleted, and lose it all."""
        if _number(self.path) != self._file_number:
            raise StoreError(
                f"{self.path} was deleted or replaced",
                "put it back, then start the collector again",
            )

    def _undo(self, link: sqlite3.Connection) -> None:
        link.execute("ROLLBACK")

    def _insert(
        self,
        link: sqlite3.Connection,
        reports: Mapping[bytes, bytes],
        spent: Collection[bytes],
        hour: int,
    ) -> bool:
        before = link.total_changes
        rows = [(key, codes, hour) for key, codes in sorted(reports.items())]
        link.executemany(_INSERT_NEW, rows)
        if link.total_changes - before != len(rows):
            return False
        link.executemany("DELETE FROM unspent WHERE code = ?", [(key,) for key in sorted(spent)])
        self._unordered = self._wrote = True
        return True

    def _fill(self, link: sqlite3.Connection, snapshot: Snapshot) -> int:
        loaded = 0
        for rows in snapshot.rows:
            link.executemany(_INSERT, rows)
            loaded += len(rows)
        link.executemany("INSERT INTO unspent VALUES (?)", [(k,) for k in snapshot.unspent])
        for name, value in zip((INVITATIONS, PAUSED), snapshot.rules, strict=True):
            self._write_note(link, name, "true" if value else "false")
        for at, became in snapshot.planned.items():
            self._write_note(link, f"{PLANNED}{at}", became)
        self._unordered = self._wrote = True
        return loaded

    def invite(self, codes: Sequence[str]) -> None:
        keys = sorted((invitation_key(self.study, code),) for code in codes)
        with self._writing() as writer:
            writer.executemany("INSERT INTO unspent VALUES (?)", keys)
            self._write_note(writer, INVITATIONS, "true")

    def _changing(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._writing()

    def _write_note(self, link: sqlite3.Connection, name: str, value: str | None) -> None:
        if value is None:
            link.execute("DELETE FROM about WHERE name = ?", (name,))
        else:
            link.execute(_NOTE, (name, value))
        self._unordered = self._wrote = True

    def _replace_study(self, old: str, new: str, notes: Mapping[str, str]) -> bool:
        replace = "UPDATE about SET value = ? WHERE name = 'study' AND value = ?"
        with self._writing() as writer:
            if writer.execute(replace, (new, old)).rowcount != 1:
                return False
            for name, value in notes.items():
                self._write_note(writer, name, value)
            return True

    def _study_text(self) -> str:
        # Over the writer, in its turn: another reader might keep the files from being put in order.
        with self._lock:
            try:
                query = "SELECT value FROM about WHERE name = 'study'"
                return str(self._writer.execute(query).fetchone()[0])
            except sqlite3.Error as error:
                raise StoreError(f"{self.path} cannot be read ({error})", "try again") from None

    # -- reading -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(connect(self.path, readonly=True)) as reader:
                self._check_file()
                reader.execute("BEGIN")
                yield reader
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be read ({error})", "restore a backup") from None

    def _rules(self, link: sqlite3.Connection) -> Rules:
        return rules_of(dict(link.execute(_RULES).fetchall()))

    def _notes(self, link: sqlite3.Connection, prefix: str) -> dict[str, str]:
        query = "SELECT name, value FROM about WHERE substr(name, 1, ?) = ?"
        return dict(link.execute(query, (len(prefix), prefix)).fetchall())

    def _find(self, link: sqlite3.Connection, keys: Collection[bytes]) -> dict[bytes, bytes]:
        return dict(_those(link, "SELECT id, codes FROM reports WHERE id", keys))

    def _unused_invitations(
        self, link: sqlite3.Connection, keys: Collection[bytes]
    ) -> frozenset[bytes]:
        found = _those(link, "SELECT code FROM unspent WHERE code", keys)
        return frozenset(row[0] for row in found)

    def _count(self, link: sqlite3.Connection) -> int:
        return int(link.execute("SELECT count(*) FROM reports").fetchone()[0])

    def _rows(self, link: sqlite3.Connection, step: int) -> Iterator[list[Row]]:
        cursor = link.execute("SELECT id, codes, hour FROM reports ORDER BY id")
        return iter(lambda: cursor.fetchmany(step), [])

    def _hours(self, link: sqlite3.Connection) -> dict[int, int]:
        return dict(link.execute("SELECT hour, count(*) FROM reports GROUP BY hour").fetchall())

    def _all_unused(self, link: sqlite3.Connection) -> list[bytes]:
        return [row[0] for row in link.execute("SELECT code FROM unspent ORDER BY code")]

    # -- upkeep --------------------------------------------------------------------------------

    def _keep_order(self) -> None:
        if self._unordered and (self._bytes() <= _SMALL or monotonic() >= self._next_rewrite):
            self._rewrite()

    def rest(self) -> None:
        super().rest()
        if self._unordered:
            self._rewrite()

    def _rewrite(self) -> None:
        started = monotonic()
        # Whoever reads or writes meanwhile is not waited for: it is tried again later.
        with self._lock, contextlib.suppress(sqlite3.Error):
            ask = self._writer.execute
            ask("PRAGMA busy_timeout=0").fetchall()
            try:
                if self._bytes() <= REWRITE_LIMIT:
                    ask("VACUUM")
                busy, _, _ = ask("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._unordered = bool(busy)
            finally:
                ask("PRAGMA busy_timeout=30000").fetchall()
        self._next_rewrite = monotonic() + (monotonic() - started) / _REWRITE_SHARE

    def _bytes(self) -> int:
        ask = self._writer.execute
        pages, size = (ask(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        return int(pages) * int(size)

    def close(self) -> None:
        if self._wrote or is_due(self._spooled):
            self.rest()
        self._writer.close()


def _about(link: sqlite3.Connection) -> dict[str, str]:
    return dict(link.execute("SELECT name, value FROM about").fetchall())


def _those(link: sqlite3.Connection, query: str, keys: Collection[bytes]) -> Iterator[Any]:
    """The rows of some keys, a few hundred at a time: SQLite limits the length of a statement."""
    wanted = list(keys)
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        yield from link.execute(f"{query} IN ({','.join('?' * len(part))})", part)


def _number(path: Path) -> tuple[int, int] | None:
    """What the operating system knows a file by."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
