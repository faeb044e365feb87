"""What a device keeps between reports: a secret key and a ledger, in one file of its owner's.

The ledger counts reports and keeps no trace of what was answered. A note by which it could tell a
changed answer from a repeated one would tell it to others as well, so what was spent is two
numbers: with one set of answers throughout, and at the most.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from castell.channels.budget import rounded_up
from castell.errors import OptionError, SendError
from castell.study.study import Study

_TABLE = "CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"


def default_folder() -> Path:
    """Where a person's own data goes, unless CASTELL_HOME says otherwise."""
    named = os.environ.get("CASTELL_HOME")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "castell"


class Keep:
    """Small things under names, on disk once written, safe from other processes."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = default_folder() if folder is None else Path(folder)
        self.path = self.folder / "device.sqlite"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Made with its permissions, not given them later: the key is never readable to others.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise OptionError(
                f"{self.path} cannot be kept ({error.strerror})",
                "give another folder (--folder, or CASTELL_HOME)",
            ) from None
        if os.name == "posix" and self.path.stat().st_mode & 0o077:
            raise OptionError(
                f"{self.path} holds a secret key and is open to others",
                f"chmod 600 {self.path}, and consider the key known",
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=30.0, isolation_level=None)) as link:
                link.execute("PRAGMA synchronous=FULL")
                # A report that has arrived is overwritten: beside the key it would tell too much.
                link.execute("PRAGMA secure_delete=ON").fetchall()
                yield link
        except sqlite3.Error as error:
            raise OptionError(
                f"{self.path} cannot be used ({error})",
                "try again; if it is damaged move it away, and know that the next report is drawn "
                "with a new key and spends anew",
            ) from None

    def update(self, name: str, change: Callable[[Any], Any]) -> Any:
        """Read, change and write as one step; None stands for nothing there."""
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.execute(_TABLE)  # costs nothing once it is there
                found = connection.execute("SELECT value FROM kept WHERE name = ?", (name,))
                row = found.fetchone()
                earlier = None if row is None else json.loads(row[0])
                value = change(earlier)
                if value == earlier:
                    pass  # nothing to wait for the disk for
                elif value is None:
                    connection.execute("DELETE FROM kept WHERE name = ?", (name,))
                else:
                    connection.execute(
                        "INSERT OR REPLACE INTO kept VALUES (?, ?)", (name, json.dumps(value))
                    )
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return value

    def all(self, prefix: str) -> list[Any]:
        """The values whose names start so, in the order of their names."""
        with self._open() as connection:
            connection.execute(_TABLE)
            rows = connection.execute("SELECT name, value FROM kept ORDER BY name").fetchall()
        return [json.loads(value) for name, value in rows if name.startswith(prefix)]

    def key(self) -> bytes:
        """The device's secret, drawn from the operating system when first asked for."""
        drawn = os.urandom(32).hex()
        # Another process may have been quicker: the first key stands.
        return bytes.fromhex(self.update("memo", lambda earlier: earlier or drawn))


@dataclass(frozen=True)
class Entry:
    """What left this device for one study. `waiting` is a report that may not have arrived."""

    digest: str
    name: str
    drawn: bool
    blocks: tuple[tuple[float, int], ...]  # epsilon and number of answers of each
    reports: int = 0
    waiting: dict[str, Any] | None = None

    @classmethod
    def of(cls, study: Study) -> Entry:
        channels = [block.channel for block in study.design.blocks]
        return cls(
            study.digest,
            study.text.title or study.name,
            "draw" in study.content,
            tuple((rounded_up(c.exact_epsilon), c.inputs) for c in channels),
        )

    @classmethod
    def read(cls, document: dict[str, Any]) -> Entry:
        blocks = tuple((float(epsilon), int(inputs)) for epsilon, inputs in document["blocks"])
        return cls(**{**document, "blocks": blocks})

    @property
    def spent_if_same(self) -> float:
        """What the reports cost if the answers were always the same."""
        return self._whole([epsilon * min(self.reports, 1) for epsilon, _ in self.blocks])

    @property
    def spent_at_most(self) -> float:
        """What the reports can have cost: a block no more than all its answers told apart."""
        return self._whole([epsilon * min(self.reports, n) for epsilon, n in self.blocks])

    def _whole(self, losses: list[float]) -> float:
        return max(losses) if self.drawn else sum(losses)


def ledger(keep: Keep) -> list[Entry]:
    """Every study this device has sent reports for."""
    return [Entry.read(document) for document in keep.all("ledger:")]


def spend(keep: Keep, study: Study, report: dict[str, Any], limit: float | None = None) -> Entry:
    """Write a report down as spent: before it leaves, because after that nobody can take it back.

    Writing the same report down again changes nothing.
    """

    def change(document: dict[str, Any] | None) -> dict[str, Any]:
        entry = Entry.of(study) if document is None else Entry.read(document)
        if entry.waiting and entry.waiting["id"] == report["id"]:
            return asdict(entry)
        if entry.waiting:
            raise SendError(
                "an earlier report is still waiting", "send that one first", final=False
            )
        after = replace(entry, reports=entry.reports + 1, waiting=report)
        if limit is not None and after.spent_at_most > limit:
            raise OptionError(
                f"sending this may spend {after.spent_at_most:.6g}, the limit is {limit:.6g}, so "
                "it was not sent",
                "leave it at that, or raise the limit",
            )
        return asdict(after)

    return Entry.read(keep.update(f"ledger:{study.digest}", change))


def settle(keep: Keep, study: Study) -> None:
    """The report has arrived, or was refused for good: nothing waits any more."""
    keep.update(f"ledger:{study.digest}", lambda entry: entry and {**entry, "waiting": None})
