"""Every 201 comes after the fsync of what holds its report.

Two looks at it. From inside: the answer is given after the spool's file and its folder were
synced, or after COMMIT has returned on a connection with synchronous=FULL. From outside, where
strace can be used: in the system calls of the running collector, between a request coming in and
its 201 going out, the spool's new file is synced, gets its name, and the folder is synced; or the
WAL is synced. That shows that castell and SQLite ask the kernel; that the disk keeps its word is
the disk's part.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from castell.collector.store import spool
from castell.collector.store.sqlite import SqliteStore
from tests.collector.process import Collector
from tests.collector.respondents import STUDY, bulk, collector, report

REPORTS, BULKS = 25, 4
# A call that was interrupted in the trace has its name in its first half; the calls of the one
# thread that writes follow each other, so what comes later began later.
STEPS = {
    "part": r"(fsync|fdatasync)\(\d+<[^>]*-spool\.part>",
    "named": r"rename\w*\(.*-spool\.part\".*-spool\"",
    "folder": r"(fsync|fdatasync)\(\d+<[^>]*/[^./>]*>",
    "turned": r"(fsync|fdatasync)\(\d+<[^>]*-spool>",
    "wal": r"(fsync|fdatasync)\(\d+<[^>]*sqlite-wal>",
}


def test_the_answer_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    class Told(SqliteStore):
        def _accept(self, submissions):  # type: ignore[no-untyped-def]
            assert self._writer.execute("PRAGMA synchronous").fetchone() == (2,)
            outcomes = super()._accept(submissions)
            events.append("accepted")
            return outcomes

    fsync, replace = os.fsync, Path.replace

    def told_fsync(handle: int) -> None:
        fsync(handle)
        events.append(f"sync {Path(f'/proc/self/fd/{handle}').readlink().name}")

    def told_replace(path: Path, target: Path) -> Path:
        events.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", told_fsync)
    monkeypatch.setattr(spool, "_sync_data", told_fsync)
    monkeypatch.setattr(Path, "replace", told_replace)
    store = Told(tmp_path / "store.sqlite", STUDY)
    store._writer.set_trace_callback(events.append)

    def post(path: str, document: Any) -> list[str]:
        events.clear()
        assert client.post(path, json=document).status_code == 201
        return events[: events.index("accepted")]

    with collector(store) as client:
        # Few of them: in the spool, whose name is durable as well.
        made = ["sync store.sqlite-spool.part", "rename", f"sync {tmp_path.name}", "COMMIT"]
        assert post("/reports", report())[-4:] == made
        for _ in range(3):
            assert post("/reports", report())[-2:] == ["sync store.sqlite-spool", "COMMIT"]
        # Many: the pool is filled first, then they go straight to the database.
        post("/reports/bulk", bulk(200))
        assert post("/reports/bulk", bulk(100))[-1] == "COMMIT"
        straight = post("/reports/bulk", bulk(100))
        assert straight[-1] == "COMMIT"
        assert not [event for event in straight if event.startswith(("sync", "rename"))]
        assert sum(event.startswith("INSERT INTO reports") for event in straight) == 100


def _traces() -> bool:
    """Whether strace is here and allowed to look."""
    if shutil.which("strace") is None:
        return False
    ran = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False)
    return ran.returncode == 0


needs_strace = pytest.mark.skipif(
    not _traces(), reason="NOT TESTED: strace is missing or not allowed (apt-get install strace)"
)


def _post(port: int, path: str, document: Any) -> bytes:
    body = json.dumps(document).encode()
    head = b"POST " + path.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.sendall(head + body)
        answer = b""
        while piece := link.recv(4096):
            answer += piece
    return answer


def _traced(folder: Path, *run: str) -> tuple[int, int]:
    """How many requests were answered with 201, and before how many of those it was durable."""
    (folder / "study.json").write_text(STUDY.to_json(), encoding="utf-8")
    trace = folder / "trace"
    calls = "trace=fsync,fdatasync,rename,renameat,renameat2,read,recvfrom,recvmsg"
    calls += ",write,writev,sendto,sendmsg"
    strace = ["strace", "-f", "-y", "-e", calls, "-s", "64", "-o", str(trace)]
    server = Collector(folder, "--port", "0", "--rate", "0", run=[*strace, *run])
    try:
        sent = [("/reports", report()) for _ in range(REPORTS)]
        sent += [("/reports/bulk", bulk(100)) for _ in range(BULKS)]
        for path, document in sent:
            assert b" 201 " in _post(server.port, path, document).split(b"\r\n")[0]
    finally:
        # strace passes nothing on: the collector is the child it names in every line.
        pid = int(trace.read_text(encoding="utf-8", errors="replace").split(None, 1)[0])
        os.kill(pid, signal.SIGTERM)
        server.end()
    answered = covered = 0
    done, asked = list[str](), ""
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        if "POST /reports" in line:
            done, asked = [], line
        elif "HTTP/1.1 201" in line:
            answered += 1
            replaced = [step for step in done if step in ("part", "named", "folder")]
            covered += (
                "turned" in done
                or replaced[:3] == ["part", "named", "folder"]
                or (done[:1] == ["wal"] and "POST /reports/bulk" in asked)
            )
            done = []
        else:
            done += [step for step, call in STEPS.items() if re.search(call, line)]
    return answered, covered


@needs_strace
def test_every_201_comes_after_an_fsync(tmp_path: Path) -> None:
    answered, covered = _traced(tmp_path, sys.executable, "-m", "castell")
    assert answered == covered == REPORTS + BULKS


@needs_strace
def test_a_store_without_fsync_is_caught(tmp_path: Path) -> None:
    broken = (sys.executable, "-m", "tests.collector.broken", "unsynced")
    answered, covered = _traced(tmp_path, *broken)
    assert answered == REPORTS + BULKS
    assert covered == 0
