"""Whether the file of a store is still the one that was opened."""

from __future__ import annotations

from pathlib import Path

from castell.collector.store import Store, StoreError
from castell.collector.store.sqlite import SqliteStore


class StoreFile:
    """The file of a store, if it has one: writing goes on, to nobody's use, when it is deleted."""

    def __init__(self, store: Store) -> None:
        self._path = store.path if isinstance(store, SqliteStore) else None
        self._number = _number(self._path)

    def check(self) -> None:
        """An error if the name no longer leads to what was opened."""
        if self._path is not None and _number(self._path) != self._number:
            raise StoreError(
                f"{self._path} was deleted or replaced",
                "put it back, then start the collector again",
            )


def _number(path: Path | None) -> tuple[int, int] | None:
    try:
        found = path.stat() if path is not None else None
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)
