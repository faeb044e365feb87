"""One soak: the scene, the people, faults until it is time, and the account."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg

from castell.collector.store import open_store
from castell.study.study import Study
from tests.collector import postgres
from tests.collector.soak.disk import Disk, small_disk
from tests.collector.soak.faults import Scene, mend, strike
from tests.collector.soak.people import People
from tests.collector.soak.proxy import Proxy
from tests.collector.soak.verdict import Theft, Verdict, steal, verdict

CLIENTS = 16
PAUSE = 0.1  # seconds that a client waits on average: some hundred reports a second in all
MEGABYTES = 256
LAST = 100  # reports after the last fault: all is well again
# What a collector answers under faults and may: kept, was there, try again later.
EXPECTED = {200, 201, 503}


@dataclass(frozen=True)
class Soak:
    """How a soak went."""

    store: str
    seconds: float
    disk: str
    faults: dict[str, int]
    answers: dict[int, int]
    cut_off: int
    verdict: Verdict

    @property
    def good(self) -> bool:
        return self.verdict.good and set(self.answers) <= EXPECTED

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"linkable": self.verdict.linkable, "good": self.good}

    def __str__(self) -> str:
        found = self.verdict
        faults = ", ".join(f"{kind} {number}" for kind, number in sorted(self.faults.items()))
        thefts = "\n".join(
            f"  {theft.when}: {theft.right} of {theft.people} linked"
            + ("" if theft.order is None else f", order {theft.order} of chance")
            for theft in found.thefts
        )
        return (
            f"{self.store}, {self.seconds / 60:.1f} minutes, disk by {self.disk}\n"
            f"  faults: {faults}\n"
            f"  {found.promised:,} acknowledged, {found.held:,} held, {found.used:,} invitations "
            f"used; {self.cut_off:,} requests cut off, {self.answers.get(503, 0):,} put off\n"
            f"  lost {found.lost}, double {found.double}, linkable {found.linkable}\n{thefts}"
        )


def soak(
    study: Study,
    kind: str,
    *,
    seconds: float = 0.0,
    faults: Sequence[str] = (),
    seed: int = 1,
    broken: str = "",
) -> Soak:
    """Random faults for some seconds, or these faults one after the other.

    `broken` runs a collector that is broken on purpose (see `tests.collector.broken`).
    """
    with small_disk(MEGABYTES) as disk, _place(kind, disk) as (place, server):
        folder = disk.folder
        (folder / "study.json").write_text(study.to_json(), encoding="utf-8")
        (folder / "clock").write_text("0", encoding="ascii")
        options = ["--rate", "0", "--store", place, "--invited", "--minimum", "10"]
        command = [sys.executable, "-m", "tests.collector.soak.clock", str(folder / "clock")]
        if broken:
            command = [sys.executable, "-m", "tests.collector.broken", broken]
        choose = random.Random(seed)  # noqa: S311
        scene = Scene(folder, disk, options, command, server, choose)
        return asyncio.run(_run(scene, study, kind, place, seconds, faults, seed))


@contextmanager
def _place(kind: str, disk: Disk) -> Iterator[tuple[str, postgres.Server | None]]:
    if kind == "sqlite":
        yield str(disk.folder / "study.sqlite"), None
        return
    before = os.environ.get("CASTELL_SPOOL")
    os.environ["CASTELL_SPOOL"] = str(disk.folder / "spool")
    try:
        # A short WAL, so that all of it can be searched.
        with postgres.serving("max_wal_size=64MB", "min_wal_size=32MB") as server:
            yield server.address, server
    finally:
        del os.environ["CASTELL_SPOOL"]
        if before is not None:
            os.environ["CASTELL_SPOOL"] = before


async def _run(
    scene: Scene,
    study: Study,
    kind: str,
    place: str,
    seconds: float,
    faults: Sequence[str],
    seed: int,
) -> Soak:
    begun = time.monotonic()
    await asyncio.to_thread(scene.start)
    scene.proxy = Proxy(scene.port, seed)
    await scene.proxy.start()

    def invite(codes: list[str]) -> None:
        with closing(open_store(place, study)) as opened:
            opened.invite(codes)

    people = People(study, scene.proxy.port, seed, invite, PAUSE)
    running = [asyncio.create_task(people.client(number)) for number in range(CLIENTS)]
    host = asyncio.create_task(people.host())
    running.append(host)
    struck: Counter[str] = Counter()
    try:
        for fault in _faults(scene, faults, begun + seconds):
            # By what was answered, not by the clock: every life of the collector does some work.
            await _answered(scene.choose.randrange(20, 200), people, running)
            struck[fault] += 1
            await strike(scene, fault)
        await _answered(LAST, people, running)
    finally:
        # Nobody but the collector has its files open when it is killed for the last time.
        people.inviting = False
        await host
        people.stopped = True
        await asyncio.to_thread(scene.end, kill=True)
        await scene.proxy.close()
        await asyncio.gather(*running)
    # Order is promised away where files are put in order: after a start and a good end.
    thefts = [await asyncio.to_thread(_theft, "after kill -9", scene, people, place, order=False)]
    await mend(scene)
    await asyncio.to_thread(scene.end, kill=False)
    order = kind == "sqlite"
    thefts.append(
        await asyncio.to_thread(_theft, "after a good end", scene, people, place, order=order)
    )
    found = await asyncio.to_thread(verdict, place, study, people.account, tuple(thefts))
    return Soak(
        kind,
        round(time.monotonic() - begun, 1),
        scene.disk.kind,
        dict(struck),
        dict(people.account.answers),
        people.account.cut_off,
        found,
    )


async def _answered(number: int, people: People, running: Sequence[asyncio.Task[None]]) -> None:
    """Wait until so many more reports are acknowledged; whatever ends a client ends this too."""
    wanted = len(people.account.promised) + number
    while len(people.account.promised) < wanted:
        await asyncio.sleep(0.02)
        for task in running:
            if task.done():
                task.result()


def _faults(scene: Scene, given: Sequence[str], until: float) -> Iterator[str]:
    """These, then all kinds in an order by chance, again and again."""
    left = list(given)
    while left or time.monotonic() < until:
        left = left or scene.choose.sample(scene.kinds, len(scene.kinds))
        yield left.pop(0)


def _theft(when: str, scene: Scene, people: People, place: str, *, order: bool) -> Theft:
    places = [scene.folder]
    if scene.server is not None:
        with psycopg.connect(place, autocommit=True) as link:
            link.execute("CHECKPOINT")  # what is in the server's memory is in its files now
            ((data, number),) = link.execute(
                "SELECT current_setting('data_directory'), oid FROM pg_database"
                " WHERE datname = current_database()"
            ).fetchall()
        places += [Path(data) / "pg_wal", Path(data) / "base" / str(number)]
    columns = None if scene.server is None else place
    return steal(when, people.account, places, people.study, columns, order=order)
