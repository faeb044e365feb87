"""No address, agent or cookie of a respondent is written anywhere: a search of every byte."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.collector.process import Collector, collecting
from tests.collector.respondents import STUDY, bulk, report

# Addresses on loopback that are not the server's, and one that a proxy would pass on.
DIRECT, BEHIND = "127.0.0.9", "203.0.113.77"
AGENT, COOKIE, PAGE = "TracedAgent/4.2", "traced-cookie", "https://traced.example/page"

HEADERS = (
    f"Host: traced.example\r\nUser-Agent: {AGENT}\r\nCookie: c={COOKIE}\r\nReferer: {PAGE}\r\n"
    f"X-Forwarded-For: {BEHIND}\r\nForwarded: for={BEHIND}\r\nAuthorization: Bearer {COOKIE}\r\n"
)


def marks() -> list[bytes]:
    found = [AGENT.encode(), COOKIE.encode(), PAGE.encode(), b"traced.example"]
    for address in (DIRECT, BEHIND):
        found += [address.encode(), socket.inet_aton(address)]
    return found


def send(port: int, head: str, body: bytes = b"") -> bytes:
    link = socket.create_connection(("127.0.0.1", port), source_address=(DIRECT, 0))
    with link:
        link.settimeout(60)
        size = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        link.sendall((head + HEADERS + size).encode("latin-1") + body)
        answer = b""
        try:
            while piece := link.recv(4096):
                answer += piece
        except ConnectionResetError:
            pass
    return answer


def everything(port: int) -> Iterator[bytes]:
    """Requests of every kind: good, bad, broken."""
    kind = "Content-Type: application/json\r\n"
    post, many = f"POST /reports HTTP/1.1\r\n{kind}", f"POST /reports/bulk HTTP/1.1\r\n{kind}"
    for _ in range(20):
        yield send(port, post, json.dumps(report()).encode())
    yield send(port, many, json.dumps(bulk(20)).encode())
    yield send(port, post, json.dumps(report(codes=[9999, 0, 0])).encode())
    yield send(port, post, f'{{"agent": "{AGENT}", "address": "{BEHIND}"}}'.encode())
    yield send(port, post, b"\xff" * 100)
    yield send(port, post, b" " * 200_000)
    for path in ("/", "/study.json", f"/nothing?{COOKIE}", "/results", "/results/api/overview"):
        yield send(port, f"GET {path} HTTP/1.1\r\n")
    yield send(port, f"BREW /{COOKIE} HTTP/9.9\r\n")
    yield send(port, f"{COOKIE}\x00\r\n")


def search(folder: Path) -> dict[str, list[bytes]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            found[path.name] = [mark for mark in marks() if mark in content]
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.json").write_text(STUDY.to_json(), encoding="utf-8")
    return tmp_path


def said(folder: Path, made: Collector) -> None:
    """What it printed, beside its log, so that it is searched as well."""
    assert made.process.stdout is not None
    text = made.process.stdout.read()
    (folder / "printed").write_bytes(json.dumps(made.told).encode() + text)


@pytest.mark.parametrize("options", [[], ["--proxy", "127.0.0.9"], ["--rate", "1", "--burst", "5"]])
def test_nothing_of_a_respondent_is_written(folder: Path, options: list[str]) -> None:
    made = Collector(folder, "--port", "0", *options)
    answers = list(everything(made.port))
    assert sum(answer.startswith(b"HTTP/1.1 201") for answer in answers) >= 5
    running = search(folder)
    assert {"study.sqlite", "study.sqlite-wal", "study.sqlite-shm", "log"} <= set(running)
    made.process.terminate()
    said(folder, made)
    made.end()
    stopped = search(folder)
    for names in (running, stopped):
        assert {name: marks for name, marks in names.items() if marks} == {}
    for answer in answers:
        for mark in marks():
            assert mark not in answer


def test_the_search_finds_what_it_should(folder: Path) -> None:
    (folder / "log").write_text(f'INFO: {DIRECT}:1 - "POST /reports" "{AGENT}"', encoding="utf-8")
    (folder / "db").write_bytes(b"\x00" + socket.inet_aton(BEHIND) + b"\x00")
    found = search(folder)
    assert found["log"] == [AGENT.encode(), DIRECT.encode()]
    assert found["db"] == [socket.inet_aton(BEHIND)]


def test_the_limit_sees_through_a_proxy_that_is_named(folder: Path) -> None:
    """One respondent's haste is not the whole proxy's."""
    post = "POST /reports HTTP/1.1\r\nContent-Type: application/json\r\n"
    with collecting(
        folder, "--port", "0", "--rate", "0.001", "--burst", "2", "--proxy", DIRECT
    ) as m:

        def tried(address: str) -> bytes:
            head = post + f"X-Forwarded-For: {address}\r\n"
            return send(m.port, head, json.dumps(report()).encode())[9:12]

        # The last entry is the one the proxy added; what a client claims before it is not believed.
        assert [tried("192.0.2.1") for _ in range(3)] == [b"201", b"201", b"429"]
