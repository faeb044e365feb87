"""How a collector is run, and what its parts are handed."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from urllib.parse import urlsplit

from castell.collector.page_files import Look
from castell.collector.store.store import Store
from castell.errors import OptionError
from castell.study.collection_table import ALWAYS, OpeningHours
from castell.study.study import Study

MOST_RELEASE_HOURS = 7 * 24


@dataclass(frozen=True)
class ConnectionLimits:
    """What one connection may do, and how many there may be.

    `head_bytes` are for the request line and the headers. Each part of a request must have come
    whole after its seconds; an answer may lie unread for `unread_seconds`. `each` is how many
    connections one address may have, a proxy apart.
    """

    most: int = 1000
    each: int = 256
    head_bytes: int = 32 * 1024
    head_seconds: float = 10.0
    # A little more than the intake's own patience, whose answer says more.
    body_seconds: float = 30.0
    unread_seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.most < 1 or self.each < 1:
            raise OptionError("a limit of connections is below 1", "take 1 or more")
        if self.head_bytes < 1024:
            raise OptionError("no request's headers would fit", "take 1024 bytes or more")
        if not all(
            0 < seconds < inf
            for seconds in (self.head_seconds, self.body_seconds, self.unread_seconds)
        ):
            raise OptionError("a deadline is no time", "take a number of seconds above 0")


@dataclass(frozen=True)
class Settings:
    """What the person who runs a collector can choose.

    `minimum` reports must be there before results are shown. `origins` are the web pages of other
    hosts that may send reports. `rate` is how many reports a second one address may send, and
    `burst` how many at once; a rate of 0 does not limit. `hours` are when reports are taken.
    Results move every `release_hours`; with 0 they move as reports come, a tenth of the minimum at
    a time, which protects nobody from analysts who send reports of their own.
    """

    token: str
    minimum: int = 100
    release_hours: int = 0
    origins: tuple[str, ...] = ()
    rate: float = 50.0
    burst: int = 1000
    bulk: int = 1000
    # Reports that wait for the disk; beyond, requests are told to come back.
    queue: int = 50_000
    connections: ConnectionLimits = ConnectionLimits()
    hours: OpeningHours = ALWAYS

    def __post_init__(self) -> None:
        if len(self.token) < 16:
            raise OptionError("the token is short", "take 16 characters or more, or leave it out")
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise OptionError("the token has odd characters", "take letters and digits")
        if self.minimum < 1:
            raise OptionError("the minimum is below 1", "take at least 1; 100 is the default")
        if not 0 <= self.release_hours <= MOST_RELEASE_HOURS:
            raise OptionError(
                f"results are released every {self.release_hours} hours",
                f"take 1 to {MOST_RELEASE_HOURS}, or 0 for as reports come",
            )
        if not 1 <= self.bulk <= 100_000:
            raise OptionError(f"bulk is {self.bulk}", "take a number from 1 to 100000")
        if not 0 <= self.rate < inf or self.burst < 1 or self.queue < self.bulk:
            raise OptionError(
                "a limit is too low or no number", "take a rate of 0 or more, a burst of 1 or more"
            )
        for origin in self.origins:
            if not _is_origin(origin):
                raise OptionError(
                    f"{origin!r} is not an origin",
                    "write it as browsers do, https://example.org: small ASCII letters, no path, a "
                    "port only if it is not the usual one",
                )


def _is_origin(text: str) -> bool:
    """Whether this is an origin to the letter: one that browsers write otherwise never matches."""
    usual = {"http": 80, "https": 443}
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    host = parts.hostname or ""
    name = f"[{host}]" if ":" in host else host
    written = f"{parts.scheme}://{name}" + ("" if port is None else f":{port}")
    plain = text.isascii() and text == written and port != usual.get(parts.scheme)
    return plain and bool(host) and parts.scheme in usual


@dataclass(frozen=True)
class Staging:
    """Where a study's store is, for whoever plans its next stage, and when stages are full.

    `ends` are numbers of reports; without any, stages follow each other by hand.
    """

    place: str
    spool: Path | None = None
    ends: tuple[int, ...] = ()


@dataclass(frozen=True)
class State:
    """A running collector: its store, the settings, how the survey page looks, and its stages."""

    store: Store
    settings: Settings
    look: Look = field(default_factory=Look)
    staging: Staging | None = None

    @property
    def study(self) -> Study:
        """The study as the store has it: its words may be corrected while the collector runs."""
        return self.store.study
