"""What an operator asks of the file of a store: its size, and when it was last backed up."""

from __future__ import annotations

from pathlib import Path

from castell.collector.store import Store
from castell.collector.store.sqlite import SqliteStore


def store_bytes(store: Store) -> int | None:
    """How large the file of a store is, if it is a file that is there."""
    try:
        return store.path.stat().st_size if isinstance(store, SqliteStore) else None
    except OSError:
        return None


def last_backup(store: Store) -> float | None:
    """When a store was last backed up, as far as that is known."""
    try:
        return backup_mark(store.path).stat().st_mtime if isinstance(store, SqliteStore) else None
    except OSError:
        return None


def backup_mark(path: Path) -> Path:
    """The empty file beside a store whose time is that of its last backup."""
    return path.with_name(path.name + "-backed-up")
