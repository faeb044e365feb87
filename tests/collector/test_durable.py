"""Every 201 comes after the fsync of the commit that holds its report.

Two looks at it. From inside: the answer is given after COMMIT has returned, on a connection with
synchronous=FULL. From outside, where strace can be used: in the system calls of the running
collector, between a request coming in and its 201 going out there is an fsync of the WAL. That
shows that castell and SQLite ask the kernel; that the disk keeps its word is the disk's part.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from castell.collector.store.sqlite import SqliteStore
from tests.collector.process import Collector
from tests.collector.respondents import STUDY, collector, report

REPORTS = 25


def test_the_answer_waits_for_the_commit(tmp_path: Path) -> None:
    events: list[str] = []

    class Told(SqliteStore):
        def add(self, submissions):  # type: ignore[no-untyped-def]
            assert self._writer.execute("PRAGMA synchronous").fetchone() == (2,)
            outcomes = super().add(submissions)
            events.append("answer")
            return outcomes

    store = Told(tmp_path / "store.sqlite", STUDY)
    store._writer.set_trace_callback(events.append)
    with collector(store) as client:
        for _ in range(3):
            events.clear()
            assert client.post("/reports", json=report()).status_code == 201
            assert events[-2:] == ["COMMIT", "answer"]


def _traces() -> bool:
    """Whether strace is here and allowed to look."""
    if shutil.which("strace") is None:
        return False
    ran = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False)
    return ran.returncode == 0


needs_strace = pytest.mark.skipif(
    not _traces(), reason="NOT TESTED: strace is missing or not allowed (apt-get install strace)"
)


def _post(port: int) -> bytes:
    import json

    body = json.dumps(report()).encode()
    head = b"POST /reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.sendall(head + body)
        answer = b""
        while piece := link.recv(4096):
            answer += piece
    return answer


def _traced(folder: Path, *run: str) -> tuple[int, int]:
    """How many reports were answered with 201, and before how many of those was an fsync."""
    (folder / "study.json").write_text(STUDY.to_json(), encoding="utf-8")
    trace = folder / "trace"
    calls = "trace=fsync,fdatasync,read,recvfrom,recvmsg,write,writev,sendto,sendmsg"
    strace = ["strace", "-f", "-y", "-e", calls, "-s", "64", "-o", str(trace)]
    server = Collector(folder, "--port", "0", "--rate", "0", run=[*strace, *run])
    try:
        for _ in range(REPORTS):
            assert b" 201 " in _post(server.port).split(b"\r\n")[0]
    finally:
        # strace passes nothing on: the collector is the child it names in every line.
        pid = int(trace.read_text(encoding="utf-8", errors="replace").split(None, 1)[0])
        os.kill(pid, signal.SIGTERM)
        server.end()
    answered = covered = 0
    synced = False
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        if "POST /reports HTTP" in line:
            synced = False
        # A call that was interrupted in the trace is done where it says "resumed".
        elif re.search(r"(fsync|fdatasync)(\(\d+<[^>]*sqlite-wal>\)| resumed>\)).* = 0$", line):
            synced = True
        elif "HTTP/1.1 201" in line:
            answered += 1
            covered += synced
            synced = False
    return answered, covered


@needs_strace
def test_every_201_comes_after_an_fsync(tmp_path: Path) -> None:
    answered, covered = _traced(tmp_path, sys.executable, "-m", "castell")
    assert answered == REPORTS
    assert covered == REPORTS


@needs_strace
def test_a_store_without_fsync_is_caught(tmp_path: Path) -> None:
    broken = (sys.executable, "-m", "tests.collector.broken", "unsynced")
    answered, covered = _traced(tmp_path, *broken)
    assert answered == REPORTS
    assert covered == 0
