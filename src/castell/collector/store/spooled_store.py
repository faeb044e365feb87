"""What both stores do in the same way: accept reports into the spool, file them, read both.

The database is the lock: whoever changes the spool holds a writing transaction of the database,
so several collectors on one machine share one spool. Keys make every step safe to repeat. A report
is in the spool, in the database, or, between a filing and the emptying of the spool, in both; it is
counted once because reading leaves out of the spool what the database has.
"""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from castell.collector.store.acceptance import settle
from castell.collector.store.filing import POOL, choose_for_filing, goes_straight, is_due
from castell.collector.store.invitations import invitation_key
from castell.collector.store.spool import Spool, Waiting
from castell.collector.store.stage_rows import StageRows
from castell.collector.store.staged import StagedStore
from castell.collector.store.store import (
    Batch,
    Outcome,
    Row,
    Snapshot,
    StoreError,
    Submission,
    hour_text,
    not_empty,
    this_hour,
)

Link = TypeVar("Link")

_TRIES = 5


class SpooledStore(StagedStore[Link], Generic[Link]):
    """A store over a database; what is abstract here is what a kind of database must do."""

    secure: bool
    spool: Spool
    # How many reports wait, as of the last that came, and whether some of them are filed.
    _spooled = 0
    _stale = False

    # -- writing -------------------------------------------------------------------------------

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        if not submissions:
            return []
        if is_due(self._spooled):
            self._file()
        outcomes = self._accept(submissions)
        if self._stale:
            # These are durable whatever happens now: what fails here is tried again later.
            with contextlib.suppress(StoreError):
                self._forget()
        self._keep_order()
        return outcomes

    def _accept(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Keep submissions, in the spool or, if there are many, in the database."""
        sent = {key: codes for one in submissions for key, codes in one.reports}
        rows = sum(len(one.reports) for one in submissions)
        plain = all(one.in_hours and not one.invitation for one in submissions)
        if len(sent) == rows >= POOL and plain:
            # Most batches of a busy collector hold nothing that was there before.
            with self._writing() as link:
                spooled = self.spool.read()
                self._spooled = len(spooled.reports)
                fresh = not sent.keys() & spooled.reports.keys() and not any(self._rules(link))
                if fresh and goes_straight(spooled, sent):
                    if self._insert(link, sent, (), this_hour()):
                        return [Outcome(len(one.reports)) for one in submissions]
                    self._undo(link)
        for _ in range(_TRIES):
            with self._writing() as link:
                outcomes = self._settle(link, submissions, sent)
                if outcomes is not None:
                    return outcomes
                # A collector with another spool wrote one of them in between: look again.
                self._undo(link)
        raise _contention_error()

    def _settle(
        self, link: Link, submissions: Sequence[Submission], sent: Collection[bytes]
    ) -> list[Outcome] | None:
        spooled = self.spool.read()
        # One question for both: beside a busy machine each costs as much as a wait for the disk.
        filed = self._find(link, {*sent, *spooled.reports})
        waiting = self._not_filed(link, spooled, filed)
        self._spooled = len(waiting.reports)
        known = {**filed, **waiting.reports}
        used: set[bytes] = set()
        rules = self._rules(link)
        spend = self._spender(link, submissions, waiting, used) if rules.invited else None
        outcomes, new = settle(submissions, known, spend, paused=rules.paused)
        hour = this_hour()
        if not new:
            return outcomes
        if goes_straight(waiting, new):
            return outcomes if self._insert(link, new, used, hour) else None
        self._spool(Waiting({**waiting.reports, **new}, waiting.spent | used, hour))
        return outcomes

    def _spender(
        self, link: Link, submissions: Sequence[Submission], waiting: Waiting, used: set[bytes]
    ) -> Callable[[str | None], bool]:
        """A function that uses an invitation if it is good, and notes its key in `used`."""
        self._claim_invitations()
        codes = {one.invitation for one in submissions if one.invitation is not None}
        keys = {code: invitation_key(self.study, code) for code in codes}
        unused = set(self._unused_invitations(link, keys.values()) - waiting.spent)

        def spend(code: str | None) -> bool:
            if code is None or keys[code] not in unused:
                return False
            unused.remove(keys[code])
            used.add(keys[code])
            return True

        return spend

    def _file(self) -> None:
        """Bring what is drawn from the spool to the database.

        It is taken out of the spool with the next that is written to it.
        """
        for _ in range(_TRIES):
            with self._writing() as link:
                waiting = self._not_filed(link, self.spool.read())
                self._spooled, self._stale = len(waiting.reports), True
                if not is_due(self._spooled):
                    return  # another collector was first
                chosen = choose_for_filing(waiting)
                if self._insert(link, chosen.reports, chosen.spent, this_hour()):
                    return
                self._undo(link)
        raise _contention_error()

    def _forget(self) -> None:
        """Take out of the spool what is filed."""
        with self._writing() as link:
            self._spool(self._not_filed(link, self.spool.read()))

    def _spool(self, waiting: Waiting) -> None:
        self._note_spool()
        self.spool.write(waiting)
        self._spooled, self._stale = len(waiting.reports), False

    def _not_filed(
        self, link: Link, spooled: Waiting, filed: Collection[bytes] | None = None
    ) -> Waiting:
        """What the spool holds and the database, which is known to hold `filed`, does not."""
        if filed is None:
            filed = self._find(link, spooled.reports) if spooled.reports else {}
        spent = self._unused_invitations(link, spooled.spent) if spooled.spent else frozenset()
        reports = {key: codes for key, codes in spooled.reports.items() if key not in filed}
        return Waiting(reports, spooled.spent & spent, spooled.hour)

    def load(self, snapshot: Snapshot) -> int:
        with self._writing() as link:
            if self._count(link) or self.spool.read().reports:
                raise not_empty(self.place)
            return self._fill(link, snapshot)

    def rest(self) -> None:
        """Put things in order, after a start or when nothing has come for a moment."""
        with contextlib.suppress(StoreError):
            with self._writing() as link:
                spooled = self.spool.read()
                waiting = self._not_filed(link, spooled)
                if waiting != spooled:
                    self._spool(waiting)
                self._spooled = len(waiting.reports)
                self.spool.tidy()
            if is_due(self._spooled):
                self._file()
                self._forget()

    def _note_spool(self) -> None:
        """Before the spool is written: have the database know that there is one."""

    def _claim_invitations(self) -> None:
        """Refuse to use invitations where another spool may hold some that are used."""

    def _keep_order(self) -> None:
        """After reports were added: put the database's files in order if it is time to."""

    # -- reading -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _moment(self) -> Iterator[tuple[Link, Waiting]]:
        """The database and what is only in the spool.

        The spool is read first: what is filed after that is in the database by then.
        """
        spooled = self.spool.read()
        with self._reading() as link:
            yield link, self._not_filed(link, spooled)

    def is_unused(self, invitation: str) -> bool:
        key = invitation_key(self.study, invitation)
        with self._moment() as (link, waiting):
            return key not in waiting.spent and key in self._unused_invitations(link, [key])

    def count(self) -> int:
        with self._moment() as (link, waiting):
            return self._count(link) + len(waiting.reports)

    def batches(self, step: int = 1 << 16) -> Iterator[list[NDArray[Any]]]:
        for batch in self.dated_batches(step):
            yield batch.columns

    def dated_batches(self, step: int = 1 << 16) -> Iterator[Batch]:
        with self._moment() as (link, waiting):
            stages = self._stages_at(link)
            packing = StageRows(stages)
            for rows in _merge_waiting(self._rows(link, step), waiting):
                hours = np.array([row[2] for row in rows], dtype=np.int64)
                codes = [row[1] for row in rows]
                for stage, places in packing.places(codes):
                    chosen = [codes[place] for place in places]
                    yield Batch(stages[stage], hours[places], packing.columns(chosen, stage))

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with self._moment() as (link, waiting):
            keys = [key for key in self._all_unused(link) if key not in waiting.spent]
            rows = _merge_waiting(self._rows(link, 1 << 14), waiting)
            rules, stages, planned = (
                self._rules(link),
                self._stages_at(link),
                self._planned_stages(link),
            )
            yield Snapshot(rows, keys, rules, stages, planned)

    def timeline(self) -> list[tuple[str, int]]:
        with self._moment() as (link, waiting):
            found = self._hours(link)
        if waiting.reports:
            found[waiting.hour] = found.get(waiting.hour, 0) + len(waiting.reports)
        return [(hour_text(hour), found[hour]) for hour in sorted(found)]

    # -- what a database does ------------------------------------------------------------------

    @abc.abstractmethod
    def _writing(self) -> AbstractContextManager[Link]:
        """A transaction, durable when the block is left; one at a time for one spool."""

    @abc.abstractmethod
    def _undo(self, link: Link) -> None:
        """Give up what a writing transaction did so far."""

    @abc.abstractmethod
    def _find(self, link: Link, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """The codes of those of the keys that are there."""

    @abc.abstractmethod
    def _unused_invitations(self, link: Link, keys: Collection[bytes]) -> frozenset[bytes]:
        """Those of the keys that are of unused invitations."""

    @abc.abstractmethod
    def _insert(
        self, link: Link, reports: Mapping[bytes, bytes], spent: Collection[bytes], hour: int
    ) -> bool:
        """Write reports and delete invitations, each sorted; false if a report was there."""

    @abc.abstractmethod
    def _fill(self, link: Link, snapshot: Snapshot) -> int: ...

    @abc.abstractmethod
    def _count(self, link: Link) -> int: ...

    @abc.abstractmethod
    def _rows(self, link: Link, step: int) -> Iterator[list[Row]]:
        """All reports in the order of their keys."""

    @abc.abstractmethod
    def _hours(self, link: Link) -> dict[int, int]: ...

    @abc.abstractmethod
    def _all_unused(self, link: Link) -> list[bytes]: ...


def _merge_waiting(parts: Iterator[list[Row]], waiting: Waiting) -> Iterator[list[Row]]:
    """Reports of both places in the order of their keys: where one was, it does not tell."""
    left = sorted((key, codes, waiting.hour) for key, codes in waiting.reports.items())
    for part in parts:
        last = part[-1][0]
        here = [row for row in left if row[0] < last]
        left = left[len(here) :]
        yield sorted(part + here)
    if left:
        yield left


def _contention_error() -> StoreError:
    return StoreError("the same reports come from many sides", "send them again later")
