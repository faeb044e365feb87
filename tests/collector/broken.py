"""Collectors that are broken on purpose, to see that the tests which must catch them do.

`python -m tests.collector.broken KIND serve ...` is `castell serve ...` with a store that

- `early`: answers before it has written,
- `twice`: does not know a report it has seen,
- `unsynced`: keeps reports without an fsync.
"""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Callable, Sequence

from castell.cli.app import main
from castell.collector.store import spool, sqlite
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


KINDS: dict[str, Callable[..., list[Outcome]]] = {
    "early": early,
    "twice": twice,
    "unsynced": unsynced,
}

if __name__ == "__main__":
    sqlite.SqliteStore.add = KINDS[sys.argv.pop(1)]  # type: ignore[method-assign]
    main()
