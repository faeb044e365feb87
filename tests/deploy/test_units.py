"""The systemd units: systemd reads them, and what they start works when started by hand."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from castell.collector.store import open_store
from tests.collecting import TELEMETRY, TELEMETRY_STUDY, TOKEN
from tests.deploy.proxies import DEPLOY
from tests.ports import free_port

UNITS = ("castell.service", "castell-backup.service", "castell-backup.timer")
PROGRAM = str(Path(sys.executable).with_name("castell"))


def starts(unit: str) -> list[list[str]]:
    """The commands of a unit, as systemd would split and unescape them."""
    lines = (DEPLOY / unit).read_text(encoding="utf-8").splitlines()
    found = [line.removeprefix("ExecStart=") for line in lines if line.startswith("ExecStart=")]
    plain = [line.replace("%%", "%").replace("$$", "$") for line in found]
    return [shlex.split(line.replace("/opt/castell/bin/castell", PROGRAM)) for line in plain]


def test_systemd_reads_them(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("NOT TESTED: systemd-analyze is not installed (apt-get install systemd)")
    for name in UNITS:
        text = (DEPLOY / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("/opt/castell/bin/castell", PROGRAM))
    paths = [str(tmp_path / name) for name in UNITS]
    ran = subprocess.run(
        [analyze, "verify", "--man=no", *paths], capture_output=True, text=True, check=False
    )
    complaints = [line for line in ran.stderr.splitlines() if "castell" in line]
    assert (ran.returncode, complaints) == (0, [])


def test_what_the_service_starts_takes_reports_and_is_backed_up(tmp_path: Path) -> None:
    folder, backups = tmp_path / "castell", tmp_path / "castell-backups"
    folder.mkdir()
    backups.mkdir()
    (folder / "study.toml").write_text(TELEMETRY, encoding="utf-8")
    (command,) = starts("castell.service")
    port = free_port()
    command[command.index("8000")] = str(port)
    env = {**os.environ, "CASTELL_TOKEN": TOKEN, "CASTELL_SPOOL": str(folder / "spool")}
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, text=True
    ) as service:
        try:
            assert service.stdout is not None
            assert service.stdout.readline().split() == ["survey", f"http://127.0.0.1:{port}/"]
            report = {"id": "A" * 22, "study": TELEMETRY_STUDY.digest, "codes": [0, 1]}
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/reports",
                json.dumps(report).encode(),
                {"content-type": "application/json"},
            )
            with urllib.request.urlopen(request) as answer:  # noqa: S310
                assert answer.status == 201
            for line in starts("castell-backup.service"):
                subprocess.run(line, cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
        finally:
            service.terminate()
    (backup,) = backups.iterdir()
    with closing(open_store(backup)) as store:
        assert store.count() == 1
