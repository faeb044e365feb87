"""The restore drill of docs/running.md, and a restore in earnest: the commands as they stand there.

What is not this machine's is replaced: the folders, the user, systemd. `systemctl` is a script that
does what the units do, with the same commands.
"""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
import urllib.request
from contextlib import closing, suppress
from pathlib import Path

import pytest

from castell.collector.store import Submission, open_store
from castell.collector.store.packing import Packing
from tests.collecting import TELEMETRY, TELEMETRY_STUDY, TOKEN
from tests.deploy.proxies import DEPLOY
from tests.deploy.test_units import PROGRAM, starts
from tests.ports import free_port

RUNNING = DEPLOY.parent / "docs" / "running.md"
PACKING = Packing(TELEMETRY_STUDY.design.widths)
# Starts and stops as systemd would; what was started is known by the id in a file.
SYSTEMCTL = """#!/bin/sh
set -e
cd {folder}
case "$1 $2" in
"start castell-backup.service") {backup} ;;
"start castell") {serve} > {told} 2>&1 & echo $! > {pid} ;;
"stop castell") kill "$(cat {pid})"; while kill -0 "$(cat {pid})" 2>/dev/null; do sleep 0.1; done ;;
*) exit 64 ;;
esac
"""


def commands(heading: str) -> list[str]:
    """The blocks of commands under a heading of the document."""
    text = RUNNING.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    blocks, block = [], list[str]()
    for line in [*text.partition("\n## ")[0].splitlines(), ""]:
        if line.startswith("    "):
            block.append(line.strip())
        elif block:
            blocks.append("\n".join(block))
            block = []
    return blocks


class Machine:
    """A folder as /var/lib is, with a study, and a systemctl of its own."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / "castell"
        self.backups, self.pid = root / "castell-backups", root / "pid"
        (root / "bin").mkdir()
        for made in (self.folder, self.backups):
            made.mkdir(mode=0o700)
        (self.folder / "study.toml").write_text(TELEMETRY, encoding="utf-8")
        self.port = free_port()
        (serve,) = starts("castell.service")
        serve[serve.index("8000")] = str(self.port)
        names = {"folder": self.folder, "told": root / "told", "pid": self.pid}
        lines = {
            "serve": shlex.join(serve),
            "backup": " && ".join(map(shlex.join, starts("castell-backup.service"))),
        }
        script = root / "bin" / "systemctl"
        script.write_text(SYSTEMCTL.format(**names, **lines), encoding="utf-8")
        script.chmod(0o755)
        path = f"{root / 'bin'}:{os.environ['PATH']}"
        spool = str(self.folder / "spool")
        self.env = {**os.environ, "PATH": path, "CASTELL_TOKEN": TOKEN, "CASTELL_SPOOL": spool}

    def run(self, block: str) -> str:
        """A block of the document, with what is not this machine's replaced."""
        for old, new in (
            ("sudo -u castell ", ""),
            ("/opt/castell/bin/castell", PROGRAM),
            ("/var/lib/", f"{self.root}/"),
            ("ATTRIBUTE", "os"),
        ):
            block = block.replace(old, new)
        ran = subprocess.run(
            ["/bin/sh", "-e", "-c", block],
            env=self.env,
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout
        return ran.stdout

    def wait(self) -> None:
        """Until the collector answers."""
        for _ in range(600):
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz"):
                return
            subprocess.run(["/bin/sleep", "0.1"], check=True)
        raise AssertionError((self.root / "told").read_text())

    def add(self, number: int) -> None:
        with closing(open_store(self.folder / "study.sqlite")) as store:
            for _ in range(number):
                codes = [secrets.randbelow(width) for width in TELEMETRY_STUDY.design.widths]
                store.add([Submission(((secrets.token_bytes(16), PACKING.pack(codes)),))])

    def count(self) -> int:
        with closing(open_store(self.folder / "study.sqlite")) as store:
            return store.count()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_drill_and_a_restore_in_earnest(machine: Machine) -> None:
    drill, earnest = commands("Backup, and the restore drill")
    machine.run("systemctl start castell")
    try:
        machine.wait()
        machine.add(150)  # some are filed, some wait in the spool
        said = machine.run(drill)
        assert "150 reports" in said
        (backup,) = machine.backups.iterdir()  # the drill has left nothing else
        machine.add(20)
        assert machine.count() == 170
        machine.run(earnest.replace("BACKUP.sqlite", backup.name))
        machine.wait()
        assert machine.count() == 150  # what came after the backup is lost, as the document says
        assert {path.name for path in (machine.folder / "before").iterdir()} >= {
            "study.sqlite",
            "study.sqlite-spool",
        }
    finally:
        machine.run("systemctl stop castell")
