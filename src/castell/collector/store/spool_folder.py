"""Where the spool of a database lies: a folder on the collector's machine, with a name of its own.

A file's spool lies beside it; a database has no such place. The folder's name, 16 random bytes in
the file `name`, goes where the folder goes: a collector in a container that starts anew under
another host name still has the same spool.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from castell.collector.store.spool import sync_folder
from castell.collector.store.store import StoreError

VARIABLE = "CASTELL_SPOOL"


def spool_folder(given: Path | None = None) -> Path:
    """The folder that is given, or named in the environment, or the user's own."""
    if given is not None:
        return given
    if named := os.environ.get(VARIABLE):
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "castell"


def folder_name(folder: Path) -> str:
    """The random name of a spool folder; it is made, with the folder, where there is none."""
    path = folder / "name"
    try:
        with contextlib.suppress(FileNotFoundError):
            return _read_name(path)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = folder / f".name.{secrets.token_hex(4)}"
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(16))
                file.flush()
                os.fsync(file.fileno())
            # Unlike a rename, a link does not replace the name another collector gave just now.
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(part)
        finally:
            part.unlink()
        sync_folder(folder)
        return _read_name(path)
    except OSError as error:
        raise StoreError(
            f"the spool folder {folder} cannot be used ({error.strerror})",
            "give another with --spool",
        ) from None


def _read_name(path: Path) -> str:
    name = path.read_text(encoding="ascii", errors="replace")
    if len(name) != 32 or not name.isalnum():
        raise StoreError(f"{path} is damaged", "give another folder with --spool")
    return name
