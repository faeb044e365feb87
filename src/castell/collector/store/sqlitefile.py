"""The file of the embedded store: how it is opened, known and made."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from castell.collector.store.store import StoreError, new_store_id
from castell.study.study import Study

SCHEMA_VERSION = 2
APPLICATION = 0x43615354  # "CaST"
MAGIC = b"SQLite format 3\x00"

_SCHEMA = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT",
    "CREATE TABLE reports (id BLOB PRIMARY KEY CHECK (length(id) = 16), codes BLOB NOT NULL,"
    " hour INTEGER NOT NULL CHECK (hour % 3600 = 0)) WITHOUT ROWID, STRICT",
    "CREATE TABLE unspent (code BLOB PRIMARY KEY CHECK (length(code) = 16)) WITHOUT ROWID, STRICT",
)


def connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    """A connection whose commits return after their fsync, and whose deletes overwrite."""
    if not readonly:
        # Readable by its owner alone; SQLite gives the files beside it the same rights.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    place = f"file:{quote(str(path))}?mode={'ro' if readonly else 'rw'}"
    link = sqlite3.connect(
        place, uri=True, isolation_level=None, check_same_thread=False, timeout=30
    )
    if not readonly:
        link.execute("PRAGMA journal_mode=WAL").fetchall()
        link.execute("PRAGMA synchronous=FULL")
        link.execute("PRAGMA secure_delete=ON").fetchall()
        # What VACUUM sorts stays in memory: no copy of it in another folder.
        link.execute("PRAGMA temp_store=MEMORY").fetchall()
        # Random ids touch the same pages again and again: the longer they wait in the WAL, the
        # fewer of them are written twice (on a busy disk: about half again the reports a second).
        link.execute("PRAGMA wal_autocheckpoint=4000").fetchall()
    return link


def is_castell(path: Path) -> bool:
    """Whether the file is a store already; an error if it is anything else."""
    if not path.exists() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise StoreError(f"{path} is no store", "give another file")
    with contextlib.closing(connect(path, readonly=True)) as link:
        (application,) = link.execute("PRAGMA application_id").fetchone()
        (version,) = link.execute("PRAGMA user_version").fetchone()
        (tables,) = link.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version, tables) == (0, 0, 0):
        return False  # its making was cut short
    if application != APPLICATION:
        raise StoreError(f"{path} is another program's database", "give another file")
    if version != SCHEMA_VERSION:
        raise StoreError(
            f"{path} has schema version {version}, this castell knows {SCHEMA_VERSION}",
            "use the castell that wrote it, and a new store with this one",
        )
    return True


def make(link: sqlite3.Connection, study: Study, secure: bool) -> None:
    """The whole schema in one transaction: a store is there or it is not."""
    link.execute("BEGIN IMMEDIATE")
    if link.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        link.execute("ROLLBACK")  # another process was first
        return
    for statement in _SCHEMA:
        link.execute(statement)
    about = {"study": study.to_json(), "secure": _text(secure), "invitations": _text(False)}
    about["id"] = new_store_id()
    link.executemany("INSERT INTO about VALUES (?, ?)", list(about.items()))
    link.execute(f"PRAGMA application_id = {APPLICATION}")
    link.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    link.execute("COMMIT")


def _text(flag: bool) -> str:
    return "true" if flag else "false"
