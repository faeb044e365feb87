"""A soak of half a minute: nothing is lost, doubled or linked; and a broken collector is caught."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from castell.collector.store.sqlite import SqliteStore
from tests.collector import postgres
from tests.collector.respondents import STUDY
from tests.collector.soak.disk import Disk
from tests.collector.soak.faults import ALWAYS, OF_A_DATABASE
from tests.collector.soak.proxy import Proxy
from tests.collector.soak.run import soak


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_every_fault_once_does_no_harm(kind: str) -> None:
    if kind == "postgresql" and postgres.tools() is None:
        pytest.skip("NOT TESTED: PostgreSQL is not installed (apt-get install postgresql)")
    faults = ALWAYS + (OF_A_DATABASE if kind == "postgresql" else ())
    found = soak(STUDY, kind, faults=faults)
    assert found.good, str(found)
    assert found.faults == dict.fromkeys(faults, 1)
    assert found.verdict.held >= found.verdict.promised > 20 * len(faults)
    assert found.cut_off > 0


def test_a_store_that_loses_is_caught() -> None:
    found = soak(STUDY, "sqlite", faults=["kill", "kill"], broken="early")
    assert found.verdict.lost > 0
    assert not found.good


def test_a_store_that_doubles_is_caught() -> None:
    found = soak(STUDY, "sqlite", faults=["network", "kill"], broken="copying")
    assert found.verdict.double > 0
    assert not found.good


def test_a_store_that_links_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever makes invitations beside it must not put its files in order either.
    monkeypatch.setattr(SqliteStore, "_rewrite", lambda _: None)
    found = soak(STUDY, "sqlite", faults=["network", "kill"], broken="linking")
    assert (found.verdict.lost, found.verdict.double) == (0, 0)
    assert found.verdict.linkable > 0, str(found)


def test_the_proxy_cuts_in_the_middle_of_a_request() -> None:
    async def run() -> tuple[bytes, bytes, int]:
        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while piece := await reader.read(1 << 14):
                writer.write(piece)
            writer.close()

        async def talk(text: bytes) -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            try:
                writer.write(text)
                return await reader.readexactly(len(text))
            except asyncio.IncompleteReadError as error:
                return error.partial
            except OSError:
                return b""
            finally:
                writer.close()

        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        proxy = Proxy(server.sockets[0].getsockname()[1], seed=1)
        await proxy.start()
        whole = await talk(b"x" * 1000)
        proxy.bad = True
        part = await talk(b"x" * 1000)
        await proxy.close()
        server.close()
        return whole, part, proxy.dropped

    whole, part, dropped = asyncio.run(run())
    assert len(whole) == 1000
    assert len(part) < 1000
    assert dropped > 0


def test_a_disk_without_a_file_system_of_its_own_fills_up_too(tmp_path: Path) -> None:
    """Where nothing may be mounted, files may not grow."""
    disk = Disk(tmp_path, "limit")
    write = "import sys; sys.stdin.read(1); open(sys.argv[1], 'wb', 0).write(bytes(1 << 20))"
    statuses = []
    for full in (True, False):
        with subprocess.Popen(
            [sys.executable, "-c", write, str(tmp_path / "file")], stdin=subprocess.PIPE
        ) as process:
            if full:
                disk.fill(process.pid)
                assert resource.prlimit(process.pid, resource.RLIMIT_FSIZE)[0] == 4096
            process.communicate(b"x")
        disk.clear()
        statuses.append((tmp_path / "file").stat().st_size)
    assert statuses == [4096, 1 << 20]
