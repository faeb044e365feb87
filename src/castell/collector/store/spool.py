"""The spool: reports that are kept but not filed yet, in one small file without a history.

A database remembers the order of its transactions: SQLite in its WAL and inside its pages,
PostgreSQL in its WAL, in `xmin`, `xmax` and `ctid`. A report that had a transaction of its own
could be told from the one before, and be linked to the invitation that was used with it. So no
report goes to the database on its own (see `filing`). Until enough others are there it waits here.

The file holds the reports sorted by their random keys, the used invitations sorted by theirs, and
one hour for all. It is replaced as a whole: a new file is written and synced, takes the name of the
old one, and the folder is synced. On return it is durable; after a power cut there is the old file
or the new one. Nothing in it says who came first, or which invitation brought which report.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from castell.collector.store.store import StoreError

KEY = 16
_MAGIC = b"castell spool 1\n"
_HEAD = struct.Struct("<16s16sqII")
_CHECK = 32


@dataclass(frozen=True)
class Waiting:
    """Reports that wait to be filed, by key, and the used invitations that wait to be deleted.

    `hour` is the hour in which the last of them came.
    """

    reports: Mapping[bytes, bytes] = field(default_factory=dict)
    spent: frozenset[bytes] = frozenset()
    hour: int = 0


class Spool:
    """The file of one store's waiting reports, each `size` bytes of codes.

    Whoever reads and then writes it holds the store's lock meanwhile. Reading alone needs none.
    """

    def __init__(self, path: Path, store: bytes, size: int) -> None:
        self.path, self._store, self._size = path, store, size
        # One name: what a crash leaves there is overwritten by the next write.
        self._part = path.with_name(path.name + ".part")

    def read(self) -> Waiting:
        """What waits; nothing if there is no file."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return Waiting()
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be read ({error.strerror})", "see to its rights"
            ) from None
        body, check = content[:-_CHECK], content[-_CHECK:]
        if len(body) < _HEAD.size or hashlib.sha256(body).digest() != check:
            raise self._damaged()
        magic, store, hour, reports, spent = _HEAD.unpack_from(body)
        if magic != _MAGIC:
            raise self._damaged()
        if store != self._store:
            raise StoreError(
                f"{self.path} holds reports of another store",
                "put it back beside its store, or move it away",
            )
        row, start = KEY + self._size, _HEAD.size
        middle = start + reports * row
        if len(body) != middle + spent * KEY:
            raise self._damaged()
        rows = (body[i : i + row] for i in range(start, middle, row))
        used = (body[i : i + KEY] for i in range(middle, len(body), KEY))
        return Waiting({one[:KEY]: one[KEY:] for one in rows}, frozenset(used), hour)

    def write(self, waiting: Waiting) -> None:
        """Replace the file; on return it is durable."""
        if not waiting.reports and not waiting.spent:
            self._remove()
            return
        head = _HEAD.pack(
            _MAGIC, self._store, waiting.hour, len(waiting.reports), len(waiting.spent)
        )
        rows = (key + codes for key, codes in sorted(waiting.reports.items()))
        body = b"".join((head, *rows, *sorted(waiting.spent)))
        with self._asking():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(body + hashlib.sha256(body).digest())
                file.flush()
                os.fsync(file.fileno())
            self._part.replace(self.path)
            sync_folder(self.path.parent)

    def tidy(self) -> None:
        """Remove what a crash in the middle of a write has left: it would show the last report."""
        with self._asking():
            self._part.unlink(missing_ok=True)

    def _remove(self) -> None:
        # Not synced: should a power cut bring the file back, its reports are known by their keys.
        with self._asking():
            self.path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"the store cannot write {self.path} ({error.strerror})",
                "see to the disk, then send again",
            ) from None

    def _damaged(self) -> StoreError:
        return StoreError(f"{self.path} is damaged", "restore a backup")


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
