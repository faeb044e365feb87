"""Durable reports a second: one collector process, SQLite beside PostgreSQL, over loopback.

Every answer counted is a 201, given after the commit's fsync. The load comes from a second process
on the same machine, so both share its cores; what the collector itself spends on a report is
therefore shown as well, as processor time, which does not depend on who else is using the machine.
The yardstick is the disk: how long it takes to write a page and wait for it.

Then the same single reports while three analysts ask for tables without a pause, by turns with
nobody asking: what the analysts leave of the reports a second is the ratio of the two.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks._population import ADULT_SIZES, generate_population
from benchmarks._text import grid
from tests.collector import postgres
from tests.collector.process import ROOT, collecting

# How many reports a request holds, clients at once, and reports to send at most.
LOADS = {
    "single": (1, 64, 60_000),
    "bulk of 100": (100, 8, 200_000),
    "bulk of 1,000": (1000, 1, 200_000),
}
TOKEN = "a-token-of-the-benchmark"  # noqa: S105
# How often reports come without analysts and then with them.
TURNS = 3


def run(quick: bool) -> dict[str, Any]:
    seconds, share = (0.5, 0.01) if quick else (8.0, 1.0)
    lines, ratios = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = generate_population(ADULT_SIZES, 10).study(1.0)
        (folder / "study.json").write_text(study.to_json(), encoding="utf-8")
        disk = _disk(folder, 20 if quick else 300)
        for kind in ("SQLite", "PostgreSQL"):
            with _place(kind, folder) as place:
                if place is None:
                    continue
                options = ["--port", "0", "--rate", "0", "--store", place, "--token", TOKEN]
                if kind == "PostgreSQL":
                    options += ["--spool", str(folder / "spool")]
                with collecting(folder, *options) as server:
                    for load, (bulk, clients, most) in LOADS.items():
                        before = _spent(server.process.pid)
                        reports = max(bulk * clients, int(most * share))
                        found = _drive(server.port, reports, bulk, clients, seconds)
                        spent = _spent(server.process.pid) - before
                        sent = found["requests"] * bulk
                        found["processor_us"] = 1e6 * spent / sent
                        lines.append({"store": kind, "load": load, "clients": clients, **found})
                    found = _beside_analysts(server.port, 1 if quick else TURNS, seconds, share)
                    ratios.append({"store": kind, **found})
    return {
        "attributes": len(study.names),
        "disk_ms": disk,
        "lines": lines,
        "beside_analysts": ratios,
        "load": os.getloadavg(),
    }


@contextmanager
def _place(kind: str, folder: Path) -> Iterator[str | None]:
    if kind == "SQLite":
        yield str(folder / "benchmark.sqlite")
    elif postgres.tools() is None:
        yield None
    else:
        with postgres.running("shared_buffers=256MB", "max_wal_size=4GB") as address:
            yield address


def _drive(port: int, reports: int, bulk: int, clients: int, seconds: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks._load", str(port), "--reports", str(reports)]
    command += ["--bulk", str(bulk), "--clients", str(clients), "--seconds", str(seconds)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    if set(found["statuses"]) != {"201"}:
        raise RuntimeError(f"not every report was kept: {found['statuses']}")
    return found


def _beside_analysts(port: int, turns: int, seconds: float, share: float) -> dict[str, Any]:
    """Single reports a second, alone and beside analysts by turns: the machine may change."""
    bulk, clients, most = LOADS["single"]
    reports = max(bulk * clients, int(most * share))
    alone, beside, answers = [], [], 0
    for _ in range(turns):
        alone.append(_drive(port, reports, bulk, clients, seconds)["reports_per_second"])
        with _analysts(port) as told:
            beside.append(_drive(port, reports, bulk, clients, seconds)["reports_per_second"])
        answers += told["answers"]
    return {"alone": median(alone), "beside": median(beside), "answers": answers}


@contextmanager
def _analysts(port: int) -> Iterator[dict[str, int]]:
    """Analysts who ask until the block is left; then how many answers they got."""
    command = [sys.executable, "-m", "benchmarks._analysts", str(port), TOKEN]
    pipe = subprocess.PIPE
    told: dict[str, int] = {}
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        if process.stdout is None or process.stdout.readline() != "asking\n":
            raise RuntimeError("the analysts got no answer")
        yield told
        said, _ = process.communicate()
        told |= json.loads(said)


def _spent(pid: int) -> float:
    """Processor seconds of a process so far, its own and the system's on its behalf."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _disk(folder: Path, rounds: int) -> float:
    """Milliseconds to write a page and wait until the disk has it."""
    laps = []
    with (folder / "disk").open("wb", buffering=0) as file:
        for _ in range(rounds):
            start = perf_counter()
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            laps.append(perf_counter() - start)
    return 1e3 * median(laps)


def show(result: dict[str, Any]) -> str:
    titles = [
        "store",
        "load",
        "clients",
        "reports/s",
        "p50 ms",
        "p99 ms",
        "worst ms",
        "us",
        "client us",
    ]
    rows = [
        [
            line["store"],
            line["load"],
            str(line["clients"]),
            f"{line['reports_per_second']:,.0f}",
            *(f"{line[name]:.1f}" for name in ("p50", "p99", "worst")),
            f"{line['processor_us']:.0f}",
            f"{line['client_us']:.0f}",
        ]
        for line in result["lines"]
    ]
    beside = "\n".join(
        f"Beside three analysts {line['store']} took {line['beside'] / line['alone']:.0%} of the "
        f"single reports it takes alone ({line['beside']:,.0f} of {line['alone']:,.0f} a second; "
        f"{line['answers']} tables)."
        for line in result["beside_analysts"]
    )
    missing = "" if len(rows) > len(LOADS) else "\nPostgreSQL is not installed here."
    return (
        f"{grid(titles, rows)}{missing}\n\n{beside}\n\n"
        f"A page and its fdatasync: {result['disk_ms']:.2f} ms. "
        f"{result['attributes']} attributes; others on the machine: load average "
        f"{result['load'][0]:.1f} on {os.cpu_count()} cores.\nus is the collector's own "
        "processor time for a report (PostgreSQL's server works beside it), client us the load's."
    )
