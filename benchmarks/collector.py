"""Durable reports a second: one collector process, SQLite beside PostgreSQL, over loopback.

Every answer counted is a 201, given after the commit's fsync. The load comes from a second process
on the same machine, so both share its cores; what the collector itself spends on a report is
therefore shown as well, as processor time, which does not depend on who else is using the machine.
The yardstick is the disk: how long it takes to write a page and wait for it.

Both stores take part in every round, first one and then the other first, alone and beside three
analysts who ask for tables without a pause: the machine may change in between, and only what was
measured side by side can be compared. Shown are medians over the rounds, as a table for
docs/collecting.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks._population import ADULT_SIZES, generate_population
from tests.collector import postgres
from tests.collector.process import ROOT, Collector, collecting

# How many reports a request holds, clients at once, and reports to send at most.
LOADS = {
    "single": (1, 64, 60_000),
    "bulk of 100": (100, 8, 200_000),
    "bulk of 1,000": (1000, 1, 200_000),
}
TOKEN = "a-token-of-the-benchmark"  # noqa: S105
BESIDE = "single, beside 3 analysts"
ROUNDS = 3


def run(quick: bool) -> dict[str, Any]:
    seconds, share, rounds = (0.5, 0.01, 1) if quick else (8.0, 1.0, ROUNDS)
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        folder = Path(name)
        study = generate_population(ADULT_SIZES, 10).study(1.0)
        (folder / "study.json").write_text(study.to_json(), encoding="utf-8")
        disk = _disk(folder, 20 if quick else 300)
        servers = {
            kind: running.enter_context(_collector(kind, folder))
            for kind in ("SQLite", "PostgreSQL")
            if kind == "SQLite" or postgres.tools() is not None
        }
        for turn in range(rounds):
            # Whoever is first in one round is last in the next.
            order = list(servers.items())[:: 1 if turn % 2 == 0 else -1]
            for load in (*LOADS, BESIDE):
                for kind, server in order:
                    found.setdefault((kind, load), []).append(_lap(server, load, seconds, share))
    lines = [_middle(kind, load, laps) for (kind, load), laps in found.items()]
    return {
        "attributes": len(study.names),
        "disk_ms": disk,
        "rounds": rounds,
        "seconds": seconds,
        "lines": [line for line in lines if line["load"] != BESIDE],
        "beside_analysts": [line for line in lines if line["load"] == BESIDE],
        "load": os.getloadavg(),
    }


@contextmanager
def _collector(kind: str, folder: Path) -> Iterator[Collector]:
    with _place(kind, folder) as place:
        options = ["--port", "0", "--rate", "0", "--store", place, "--token", TOKEN]
        # Analysts who see what is new ask for more than those who see the same all day.
        options += ["--release-every", "0"]
        if kind == "PostgreSQL":
            options += ["--spool", str(folder / "spool")]
        with collecting(folder, *options, log=f"{kind}.log") as server:
            yield server


def _lap(server: Collector, load: str, seconds: float, share: float) -> dict[str, Any]:
    """One load on one collector: reports a second, how long they took, what they cost."""
    bulk, clients, most = LOADS["single" if load == BESIDE else load]
    reports = max(bulk * clients, int(most * share))
    with _analysts(server.port) if load == BESIDE else nullcontext({"answers": 0}) as told:
        before = _spent(server.process.pid)
        found = _drive(server.port, reports, bulk, clients, seconds)
        spent = _spent(server.process.pid) - before
    cost = 1e6 * spent / (found["requests"] * bulk)
    return {**found, "clients": clients, "answers": told["answers"], "processor_us": cost}


def _middle(kind: str, load: str, laps: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each number over the rounds."""
    numbers = ("reports_per_second", "p50", "p99", "worst", "processor_us", "client_us")
    middle = {name: median(lap[name] for lap in laps) for name in numbers}
    answers = sum(lap["answers"] for lap in laps)
    return {
        "store": kind,
        "load": load,
        "clients": laps[0]["clients"],
        "answers": answers,
        **middle,
    }


@contextmanager
def _place(kind: str, folder: Path) -> Iterator[str]:
    if kind == "SQLite":
        yield str(folder / "benchmark.sqlite")
        return
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
    head = "| load | store | reports a second | p50 | p99 | processor time of the collector |"
    lines = [*result["lines"], *result["beside_analysts"]]
    alone = {line["store"]: line for line in lines if line["load"] == "single"}
    rows = [
        f"| {line['load']}, {line['clients']} clients | {line['store']} "
        f"| {line['reports_per_second']:,.0f} | {line['p50']:.0f} ms | {line['p99']:.0f} ms "
        f"| {line['processor_us'] / 1e3:.3f} ms a report |"
        for line in sorted(lines, key=lambda line: [*LOADS, BESIDE].index(line["load"]))
    ]
    beside = "\n".join(
        f"Three analysts left {line['reports_per_second'] / _rate(alone, line):.0%} of the single "
        f"reports a second with {line['store']} ({line['answers']} tables)."
        for line in result["beside_analysts"]
    )
    missing = "" if len(alone) > 1 else "\nPostgreSQL is not installed here."
    return (
        "\n".join([head, "|" + "---|" * 6, *rows]) + f"{missing}\n\n{beside}\n\n"
        f"Medians of {result['rounds']} rounds of {result['seconds']:g} seconds each, both stores "
        f"in each round. A page and its fdatasync: {result['disk_ms']:.2f} ms. "
        f"{result['attributes']} attributes; others on the machine: load average "
        f"{result['load'][0]:.1f} on {os.cpu_count()} cores. PostgreSQL's server works beside the "
        "collector, and is not in its processor time."
    )


def _rate(alone: dict[str, Any], line: dict[str, Any]) -> float:
    return float(alone[line["store"]]["reports_per_second"])
