"""What a fit is doing, for whoever listens: a progress bar, or the log.

Folds and starts are fitted together, in one batch, so what is told is the choice that is being
made, how many fits it takes at once, and how far their steps are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LOG = logging.getLogger(__name__)
Listener = Callable[[str, float], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """While this is open, `listener` hears what is done and which share of that is done."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def begin(what: str) -> Callable[[float], None]:
    """Say in the log that something begins; what comes back takes the share that is done."""
    _LOG.info("%s", what)
    listener = _LISTENER.get()
    if listener is None:
        return _nothing
    listener(what, 0.0)
    return lambda done: listener(what, done)


def _nothing(done: float) -> None:
    del done
