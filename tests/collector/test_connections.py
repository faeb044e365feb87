"""Connections of an attacker: endless heads, half requests, answers not read, too many of them."""

from __future__ import annotations

import json
import logging
import socket
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from castell.collector.security.connection_limits import Gate, connections_possible
from castell.collector.security.log_limit import LINES, PERIOD, TEXTS, LogLimit
from castell.collector.settings import ConnectionLimits
from castell.errors import OptionError
from tests.collector.respondents import LOGGED_IN, bulk, report
from tests.collector.serving import all_that_comes, connect, serving, status

SHORT = ConnectionLimits(head_seconds=0.3, body_seconds=0.3, unread_seconds=0.3)
GET = b"GET /study.json HTTP/1.1\r\nHost: a\r\n"
POST = b"POST /reports HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"


def push(link: socket.socket, data: bytes, most: int) -> int:
    """Send the same again and again until the server hangs up; how much it took."""
    sent = 0
    try:
        while sent < most:
            link.sendall(data)
            sent += len(data)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return sent


def metrics(port: int) -> str:
    address = f"http://127.0.0.1:{port}/metrics"
    return httpx.get(address, headers=LOGGED_IN, trust_env=False).text


def sent(port: int) -> int:
    address = f"http://127.0.0.1:{port}/reports"
    return httpx.post(address, json=report(), trust_env=False).status_code


# -- how long ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "start",
    [
        b"GET /study.json HTTP/1.1\r\nx: ",  # one header without end
        b"GET /",  # a URL without end
        POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nx: ",  # a trailer without end
        POST + b"Transfer-Encoding: chunked\r\n\r\n1;x=",  # an extension of a chunk
        b"\r\n",  # empty lines before a request
    ],
)
def test_what_is_no_body_has_an_end(tmp_path: Path, start: bytes) -> None:
    filling = b"\r\n" * (1 << 15) if start == b"\r\n" else b"a" * (1 << 16)
    with serving(tmp_path / "s.sqlite") as port, connect(port) as link:
        link.sendall(start)
        taken = push(link, filling, 40 << 20)
        all_that_comes(link)
        # What both systems hold in their buffers, far from the 40 MB.
        assert taken < 20 << 20
        assert sent(port) == 201
        assert 'castell_refused_total{reason="head_too_long"} 1' in metrics(port)


def test_many_headers_are_long_too(tmp_path: Path) -> None:
    with serving(tmp_path / "s.sqlite") as port, connect(port) as link:
        link.sendall(GET + b"x: y\r\n" * 8000 + b"\r\n")
        answer = all_that_comes(link)
        assert not answer or status(answer) == 431
        assert 'reason="head_too_long"} 1' in metrics(port)


def test_the_refusal_says_why(tmp_path: Path) -> None:
    with serving(tmp_path / "s.sqlite") as port, connect(port) as link:
        # A whole request: no byte is left unread, so that no reset takes the answer away.
        link.sendall(GET + b"x: " + b"a" * 32_800 + b"\r\n\r\n")
        answer = all_that_comes(link)
    assert status(answer) == 431
    head, _, body = answer.partition(b"\r\n\r\n")
    assert "longer than 32768 bytes" in json.loads(body)["error"]
    assert b"nosniff" in head
    assert b"connection: close" in head


def test_long_but_lawful_requests_pass(tmp_path: Path) -> None:
    with serving(tmp_path / "s.sqlite") as port:
        address = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=address, trust_env=False) as http:
            long = http.get("/study.json", headers={"x-long": "a" * 30_000})
            assert long.status_code == 200
            # Bodies do not count, however they come; many requests on one connection neither.
            assert http.post("/reports/bulk", json=bulk(1000)).status_code == 201
            body = json.dumps(bulk(1000)).encode()
            pieces = (body[i : i + 1000] for i in range(0, len(body), 1000))
            headers = {"content-type": "application/json"}
            assert http.post("/reports/bulk", content=pieces, headers=headers).status_code == 201
            for _ in range(200):
                answer = http.get("/study.json", headers={"x-long": "a" * 1000})
                assert answer.status_code == 200


def test_requests_in_one_packet_are_all_answered(tmp_path: Path) -> None:
    with serving(tmp_path / "s.sqlite") as port, connect(port) as link:
        link.sendall((GET + b"x: " + b"a" * 1000 + b"\r\n\r\n") * 100)
        link.sendall(GET + b"Connection: close\r\n\r\n")
        assert all_that_comes(link).count(b"HTTP/1.1 200 OK") == 101


# -- how slow ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        (b"", "head_too_slow"),
        (GET, "head_too_slow"),
        (b"\r\n", "head_too_slow"),
        (POST + b"Content-Length: 100\r\n\r\n{", "body_too_slow"),
        (GET + b"Content-Length: 100\r\n\r\n{", "body_too_slow"),  # a body nobody reads
    ],
)
def test_half_a_request_does_not_stay(tmp_path: Path, start: bytes, reason: str) -> None:
    with serving(tmp_path / "s.sqlite", connections=SHORT) as port, connect(port) as link:
        link.sendall(start)
        all_that_comes(link)  # ends because the server hangs up
        assert f'castell_refused_total{{reason="{reason}"}} 1' in metrics(port)


def test_an_empty_line_is_no_next_request(tmp_path: Path) -> None:
    with serving(tmp_path / "s.sqlite", connections=SHORT) as port, connect(port) as link:
        link.sendall(GET + b"\r\n")
        assert status(link.recv(1 << 16)) == 200
        link.sendall(b"\r\n")
        all_that_comes(link)
        assert 'castell_refused_total{reason="head_too_slow"} 1' in metrics(port)


def test_a_byte_now_and_then_does_not_help(tmp_path: Path) -> None:
    with serving(tmp_path / "s.sqlite", connections=SHORT) as port, connect(port) as link:
        link.sendall(GET)
        link.settimeout(0.05)
        answer = b""
        for _ in range(1000):
            try:
                link.sendall(b"x")
                answer = link.recv(1000)
                break
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
        else:
            pytest.fail("it was let go on")
        assert not answer or status(answer) == 408


def test_an_answer_that_nobody_reads_does_not_stay(tmp_path: Path) -> None:
    with serving(tmp_path / "s.sqlite", connections=SHORT) as port, connect(port) as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ask = b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
        push(link, ask * 10, 2000 * len(ask))
        while 'reason="answer_not_read"} 1' not in metrics(port):
            pass
        assert sent(port) == 201


# -- how many ------------------------------------------------------------------------------------


def test_there_are_so_many_connections_and_no_more(tmp_path: Path) -> None:
    few = ConnectionLimits(most=4, each=3)
    with serving(tmp_path / "s.sqlite", connections=few) as port:
        held = [connect(port, "127.0.0.7") for _ in range(3)]
        with connect(port, "127.0.0.7") as link:
            assert status(all_that_comes(link)) == 503  # too many of one address
        held.append(connect(port, "127.0.0.8"))
        with connect(port, "127.0.0.9") as link:
            assert status(all_that_comes(link)) == 503  # too many in all
        held.pop().close()
        while True:  # until the server has seen that it is gone
            try:
                assert sent(port) == 201
                break
            except (httpx.RemoteProtocolError, AssertionError):
                continue
        for link in held:
            link.close()


class Held:
    def __init__(self, host: str, *, idle: bool = False) -> None:
        self.host, self.idle, self.dropped = host, idle, False

    def drop(self) -> None:
        self.dropped = True


def test_a_connection_that_waits_gives_way() -> None:
    gate = Gate(most=3, each=2)
    busy, idle = Held("192.0.2.1"), Held("192.0.2.1", idle=True)
    assert gate.enter(busy)
    assert gate.enter(idle)
    assert gate.enter(Held("192.0.2.1"))
    assert idle.dropped
    assert not busy.dropped
    assert not gate.enter(Held("192.0.2.1"))
    assert gate.enter(Held("192.0.2.2"))
    assert not gate.enter(Held("192.0.2.3"))
    gate.leave(busy)
    gate.leave(busy)  # once is enough
    assert gate.enter(Held("192.0.2.3"))
    assert len(gate) == 3


def test_neighbours_share_and_proxies_have_no_limit_of_their_own() -> None:
    gate = Gate(most=100, each=1, proxies=["10.0.0.0/8"])
    assert gate.enter(Held("2001:db8:1:2::1"))
    assert not gate.enter(Held("2001:db8:1:2::2"))
    assert all(gate.enter(Held("10.1.2.3")) for _ in range(50))
    assert all(gate.enter(Held("::ffff:10.1.2.3")) for _ in range(20))
    assert gate.enter(Held(""))
    assert not gate.enter(Held(""))


def test_no_more_connections_than_files(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    limit = [(256, 1024)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limit[0])
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: limit.__setitem__(0, pair))
    assert connections_possible(100) == 100
    assert limit == [(256, 1024)]
    assert connections_possible(500) == 500  # it was raised
    assert limit == [(628, 1024)]
    assert connections_possible(5000) == 1024 - 128


@pytest.mark.parametrize(
    "changes",
    [{"most": 0}, {"each": 0}, {"head_bytes": 100}, {"head_seconds": 0}, {"body_seconds": -1.0}],
)
def test_limits_are_checked(changes: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        ConnectionLimits(**changes)


# -- what is written -----------------------------------------------------------------------------


def test_malformed_requests_do_not_fill_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path / "s.sqlite") as port:
        for _ in range(50):
            with connect(port) as link:
                link.sendall(b"no request\r\n\r\n")
                assert status(all_that_comes(link)) == 400
        shown = metrics(port)
    assert 'castell_refused_total{reason="malformed"} 50' in shown
    assert "castell_log_lines_dropped_total 45" in shown
    lines = [line for line in capfd.readouterr().err.splitlines() if "Invalid" in line]
    assert len(lines) == LINES
    assert "left out" in lines[-1]


def test_the_log_opens_again() -> None:
    now, dropped = 0.0, Counter[str]()
    limit = LogLimit(dropped, clock=lambda: now)

    def written(text: str) -> bool:
        return limit.filter(logging.LogRecord("x", logging.ERROR, "", 0, text, (), None))

    assert [written("a") for _ in range(LINES + 2)] == [True] * LINES + [False] * 2
    assert written("b")
    now = PERIOD
    assert written("a")
    assert dropped["log_lines"] == 2
    # Texts that never come twice are no way around it.
    assert sum(written(f"text {i}") for i in range(10 * TEXTS)) < TEXTS + LINES
