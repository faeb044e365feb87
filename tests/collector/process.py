"""A collector in a process of its own, as an operator runs it: to be stopped or killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class Collector:
    """`castell serve`, started and known by its port; `told` is what it said of itself."""

    def __init__(
        self, folder: Path, *options: str, run: Sequence[str] = (), log: str = "log"
    ) -> None:
        self.folder, self.log = folder, folder / log
        command = [*(run or (sys.executable, "-m", "castell")), "serve"]
        study = folder / "study.json"
        with self.log.open("ab") as errors:
            self.process = subprocess.Popen(
                [*command, str(study), "--json", *options],
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=ROOT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.end()
            raise RuntimeError(f"the collector did not start:\n{self.log.read_text()}")
        self.told: dict[str, Any] = json.loads(line)
        self.port = int(self.told["address"].rpartition(":")[2])

    def kill(self) -> None:
        """As a power cut does it, as far as a process can tell."""
        self.process.send_signal(signal.SIGKILL)
        self.end()

    def stop(self) -> None:
        self.process.terminate()
        self.end()

    def end(self) -> None:
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def collecting(folder: Path, *options: str, **how: Any) -> Iterator[Collector]:
    made = Collector(folder, *options, **how)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.stop()
