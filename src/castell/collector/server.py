"""Running a collector: one process, no access log, nothing of a respondent in any other."""

from __future__ import annotations

import ipaddress
import logging
import socket
import sys
from collections.abc import Callable, Mapping

import uvicorn
from starlette.types import ASGIApp

from castell.collector.app import guess_limit, study_app
from castell.collector.metrics import Tally
from castell.collector.results.overview import step_of
from castell.collector.results.process import SolverProcess, default_memory
from castell.collector.security.connection_limits import Gate, connections_possible
from castell.collector.security.connections import bounded_protocol
from castell.collector.security.log_limit import LogLimit
from castell.collector.settings import ConnectionLimits, State
from castell.collector.several_studies import Studies
from castell.errors import OptionError

# Seconds that a thread which reads the store may keep the interpreter from the one that takes
# reports; Python's own five milliseconds are as long as ten reports take.
LONGEST_TURN = 0.0005


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens already, so that its port can be told before the server runs."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        raise OptionError(
            f"cannot listen at {host}:{port} ({error})",
            "take another port, or this machine's own address",
        ) from None
    listening.listen(2048)
    return listening


def check_proxies(proxies: str) -> None:
    """A proxy that is not written as its address would never be believed, without a word."""
    for proxy in filter(None, proxies.split(",")):
        try:
            ipaddress.ip_network(proxy.strip(), strict=False)
        except ValueError:
            raise OptionError(
                f"{proxy!r} is not a proxy's address", "write it as 127.0.0.1 or 10.0.0.0/8"
            ) from None


def make_server(
    served: State | Mapping[str, State],
    *,
    proxies: str = "",
    on_start: Callable[[], None] | None = None,
) -> uvicorn.Server:
    """The collector as a server that has yet to be run: of one study at /, or of some by path.

    `proxies` are the addresses of reverse proxies whose X-Forwarded-For is believed, for the rate
    limit only, and who may have any number of connections.
    """

    tally = Tally()  # of what is not known to be for a study
    app, limits = _app(served, tally)
    logs = [logging.getLogger(name) for name in ("uvicorn.error", "castell")]
    log_limit = LogLimit(tally.dropped)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            for log in logs:
                log.addFilter(log_limit)
            await super().startup(sockets)
            if on_start is not None:
                on_start()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await super().shutdown(sockets)
            for log in logs:
                log.removeFilter(log_limit)

    listed = [proxy.strip() for proxy in proxies.split(",") if proxy.strip()]
    gate = Gate(connections_possible(limits.most), limits.each, listed)
    config = uvicorn.Config(
        app,
        http=bounded_protocol(gate, limits, tally),
        access_log=False,
        log_level="warning",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies or None,
        server_header=False,
        ws="none",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
    )
    return Server(config)


def _app(served: State | Mapping[str, State], tally: Tally) -> tuple[ASGIApp, ConnectionLimits]:
    several = {"": served} if isinstance(served, State) else served
    settings = next(iter(several.values())).settings
    # Models of different studies are fitted at the same time, in what one would have had.
    memory = default_memory() // len(several)
    guesses = guess_limit(settings)
    parts = {}
    for name, state in several.items():
        own = Tally(
            step_of(state.settings.minimum),
            before=tally.refused,
            dropped=tally.dropped,
            gauges=tally.gauges,
        )
        parts[name] = study_app(state, own, SolverProcess(own.answers, memory), guesses)
    app = parts[""].app if isinstance(served, State) else Studies(parts)
    return app, settings.connections


def run(
    served: State | Mapping[str, State],
    listening: socket.socket,
    *,
    proxies: str = "",
    on_start: Callable[[], None] | None = None,
) -> None:
    """Serve until interrupted."""
    sys.setswitchinterval(LONGEST_TURN)
    make_server(served, proxies=proxies, on_start=on_start).run(sockets=[listening])
