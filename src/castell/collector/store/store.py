"""What every store answers: keep reports durably and once, and give them back without an order.

Kept per report: a random key, the codes and the hour. There is no column for anything else.
The key is a hash of the id that the client sent, so that ids made in an order tell none.
"""

from __future__ import annotations

import enum
import hashlib
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from castell.collector.store.tokens import Token
from castell.errors import CastellError
from castell.study.study import Study

HOUR = 3600


class StoreError(CastellError):
    """The store cannot be opened, or cannot keep what it is given."""


class Refusal(enum.Enum):
    """Why a submission was not kept."""

    CONFLICT = "an id that stands for other codes"
    INVITATION = "an invitation that is missing, not known, or used"
    UNASKED = "an invitation where none is needed"
    PAUSED = "the collection is paused"
    CLOSED = "it came outside the opening hours"


class Submission(NamedTuple):
    """What one request brings, keys with packed codes: it is kept whole or not at all.

    One that came `in_hours`, or is there already, is good; any other brings nothing new.
    """

    reports: tuple[tuple[bytes, bytes], ...]
    invitation: str | None = None
    in_hours: bool = True


class Outcome(NamedTuple):
    """How many of a submission's reports are new and how many were there already."""

    stored: int
    repeated: int = 0
    refusal: Refusal | None = None
    at: int = 0


Row = tuple[bytes, bytes, int]


class Rules(NamedTuple):
    """What the owner of a study may change while a collector runs."""

    invited: bool  # a report needs an invitation
    paused: bool  # no new report is taken


class Snapshot(NamedTuple):
    """All that a store holds at one moment, to be copied: rows of key, codes and hour."""

    rows: Iterator[list[Row]]
    unspent: list[bytes]
    rules: Rules
    stages: tuple[Study, ...] = ()
    planned: dict[int, str] = {}  # noqa: RUF012 (nobody writes to it)


class Batch(NamedTuple):
    """Some reports of one stage: the hour each was filed in, and one array per column."""

    stage: Study
    hours: NDArray[np.int64]
    columns: list[NDArray[Any]]


class Store(Protocol):
    """Reports of one study. Every method may be called from any thread."""

    @property
    def study(self) -> Study:
        """The study as it is published now: the last of its stages."""
        ...

    @property
    def stages(self) -> tuple[Study, ...]:
        """The study by its stages, in their order; most studies have one."""
        ...

    @property
    def secure(self) -> bool:
        """False when the reports were made with a seed."""
        ...

    def needs_invitation(self) -> bool:
        """Whether a report needs an invitation, as of now: another process may have made some."""
        ...

    def rules(self) -> Rules:
        """What holds now; another process may have changed it."""
        ...

    def is_unused(self, invitation: str) -> bool:
        """Whether an invitation would let a report in, as of now."""
        ...

    def pause(self, paused: bool) -> None:
        """From now on take no new report, or take them again: in every collector of this store."""
        ...

    def tokens(self) -> list[Token]:
        """Those who may read results, by name."""
        ...

    def add_token(self, token: Token) -> None: ...

    def revoke_token(self, name: str) -> None: ...

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Keep some submissions, each whole or not at all. On return they are durable."""
        ...

    def invite(self, codes: Sequence[str]) -> None:
        """Let each of these codes, if any, bring one report; from now on every report needs one."""
        ...

    def count(self) -> int: ...

    def batches(self, step: int = 1 << 16) -> Iterator[list[NDArray[Any]]]:
        """All codes of one moment, one array per column, in an order without meaning.

        Of a study with several stages, which have columns of their own, `dated` says whose.
        """
        ...

    def dated_batches(self, step: int = 1 << 16) -> Iterator[Batch]:
        """The same with the hour each report was filed in, in seconds since 1970."""
        ...

    def timeline(self) -> list[tuple[str, int]]:
        """Reports by the hour they were filed in, as ISO 8601 in UTC."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Everything of one moment, for a copy."""
        ...

    def load(self, snapshot: Snapshot) -> int:
        """Fill an empty store with another's content, in one transaction."""
        ...

    def correct(self, study: Study) -> None:
        """From now on the store holds reports of this study: the same with corrected words."""
        ...

    def publish(self, study: Study, at: int | None = None) -> None:
        """Go on with the next stage: with all that it replaces, in one transaction.

        `at` is the number of reports at which it was due, if it was planned for that.
        """
        ...

    def keep_design(self, at: int) -> None:
        """Note that the plan that was due at so many reports keeps the present stage."""
        ...

    def plans(self) -> dict[int, str]:
        """What became of plans, by the number of reports they were due at."""
        ...

    def look_again(self) -> Study:
        """The study as it is now: another process may have corrected it, or gone on."""
        ...

    def rest(self) -> None:
        """Called after a start, and when nothing has come for a moment: put the files in order."""
        ...

    def close(self) -> None: ...


def report_key(study: Study, id: bytes) -> bytes:
    """What the store keeps of a report's id: a hash bound to the study, whatever its stage."""
    return hashlib.sha256(f"castell report {study.identity} ".encode() + id).digest()[:16]


def new_store_id() -> str:
    """What a store is known by, so that a spool can say which one it belongs to."""
    return secrets.token_hex(16)


def this_hour() -> int:
    """Seconds since 1970, rounded down to the hour."""
    return int(time.time()) // HOUR * HOUR


def hour_text(hour: int) -> str:
    """
    >>> hour_text(3600)
    '1970-01-01T01:00:00Z'
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(hour))


def same_study(stored: tuple[Study, ...], wanted: Study | None, place: str) -> tuple[Study, ...]:
    """The stages a store holds reports of; refused if none of them was meant."""
    if wanted is not None and wanted not in stored:
        raise StoreError(
            f"{place} holds reports of another study "
            f"({stored[-1].digest[:12]}, this is {wanted.digest[:12]})",
            "if words were corrected: castell correct, and its study file from then on; any other "
            "change makes another study: give it a store of its own with --store",
        )
    return stored


def not_empty(place: str) -> StoreError:
    return StoreError(f"{place} holds reports already", "restore into a new store")
