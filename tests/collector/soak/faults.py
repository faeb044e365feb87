"""What can go wrong, and how each of it is put right again."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.collector import postgres
from tests.collector.process import Collector
from tests.collector.soak.disk import Disk
from tests.collector.soak.proxy import Proxy

ALWAYS = ("kill", "stop", "network", "disk", "clock")
OF_A_DATABASE = ("database restart", "database crash", "database kill")
FARTHEST = 3 * 86_400  # seconds that a clock jumps
STARTS = 60


@dataclass
class Scene:
    """A collector and everything around it that can fail."""

    folder: Path
    disk: Disk
    options: Sequence[str]
    command: Sequence[str]
    server: postgres.Server | None
    choose: random.Random
    port: int = 0
    collector: Collector | None = None
    proxy: Proxy = field(init=False)

    @property
    def clock(self) -> Path:
        return self.folder / "clock"

    @property
    def kinds(self) -> tuple[str, ...]:
        return ALWAYS + (OF_A_DATABASE if self.server is not None else ())

    def start(self) -> None:
        """The collector, on the port it had; the disk and the database must be there.

        A database may still be recovering: as a service manager does, start again.
        """
        options = ["--port", str(self.port), *self.options]
        for left in reversed(range(STARTS)):
            try:
                self.collector = Collector(self.folder, *options, run=self.command)
                break
            except RuntimeError:
                if not left or self.server is None:
                    raise
                time.sleep(1.0)
        assert self.collector is not None
        self.port = self.collector.port

    def end(self, *, kill: bool) -> None:
        if self.collector is not None:
            (self.collector.kill if kill else self.collector.stop)()
            self.collector = None


async def strike(scene: Scene, kind: str) -> None:
    """One fault, for a moment, sometimes with a kill in the middle of it; then all is well."""
    hold = scene.choose.uniform(0.1, 2.0)
    if kind in ("kill", "stop"):
        await asyncio.to_thread(scene.end, kill=kind == "kill")
    elif kind == "network":
        scene.proxy.bad = True
        scene.proxy.cut()
        await asyncio.sleep(hold)
    elif kind == "disk":
        pid = 0 if scene.collector is None else scene.collector.process.pid
        await asyncio.to_thread(scene.disk.fill, pid)
        await asyncio.sleep(hold)
    elif kind == "clock":
        off = scene.choose.randrange(-FARTHEST, FARTHEST)
        scene.clock.write_text(str(off), encoding="ascii")
    else:
        await asyncio.to_thread(_database, scene, kind)
    if scene.collector is not None and scene.choose.random() < 0.3:
        await asyncio.to_thread(scene.end, kill=True)
    await mend(scene)


async def mend(scene: Scene) -> None:
    scene.proxy.bad = False
    await asyncio.to_thread(scene.disk.clear)
    if scene.collector is None:
        await asyncio.to_thread(scene.start)


def _database(scene: Scene, kind: str) -> None:
    server = scene.server
    if server is None:
        return
    if kind == "database crash":
        with contextlib.suppress(RuntimeError):
            postgres.crash(server.address)
        return
    # The second ends at once, without writing down what is in memory: it recovers from its WAL.
    server.stop(signal.SIGINT if kind == "database restart" else signal.SIGQUIT)
    server.start()
