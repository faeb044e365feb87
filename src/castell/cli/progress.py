"""A progress bar that shows itself only when the work takes more than a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 1.0


@contextmanager
def progress_bar(what: str, *, quiet: bool = False) -> Iterator[Callable[[float], None]]:
    """Gives a function to tell which share of the work is done, from 0 to 1.

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
    columns = (TextColumn(what), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(what, total=1.0)
    start, shown = time.monotonic(), False

    def tell(done: float) -> None:
        nonlocal shown
        late = time.monotonic() - start > PATIENCE
        if late and not shown and not quiet and console.is_terminal:
            bar.start()
            shown = True
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
