"""A file on the device: small things under names, for its owner only, on disk once written."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from castell.errors import OptionError

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
            # Made with its permissions, not given them later: no key is ever readable to others.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise OptionError(
                f"{self.path} cannot be kept ({error.strerror})",
                "give another folder (--folder, or CASTELL_HOME)",
            ) from None
        if os.name == "posix" and self.path.stat().st_mode & 0o077:
            raise OptionError(
                f"{self.path} holds secret keys and is open to others",
                f"chmod 600 {self.path}, and consider the keys known",
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=30.0, isolation_level=None)) as link:
                link.execute("PRAGMA synchronous=FULL")
                # What is taken out is overwritten: a key beside its report would tell the answer.
                link.execute("PRAGMA secure_delete=ON").fetchall()
                yield link
        except sqlite3.Error as error:
            raise OptionError(
                f"{self.path} cannot be used ({error})",
                "try again; if it is damaged move it away, and know that the next report is drawn "
                "anew and spends anew",
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
