"""The file of the embedded store: how it is opened, known and made."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from castell.collector.store.sqlite_migrations import (
    SCHEMA_VERSION,
    check_version,
    migrate,
    version_of,
)
from castell.collector.store.store import StoreError
from castell.study.study import Study

APPLICATION = 0x43615354  # "CaST"
MAGIC = b"SQLite format 3\x00"


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


def is_castell(path: Path, *, writing: bool) -> bool:
    """Whether the file is a store already; an error if it is anything else.

    An older one is a store for those who are `writing`: they bring it up to date.
    """
    if not path.exists() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise StoreError(f"{path} is no store", "give another file")
    with contextlib.closing(connect(path, readonly=True)) as link:
        (application,) = link.execute("PRAGMA application_id").fetchone()
        version = version_of(link)
        (tables,) = link.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version, tables) == (0, 0, 0):
        return False  # its making was cut short
    if application != APPLICATION:
        raise StoreError(f"{path} is another program's database", "give another file")
    check_version(version, str(path), writing=writing)
    return True


def make(link: sqlite3.Connection, study: Study, secure: bool) -> None:
    """The whole schema in one transaction: a store is there or it is not."""
    link.execute("BEGIN IMMEDIATE")
    if link.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        link.execute("ROLLBACK")  # another process was first
        return
    migrate(link)
    about = {"study": study.to_json(), "secure": _text(secure), "invitations": _text(False)}
    link.executemany("INSERT INTO about VALUES (?, ?)", list(about.items()))
    link.execute(f"PRAGMA application_id = {APPLICATION}")
    link.execute("COMMIT")


def bring_up_to_date(link: sqlite3.Connection, place: str) -> None:
    """Give a store the steps that it lacks, in one transaction: a crash leaves it as it was.

    What they overwrite is gone from the files once the store is put in order (`rest`).
    """
    if version_of(link) == SCHEMA_VERSION:
        return
    link.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been first, or a newer castell.
        check_version(version_of(link), place, writing=True)
        migrate(link)
        link.execute("COMMIT")
    finally:
        if link.in_transaction:
            link.execute("ROLLBACK")


@contextlib.contextmanager
def readable(path: Path) -> Iterator[Path]:
    """A backup to read: the file, or an updated copy of it if an older castell wrote it.

    A backup is never changed. The copy is its owner's alone, and gone when the block is left.
    """
    if not _is_older(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="castell-") as folder:
        copy = Path(folder) / "copy.sqlite"
        with (
            contextlib.closing(connect(path, readonly=True)) as link,
            contextlib.closing(connect(copy)) as target,
        ):
            link.backup(target)
            bring_up_to_date(target, str(path))
        yield copy


def _is_older(path: Path) -> bool:
    """Whether it is a store of an older version; no for what is none, or cannot be read."""
    try:
        if not is_castell(path, writing=True):
            return False
        with contextlib.closing(connect(path, readonly=True)) as link:
            return version_of(link) < SCHEMA_VERSION
    except (sqlite3.Error, OSError):
        return False


def _text(flag: bool) -> str:
    return "true" if flag else "false"
