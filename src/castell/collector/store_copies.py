"""Copies of a store: Parquet to analyse, a backup to keep, a restore to go on from.

A backup of either kind of store is an SQLite store, which is also the way from one kind to the
other. It holds what is filed and what waits in the spool, all filed, in the order of random keys:
the same bytes, whatever the order in which the reports came.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from castell.collector.store import Store, is_server, open_store
from castell.collector.store.spool import sync_folder
from castell.collector.store.sqlite import SPOOL, SqliteStore
from castell.collector.store.sqlite_file import readable
from castell.collector.store.store import Snapshot, StoreError, not_empty
from castell.collector.store_file import backup_mark
from castell.reports.parquet import ReportWriter
from castell.study.study import Study


def export(store: Store, path: Path) -> dict[Path, int]:
    """Write all reports of one moment as Parquet: codes only, in the order of random keys.

    Stages have columns of their own: each has its file, beside the path. Returned are the files
    and how many reports are in each.
    """
    paths = stage_files(store.stages, path)
    rows = dict.fromkeys(paths.values(), 0)
    with contextlib.ExitStack() as stack:
        writers = {
            stage: stack.enter_context(ReportWriter(stage, file, secure=store.secure))
            for stage, file in paths.items()
        }
        for batch in store.dated_batches():
            if batch.stage not in writers:
                raise StoreError("a stage has begun meanwhile", "export again")
            writers[batch.stage].write(batch.columns)
            rows[paths[batch.stage]] += len(batch.hours)
    return rows


def stage_files(stages: Sequence[Study], path: Path) -> dict[Study, Path]:
    """The file of each stage: the path itself, or with the stage's number in its name.

    >>> from castell import Attribute, Schema
    >>> study = Study(Schema([Attribute("a", ["x", "y"])]), 1.0)
    >>> [str(file) for file in stage_files([study], Path("reports.parquet")).values()]
    ['reports.parquet']
    """
    if len(stages) == 1:
        return {stages[0]: path}
    numbered = enumerate(stages, 1)
    return {stage: path.with_name(f"{path.stem}.stage{n}{path.suffix}") for n, stage in numbered}


def backup(place: str, path: Path, *, spool: Path | None = None) -> int:
    """Copy a store, in use or not, into a new file that appears only when it is whole."""
    with contextlib.closing(open_store(place, spool=spool)) as store:
        rows = _copy(store, path)
    if isinstance(store, SqliteStore):
        with contextlib.suppress(OSError):  # no reason to lose the backup
            backup_mark(store.path).touch()
    return rows


def restore(path: Path, place: str) -> int:
    """Make a store from a backup, of this version or an older one.

    What is there already is never overwritten.
    """
    with readable(path) as current, contextlib.closing(SqliteStore(current)) as kept:
        if not is_server(place):
            return _copy(kept, Path(place))
        opened = open_store(place, kept.stages[0], secure=kept.secure)
        with contextlib.closing(opened) as store, kept.snapshot() as snapshot:
            if store.secure != kept.secure:
                raise StoreError("the database was made for other reports", "give an empty one")
            return _fill(store, snapshot, place)


def _copy(store: Store, path: Path) -> int:
    with _whole(path) as part:
        with store.snapshot() as snapshot:
            copy = SqliteStore(part, snapshot.stages[0], secure=store.secure)
            with contextlib.closing(copy):
                _fill(copy, snapshot, str(path))
        return _check_copy(part)


def _fill(store: Store, snapshot: Snapshot, place: str) -> int:
    """An empty store with all stages and all reports of another."""
    if store.count() or len(store.stages) > 1:
        raise not_empty(place)
    for stage in snapshot.stages[1:]:
        store.publish(stage)
    return store.load(snapshot)


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A file to write, which gets its name once all of it is on the disk."""
    if not path.parent.is_dir():
        raise StoreError(f"there is no folder {path.parent}", "make it first")
    if any(path.with_name(path.name + end).exists() for end in ("", "-wal", "-journal", SPOOL)):
        raise StoreError(f"{path} is there already", "give another name")
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL, 0o600))
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.rename(path)
        sync_folder(path.parent)
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            part.with_name(part.name + end).unlink(missing_ok=True)


def _check_copy(path: Path) -> int:
    """How many reports a copy holds, after a look at every page of it."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as link:
            (found,) = link.execute("PRAGMA integrity_check").fetchone()
            (rows,) = link.execute("SELECT count(*) FROM reports").fetchone()
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        raise StoreError(f"the copy is damaged ({found})", "see to the disk, then try again")
    return int(rows)
