"""Clients of Dask clusters: what castell opened ends with the last counts that use it.

A client has a thread of its own. One that nobody closes looks for its scheduler as long as the
process lives, when the scheduler is long gone.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Lock, Thread
from typing import Any
from weakref import WeakValueDictionary, finalize

from castell.errors import MissingExtraError, OptionError

# Seconds that a scheduler has to answer.
_PATIENCE = 10


class Connection:
    """A client, kept by all counts that use it. One that castell opened is closed with the last."""

    def __init__(self, client: Any, *, opened: bool) -> None:
        self.client = client
        if opened:
            finalize(self, _close, client)

    def __reduce__(self) -> tuple[Any, ...]:
        # In another process it is another client of the same cluster.
        return connect, (self.client.scheduler.address,)


_OPENED: WeakValueDictionary[str | None, Connection] = WeakValueDictionary()
_LOCK = Lock()


def connect(address: str | None) -> Connection:
    """The cluster at an address; else the one in use, or one of this machine's cores."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("Dask is not installed", "pip install 'castell[dask]'") from None
    if not address:
        with suppress(ValueError):
            return Connection(Client.current(allow_global=True), opened=False)
    with _LOCK:
        found = _OPENED.get(address)
        if found is None or found.client.status != "running":
            found = _OPENED[address] = Connection(_open(Client, address), opened=True)
        return found


def _open(client: Any, address: str | None) -> Any:
    # Not the default of other code: that would be left with a client that is closed.
    if not address:
        try:
            return client(dashboard_address=None, set_as_default=False)
        except RuntimeError:
            raise OptionError(
                "Dask's workers did not start",
                'in a script put what starts them below if __name__ == "__main__":',
            ) from None
    try:
        return client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError):
        raise OptionError(
            f"no Dask scheduler answers at {address}", "start one: dask scheduler"
        ) from None


def _close(client: Any) -> None:
    # The last counts may go in the client's own thread, which cannot wait for itself.
    if client.asynchronous:
        Thread(target=_close, args=(client,), daemon=True).start()
        return
    # A scheduler that is gone, or a loop that ended with the process, is no news to anybody here.
    with suppress(Exception):
        client.close()
