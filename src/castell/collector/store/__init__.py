"""Stores: where reports are kept. A file by default, PostgreSQL by its address.

Imports counting and what it imports; nothing else of the collector.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from castell.collector.store.packing import Packing
from castell.collector.store.store import (
    Outcome,
    Refusal,
    Snapshot,
    Store,
    StoreError,
    Submission,
    same_study,
)
from castell.counting import Counts, MemoryCounts, join_stages
from castell.errors import MissingExtraError
from castell.reports.codes import join_parts
from castell.reports.reports import Reports
from castell.study.study import Study

__all__ = [
    "Outcome",
    "Packing",
    "Refusal",
    "Snapshot",
    "Store",
    "StoreError",
    "Submission",
    "counts_of",
    "is_server",
    "is_store",
    "open_store",
    "reports_of",
]

_SERVERS = ("postgresql://", "postgres://", "postgresql+psycopg://")


def open_store(
    place: str | Path,
    study: Study | None = None,
    *,
    secure: bool = True,
    spool: Path | None = None,
) -> Store:
    """The store at a path or an address; with a study it is made where there is none.

    `secure=False` marks a new store as one of simulated respondents with a seed. `spool` is the
    folder where reports wait that are not in the database yet; a file has its spool beside it.
    """
    if is_server(place):
        try:
            from castell.collector.store.postgresql import PostgresqlStore

            return PostgresqlStore(str(place), study, secure=secure, spool=spool)
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"PostgreSQL needs {error.name}", "pip install 'castell[serve]'"
            ) from None
    if "://" in str(place):
        raise StoreError("this is no store's address", "write postgresql://..., or a file's path")
    if spool is not None:
        raise StoreError("a store in a file has its spool beside it", "leave --spool out")
    from castell.collector.store.sqlite import SqliteStore

    return SqliteStore(place, study, secure=secure)


def is_server(place: str | Path) -> bool:
    """Whether this is the address of a database, not a path."""
    return str(place).startswith(_SERVERS)


def is_store(place: str | Path) -> bool:
    """Whether this names a store rather than a file of reports."""
    if is_server(place):
        return True
    path = Path(place)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\x00"


def reports_of(store: Store) -> tuple[Reports, ...]:
    """All reports of one moment, in memory, a few bytes each: those of every stage."""
    parts: dict[Study, list[list[NDArray[Any]]]] = {stage: [] for stage in store.stages}
    for batch in store.dated_batches():
        parts.setdefault(batch.stage, []).append(batch.columns)
    return tuple(
        Reports(stage, join_parts(stage, columns), secure=store.secure)
        for stage, columns in parts.items()
    )


def counts_of(store: Store, study: Study | None = None) -> Counts:
    """The store's reports of this moment, as estimators count them: those of all stages."""
    if study is not None:
        same_study(store.stages, study, "the store")
    found = reports_of(store)
    # A stage that has just begun has no reports, and nothing to say.
    filled = [part for part in found if len(part)] or [found[-1]]
    return join_stages([MemoryCounts(part) for part in filled])
