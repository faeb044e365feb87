"""The spool: reports that are kept but not filed yet, in one small file without a history.

A database remembers the order of its transactions: SQLite in its WAL and inside its pages,
PostgreSQL in its WAL, in `xmin`, `xmax` and `ctid`. A report that had a transaction of its own
could be told from the one before, and be linked to the invitation that was used with it. So no
report goes to the database on its own (see `filing`). Until enough others are there it waits here.

The file holds the reports sorted by their random keys, the used invitations sorted by theirs, and
one hour for all. Nothing in it says who came first, or which invitation brought which report.

It has two halves. One holds what waits, the other zeros. What waits next is written to the other
half and synced; on return from that it is durable. Then the first half is overwritten with zeros.
After a power cut in between the newer of two whole halves counts: a number modulo 3 tells which it
is, and nothing more. A file that is too small for its content, or far too large, is replaced: a new
one is written and synced, takes its name, and the folder is synced.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import struct
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from castell.collector.store.store import StoreError

KEY = 16
_MAGIC = b"castell spool 1\n"
_HEAD = struct.Struct("<16s16sqIII")
_CHECK = 32
_PAGE = 4096
# Whoever reads while another writes may find neither half whole, and looks again.
_LOOKS, _BETWEEN = 200, 0.005
_LOG = logging.getLogger("castell")
_sync_data = getattr(os, "fdatasync", os.fsync)  # macOS has the latter only


@dataclass(frozen=True)
class Waiting:
    """Reports that wait to be filed, by key, and the used invitations that wait to be deleted.

    `hour` is the hour in which the last of them came.
    """

    reports: Mapping[bytes, bytes] = field(default_factory=dict)
    spent: frozenset[bytes] = frozenset()
    hour: int = 0


class _Half(NamedTuple):
    place: int
    turn: int  # modulo 3
    body: bytes


class Spool:
    """The file of one store's waiting reports, each `size` bytes of codes.

    Whoever reads and then writes it holds the store's lock meanwhile. Reading alone needs none.
    """

    def __init__(self, path: Path, store: bytes, size: int) -> None:
        self.path, self._store, self._size = path, store, size
        # One name: what a crash leaves there is overwritten the next time.
        self._part = path.with_name(path.name + ".part")

    def read(self) -> Waiting:
        """What waits; nothing if there is no file."""
        for _ in range(_LOOKS):
            content = self._content()
            if content is None:
                return Waiting()
            half = self._newest(content)
            if half is not None:
                return self._unpack(half.body)
            time.sleep(_BETWEEN)
        raise self._damage_error()

    def write(self, waiting: Waiting) -> None:
        """Have this wait instead of what did; on return it is durable."""
        content = self._content()
        now = None if content is None else self._newest(content)
        if content is not None and now is None:
            raise self._damage_error()
        body = self._body(waiting, 0 if now is None else (now.turn + 1) % 3)
        room = 0 if content is None else len(content) // 2
        with self._explain_failure():
            if now is None or not len(body) <= room <= max(8 * len(body), _PAGE):
                self._replace(body)
            else:
                self._turn(body, room, now.place)

    def check(self, *, collecting: bool) -> None:
        """Complain of a spool that was there before and is not: its file is never deleted.

        A collector would go on without the reports that waited in it. Whoever only reads is told.
        """
        if self.path.exists():
            return
        problem, remedy = f"{self.path} is missing, and reports waited in it", "bring it back"
        if collecting:
            raise StoreError(problem, f"{remedy}; if it is lost, restore a backup of the store")
        _LOG.warning("castell: %s: %s", problem, remedy)

    def tidy(self) -> None:
        """Remove what a crash in the middle of a write has left: it would show the last report."""
        with self._explain_failure():
            self._part.unlink(missing_ok=True)
            content = self._content()
            now = None if content is None else self._newest(content)
            if content is not None and now is not None:
                room = len(content) // 2
                with self._open() as handle:
                    os.pwrite(handle, bytes(room), (1 - now.place) * room)

    def _turn(self, body: bytes, room: int, place: int) -> None:
        """Write the half that holds nothing, then clear the other."""
        other = 1 - place
        with self._open() as handle:
            try:
                if os.pwrite(handle, body.ljust(room, b"\x00"), other * room) != room:
                    raise OSError(errno.EIO, "only a part was written")
                _sync_data(handle)
            except OSError:
                # It may be on the disk or not. What was there before must stay the newer one.
                os.pwrite(handle, bytes(room), other * room)
                raise
            # Not synced: if a power cut brings it back, it is the older one.
            os.pwrite(handle, bytes(room), place * room)

    def _replace(self, body: bytes) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        room = -(-2 * len(body) // _PAGE) * _PAGE
        handle = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(body.ljust(2 * room, b"\x00"))
            file.flush()
            os.fsync(file.fileno())
        self._part.replace(self.path)
        sync_folder(self.path.parent)

    @contextlib.contextmanager
    def _open(self) -> Iterator[int]:
        handle = os.open(self.path, os.O_RDWR)
        try:
            yield handle
        finally:
            os.close(handle)

    def _content(self) -> bytes | None:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be read ({error.strerror})", "see to its rights"
            ) from None

    def _newest(self, content: bytes) -> _Half | None:
        """The half that counts; none if neither is whole."""
        room = len(content) // 2
        found = [
            _Half(place, _HEAD.unpack_from(body)[3], body)
            for place in (0, 1)
            if (body := self._whole(content[place * room : (place + 1) * room]))
        ]
        if len(found) == 2:
            return found[0] if (found[0].turn - found[1].turn) % 3 == 1 else found[1]
        return found[0] if found else None

    def _whole(self, half: bytes) -> bytes | None:
        """The part of a half before its check and the zeros, if all of it is as it was written."""
        if len(half) < _HEAD.size or half[:KEY] != _MAGIC:
            return None
        *_, reports, spent = _HEAD.unpack_from(half)
        end = _HEAD.size + reports * (KEY + self._size) + spent * KEY
        body, check = half[:end], half[end : end + _CHECK]
        return body if hashlib.sha256(body).digest() == check else None

    def _body(self, waiting: Waiting, turn: int) -> bytes:
        numbers = waiting.hour, turn, len(waiting.reports), len(waiting.spent)
        rows = (key + codes for key, codes in sorted(waiting.reports.items()))
        body = b"".join((_HEAD.pack(_MAGIC, self._store, *numbers), *rows, *sorted(waiting.spent)))
        return body + hashlib.sha256(body).digest()

    def _unpack(self, body: bytes) -> Waiting:
        _, store, hour, _, reports, _ = _HEAD.unpack_from(body)
        if store != self._store:
            raise StoreError(
                f"{self.path} holds reports of another store",
                "put it back beside its store, or move it away",
            )
        row, start = KEY + self._size, _HEAD.size
        middle = start + reports * row
        rows = (body[i : i + row] for i in range(start, middle, row))
        used = (body[i : i + KEY] for i in range(middle, len(body), KEY))
        return Waiting({one[:KEY]: one[KEY:] for one in rows}, frozenset(used), hour)

    @contextlib.contextmanager
    def _explain_failure(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"the store cannot write {self.path} ({error.strerror})",
                "see to the disk, then send again",
            ) from None

    def _damage_error(self) -> StoreError:
        return StoreError(f"{self.path} is damaged", "restore a backup")


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
