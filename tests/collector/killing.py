"""kill -9 under load: clients that send, are cut off, try again and replay, and keep account.

Each client knows which of its reports were acknowledged. When the killing is over the store must
hold every one of them, with its codes, and nothing more often than once. With invitations each
report comes with one, and as many must be used as reports are held: not one for nothing.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from castell.collector.store import open_store
from castell.collector.store.invitations import new_invitation
from castell.collector.store.store import report_key
from castell.collector.wire import id_bytes, new_id
from castell.study.study import Study
from tests.collector.persistent_clients import Link, go_on
from tests.collector.process import Collector

AGENT = "KillingAgent/7.7"


@dataclass
class Account:
    """What the clients of a run sent and were promised: codes by id."""

    sent: dict[str, list[int]] = field(default_factory=dict)
    invitations: dict[str, str] = field(default_factory=dict)
    promised: dict[str, list[int]] = field(default_factory=dict)
    answers: Counter[int] = field(default_factory=Counter)
    cut_off: int = 0


@dataclass
class Load:
    """Clients that go on until they are told to stop, whatever happens to the server."""

    study: Study
    port: int
    account: Account
    seed: int
    codes: list[str] | None = None  # invitations to give out, if each report needs one
    stopped: bool = False

    async def client(self, number: int) -> None:
        choose = random.Random(self.seed * 1000 + number)  # noqa: S311
        widths, mine = self.study.design.widths, list[str]()
        waiting: list[str] = []  # sent, but the answer never came

        async def talk(link: Link) -> None:
            if waiting and choose.random() < 0.7:
                batch = [waiting.pop()]
            elif mine and choose.random() < 0.3:
                batch = [choose.choice(mine)]
            else:
                most = 5 if self.codes is None else 1
                batch = [new_id() for _ in range(choose.choice([1, 1, 1, most]))]
            for id in batch:
                codes = [choose.randrange(width) for width in widths]
                self.account.sent.setdefault(id, codes)
                if id not in mine:
                    mine.append(id)
                    if self.codes is not None:
                        self.account.invitations[id] = self.codes.pop()
            waiting.extend(batch)
            status = await link.post(*self._request(batch), agent=AGENT)
            self.account.answers[status] += 1
            assert status in (200, 201), status
            for id in batch:
                self.account.promised[id] = self.account.sent[id]
                waiting.remove(id)

        await go_on(self.port, talk, stopped=lambda: self.stopped, cut_off=self._cut_off, rest=0.02)

    def _cut_off(self) -> None:
        self.account.cut_off += 1

    def _request(self, batch: list[str]) -> tuple[str, dict[str, Any]]:
        reports = [{"id": id, "codes": self.account.sent[id]} for id in batch]
        if len(batch) > 1:
            return "/reports/bulk", {"study": self.study.digest, "reports": reports}
        document = {**reports[0], "study": self.study.digest}
        if self.codes is not None:
            document["invitation"] = self.account.invitations[batch[0]]
        return "/reports", document


async def _load_and_kill(
    folder: Path,
    options: Sequence[str],
    how: dict[str, Any],
    kills: int,
    clients: int,
    seed: int,
    codes: list[str] | None,
) -> Account:
    study = Study.load(folder / "study.json")
    choose = random.Random(seed)  # noqa: S311
    server = Collector(folder, "--port", "0", "--rate", "0", *options, **how)
    load = Load(study, server.port, Account(), seed, codes)
    running = [asyncio.create_task(load.client(i)) for i in range(clients)]
    try:
        for _ in range(kills):
            # By what was answered, not by the clock: every life of the server does some work.
            wanted = load.account.answers.total() + choose.randrange(50, 400)
            while load.account.answers.total() < wanted:
                await asyncio.sleep(0.005)
                for task in running:
                    if task.done():
                        task.result()
            server.kill()
            server = await asyncio.to_thread(
                Collector, folder, "--port", str(load.port), "--rate", "0", *options, **how
            )
        wanted = load.account.answers.total() + 100
        while load.account.answers.total() < wanted:
            await asyncio.sleep(0.005)
    finally:
        load.stopped = True
        server.kill()
    await asyncio.gather(*running)
    return load.account


@dataclass(frozen=True)
class Verdict:
    """What a run left in the store, against what was promised."""

    promised: int
    held: int
    lost: int
    changed: int
    unasked: int
    cut_off: int
    repeats: int
    used: int = 0


def run(
    folder: Path,
    study: Study,
    *options: str,
    kills: int,
    clients: int = 32,
    seed: int = 1,
    store: str | None = None,
    invitations: int = 0,
    **how: Any,
) -> Verdict:
    """Kill a collector again and again under load, then look at what its store holds."""
    (folder / "study.json").write_text(study.to_json(), encoding="utf-8")
    place = store or str(folder / "study.sqlite")
    codes = [new_invitation() for _ in range(invitations)]
    if codes:
        with closing(open_store(place, study)) as opened:
            opened.invite(codes)
    left = list(codes) if codes else None
    account = asyncio.run(
        _load_and_kill(folder, ["--store", place, *options], how, kills, clients, seed, left)
    )
    with closing(open_store(place)) as opened, opened.snapshot() as snapshot:
        rows = {bytes(id): bytes(codes) for part in snapshot.rows for id, codes, _ in part}
        used = len(codes) - len(snapshot.unspent)
        count = opened.count()
        assert count == len(rows)
        pack = opened._packing.pack  # type: ignore[attr-defined]

    def kept(reports: dict[str, list[int]]) -> dict[bytes, bytes]:
        return {report_key(study, id_bytes(id)): pack(codes) for id, codes in reports.items()}

    sent, promised = kept(account.sent), kept(account.promised)
    return Verdict(
        promised=len(promised),
        held=count,
        lost=sum(1 for id in promised if id not in rows),
        changed=sum(1 for id, codes in rows.items() if id in sent and sent[id] != codes),
        unasked=sum(1 for id in rows if id not in sent),
        cut_off=account.cut_off,
        repeats=account.answers[200],
        used=used,
    )
