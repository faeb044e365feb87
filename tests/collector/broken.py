"""Collectors that are broken on purpose, to see that the tests which must catch them do.

`python -m tests.collector.broken KIND serve ...` is `castell serve ...` with a store that

- `early`: answers before it has written,
- `twice`: does not know a report it has seen,
- `unsynced`: keeps reports without an fsync,
- `copying`: keeps one report in ten a second time, under another key,
- `linking`: files each report by itself, with its invitation, and leaves its files as they are.
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Callable, Sequence

from castell.cli.app import main
from castell.collector.store import filing, spool, sqlite
from castell.collector.store.sqlite import SqliteStore
from castell.collector.store.store import Outcome, Submission

_real = SqliteStore.add


def early(store: SqliteStore, submissions: Sequence[Submission]) -> list[Outcome]:
    def write() -> None:
        time.sleep(0.2)
        _real(store, submissions)

    threading.Thread(target=write, daemon=True).start()
    return [Outcome(len(one.reports)) for one in submissions]


def twice(store: SqliteStore, submissions: Sequence[Submission]) -> list[Outcome]:
    renamed = [
        Submission(tuple((secrets.token_bytes(16), codes) for _, codes in one.reports))
        for one in submissions
    ]
    return _real(store, renamed)


def unsynced(store: SqliteStore, submissions: Sequence[Submission]) -> list[Outcome]:
    store._writer.execute("PRAGMA synchronous=OFF")
    spool._sync_data = spool.os.fsync = lambda _: None  # type: ignore[attr-defined]
    return _real(store, submissions)


def copying(store: SqliteStore, submissions: Sequence[Submission]) -> list[Outcome]:
    outcomes = _real(store, submissions)
    if secrets.randbelow(10) == 0 and outcomes[0].stored:
        with store._writing() as link:
            store._insert(link, {secrets.token_bytes(16): submissions[0].reports[0][1]}, (), 0)
    return outcomes


def linking(store: SqliteStore, submissions: Sequence[Submission]) -> list[Outcome]:
    return [outcome for one in submissions for outcome in _real(store, [one])]


KINDS: dict[str, Callable[..., list[Outcome]]] = {
    "early": early,
    "twice": twice,
    "unsynced": unsynced,
    "copying": copying,
    "linking": linking,
}

if __name__ == "__main__":
    kind = sys.argv.pop(1)
    sqlite.SqliteStore.add = KINDS[kind]  # type: ignore[method-assign]
    if kind == "linking":
        filing.POOL = 0
        for name in ("_keep_order", "_rewrite"):
            setattr(SqliteStore, name, lambda _: None)
    main()
