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

    def size(self) -> int | None:
        """Its bytes, if it is a file that is there."""
        try:
            return None if self._path is None else self._path.stat().st_size
        except OSError:
            return None

    def last_backup(self) -> float | None:
        """When it was last backed up, as far as that is known."""
        try:
            return None if self._path is None else backup_mark(self._path).stat().st_mtime
        except OSError:
            return None


def backup_mark(path: Path) -> Path:
    """The empty file beside a store whose time is that of its last backup."""
    return path.with_name(path.name + "-backed-up")


def _number(path: Path | None) -> tuple[int, int] | None:
    try:
        found = path.stat() if path is not None else None
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)
