"""The schema of an SQLite store as numbered steps; a file's `user_version` is how many it has had.

A new file gets all steps, an older one those it lacks, in one transaction: whatever happens
meanwhile, it is as it was or as it should be. To change the schema, add a function here and put it
at the end of `STEPS`. A step that is released is never changed: files that have had it are out
there. PostgreSQL has the same steps as alembic's, in `migrations/versions/`.

Alembic could do both. But whoever only reads a file of reports (`castell estimate`) needs neither
it nor SQLAlchemy today: 32 MB to install and 0.4 seconds to import, for statements such as these.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable

from castell.collector.store.store import StoreError, new_store_id

Step = Callable[[sqlite3.Connection], None]


def _reports(link: sqlite3.Connection) -> None:
    """The first tables: what the store holds, the reports, and invitations not yet used."""
    link.execute(
        "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT"
    )
    link.execute(
        "CREATE TABLE reports (id BLOB PRIMARY KEY CHECK (length(id) = 16), codes BLOB NOT NULL,"
        " hour INTEGER NOT NULL CHECK (hour % 3600 = 0)) WITHOUT ROWID, STRICT"
    )
    link.execute(
        "CREATE TABLE unspent (code BLOB PRIMARY KEY CHECK (length(code) = 16))"
        " WITHOUT ROWID, STRICT"
    )


def _spool(link: sqlite3.Connection) -> None:
    """The store gets a name for its spool to know it by; reports are kept under a hash of their id.

    A new file has no reports yet, and gets no key that it would have to change.
    """
    link.execute("INSERT INTO about VALUES ('id', ?)", (new_store_id(),))
    found = link.execute("SELECT value FROM about WHERE name = 'study'").fetchone()
    if found is None:
        return
    # What castell.collector.store.store.report_key did then.
    head = f"castell report {json.loads(found[0])['digest']} ".encode()

    def key(id: bytes) -> bytes:
        return hashlib.sha256(head + id).digest()[:16]

    link.create_function("castell_report_key", 1, key, deterministic=True)
    link.execute("UPDATE reports SET id = castell_report_key(id)")
    link.create_function("castell_report_key", 1, None)


STEPS: tuple[Step, ...] = (_reports, _spool)
SCHEMA_VERSION = len(STEPS)


def version_of(link: sqlite3.Connection) -> int:
    return int(link.execute("PRAGMA user_version").fetchone()[0])


def check_version(version: int, place: str, *, writing: bool) -> None:
    """Refuse what is newer, and what is older if it may not be brought up to date."""
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{place} has schema version {version}, this castell knows {SCHEMA_VERSION}",
            "use the castell that wrote it, or a newer one",
        )
    if version < SCHEMA_VERSION and not writing:
        raise StoreError(
            f"{place} has schema version {version}, this castell reads {SCHEMA_VERSION}",
            "castell serve brings it up to date; so does castell restore, in a copy of it",
        )


def migrate(link: sqlite3.Connection) -> None:
    """Give a file the steps it lacks. The caller has a writing transaction open."""
    for number, step in enumerate(STEPS[version_of(link) :], version_of(link) + 1):
        step(link)
        link.execute(f"PRAGMA user_version = {number}")
