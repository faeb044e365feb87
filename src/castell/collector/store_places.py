"""Where a store is, as people say it: a file, an address, or a file that holds the address.

What stands in a command can be read by everybody on the machine, in the list of processes: a
password has no place there.
"""

from __future__ import annotations

from pathlib import Path

import typer

from castell.collector.store import is_server
from castell.errors import OptionError

ENVIRONMENT = "CASTELL_STORE"
REMEDY = f"put the address into {ENVIRONMENT}, or into a file and write @FILE"


def resolve(given: str, *, in_command: bool = True, beside: Path | None = None) -> str:
    """The store's path or address; `@FILE` is the first line of a file.

    Warns of a password `in_command`, where others can read it. What a study file says is meant
    from the folder it is in: `beside` that file.
    """
    if beside is not None:
        if is_server(given):
            return given
        mark, path = ("@", given[1:]) if given.startswith("@") else ("", given)
        given, in_command = f"{mark}{beside.parent / path}", False
    if given.startswith("@"):
        return _first_line(Path(given[1:]))
    if in_command and has_password(given):
        typer.echo(
            "castell: warning: the password stands in the list of processes: " + REMEDY, err=True
        )
    return given


def has_password(place: str) -> bool:
    """
    >>> has_password("postgresql://me:secret@host/db"), has_password("postgresql://me@host/db")
    (True, False)
    """
    if not is_server(place):
        return False
    address, _, options = place.partition("?")
    head, mark, _ = address.partition("://")[2].rpartition("@")
    return (bool(mark) and ":" in head) or "password=" in options


def without_password(place: str) -> str:
    """The same place to be shown.

    >>> without_password("postgresql://me:secret@host/db?password=x")
    'postgresql://...@host/db'
    """
    if not is_server(place):
        return place
    kind, _, rest = place.partition("?")[0].partition("://")
    _, mark, tail = rest.rpartition("@")
    return f"{kind}://...@{tail}" if mark else f"{kind}://{rest}"


def _first_line(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise OptionError(f"{path} cannot be read ({error!s:.80})", "write @FILE") from None
    if not lines[0].strip():
        raise OptionError(f"{path} is empty", "put the store's address into its first line")
    return lines[0].strip()
