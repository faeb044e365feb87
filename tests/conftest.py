"""What all tests share: the command line's verbs are read once in a process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer
import typer.testing


@pytest.fixture(scope="session", autouse=True)
def verbs_read_once() -> Iterator[None]:
    """Typer reads the signatures of all verbs at every call, for a tenth of a second and more.

    A user's process makes one call; this one makes hundreds, and none of them changes a verb. What
    a package adds to the help is looked at in processes of their own.
    """
    read: Any = cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", read)
        patch.setattr(typer.testing, "_get_command", read)
        yield
