"""People with invitations who send, are cut off, try again and replay, and keep account."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from castell.collector.store.invitations import new_invitation
from castell.collector.store.store import StoreError
from castell.collector.wire import new_id
from castell.study.study import Study
from tests.collector.persistent_clients import Link, go_on

PATIENCE = 20.0  # seconds for an answer
# Few at a time: among few codes it shows best which one was used when.
MADE_AT_ONCE, FEWEST = 80, 40
MOST_WAITING = 5  # of one client: while the collector is away nobody goes on and on


@dataclass
class Account:
    """What was sent and promised, by id; `promised` in the order of the answers."""

    sent: dict[str, list[int]] = field(default_factory=dict)
    invitations: dict[str, str] = field(default_factory=dict)
    promised: list[str] = field(default_factory=list)
    answers: Counter[int] = field(default_factory=Counter)
    cut_off: int = 0
    # Reports that were promised, sent again, and kept as if they were new: they had been lost.
    kept_again: int = 0


class People:
    """Clients that go on until they are told to stop, whatever happens to the collector."""

    def __init__(
        self, study: Study, port: int, seed: int, invite: Callable[[list[str]], None], pause: float
    ) -> None:
        self.study, self.port, self.pause = study, port, pause
        self.account, self.stopped, self.inviting = Account(), False, True
        self._seed, self._invite = seed, invite
        self._codes: list[str] = []

    async def host(self) -> None:
        """Makes invitations as they are needed, beside the collector, as its owner does."""
        while self.inviting:
            if len(self._codes) < FEWEST:
                made = [new_invitation() for _ in range(MADE_AT_ONCE)]
                try:
                    await asyncio.to_thread(self._invite, made)
                    self._codes += made
                except StoreError:
                    pass  # the disk is full, or the database away
            await asyncio.sleep(0.1)

    async def client(self, number: int) -> None:
        choose = random.Random(self._seed * 1000 + number)  # noqa: S311
        waiting: list[str] = []  # sent, and not acknowledged
        settled: list[str] = []

        async def talk(link: Link) -> None:
            await asyncio.sleep(choose.uniform(0, 2 * self.pause))
            if waiting and choose.random() < 0.7:
                id = choose.choice(waiting)
            elif settled and choose.random() < 0.1:
                id = choose.choice(settled[-50:])
            elif self._codes and len(waiting) < MOST_WAITING:
                id = self._new(choose)
                waiting.append(id)
            else:
                return
            status = await asyncio.wait_for(link.post("/reports", self._document(id)), PATIENCE)
            self._note(id, status, waiting, settled)

        await go_on(self.port, talk, stopped=lambda: self.stopped, cut_off=self._cut_off, rest=0.05)

    def _cut_off(self) -> None:
        self.account.cut_off += 1

    def _new(self, choose: random.Random) -> str:
        id = new_id()
        self.account.sent[id] = [choose.randrange(width) for width in self.study.design.widths]
        self.account.invitations[id] = self._codes.pop()
        return id

    def _note(self, id: str, status: int, waiting: list[str], settled: list[str]) -> None:
        self.account.answers[status] += 1
        if status not in (200, 201):
            return
        if id in waiting:
            waiting.remove(id)
            settled.append(id)
            self.account.promised.append(id)
        elif status == 201:
            self.account.kept_again += 1

    def _document(self, id: str) -> dict[str, Any]:
        sent = {"id": id, "study": self.study.digest, "codes": self.account.sent[id]}
        return {**sent, "invitation": self.account.invitations[id]}
