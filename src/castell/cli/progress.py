"""A progress bar that shows itself only when the work takes more than a second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

PATIENCE = 1.0


class Tell(Protocol):
    """Hears which share of some work is done."""

    def __call__(self, done: float, of: str = ...) -> None: ...


@contextmanager
def progress_bar(what: str, *, quiet: bool = False) -> Iterator[Tell]:
    """Gives a function to tell which share of the work is done, from 0 to 1, and of what.

    The bar is drawn on standard error, and only on a terminal, so output stays clean.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(what, total=1.0)
    start, shown = time.monotonic(), False

    def tell(done: float, of: str = what) -> None:
        nonlocal shown
        late = time.monotonic() - start > PATIENCE
        if late and not shown and not quiet and console.is_terminal:
            bar.start()
            shown = True
        if of != bar.tasks[0].description:
            bar.reset(task, description=of)  # the time that remains is that of this work
        bar.update(task, completed=done)

    try:
        yield tell
    finally:
        if shown:
            bar.stop()


@contextmanager
def working(what: str, *, quiet: bool = False) -> Iterator[None]:
    """A sign of life on a terminal, for work that cannot tell how far it is."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
    else:
        with console.status(what):
            yield
