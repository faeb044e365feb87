"""Load on a collector: many clients that each wait for their answer, bounded in count and time.

It runs in a process of its own (`python -m benchmarks._load`), as cheap as Python allows, since it
shares the machine with the server it measures: requests are bytes made beforehand, answers are
read as far as their status.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
import urllib.request
from time import perf_counter, process_time
from typing import Any

import uvloop

from castell.collector.wire import new_id
from castell.study.study import Study


class Client(asyncio.Protocol):
    """Sends its requests one after the other over one connection."""

    def __init__(self, requests: list[bytes], until: float, done: asyncio.Future[None]) -> None:
        self.requests, self.until, self.done = requests, until, done
        self.times: list[float] = []
        self.statuses: dict[bytes, int] = {}
        self._answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self._send()

    def _send(self) -> None:
        self._start = perf_counter()
        if not self.requests or self._start > self.until:
            if not self.done.done():
                self.done.set_result(None)
            self.transport.close()
            return
        self.transport.write(self.requests.pop())

    def data_received(self, data: bytes) -> None:
        self._answer += data
        head = self._answer.find(b"\r\n\r\n")
        if head < 0:
            return
        at = self._answer.find(b"content-length: ") + 16
        length = int(self._answer[at : self._answer.find(b"\r", at)])
        if len(self._answer) < head + 4 + length:
            return
        self.times.append(perf_counter() - self._start)
        status = self._answer[9:12]
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self._answer = b""
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or ConnectionError("the server hung up"))


def request(path: str, document: Any) -> bytes:
    body = json.dumps(document, separators=(",", ":")).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


def requests_for(study: Study, reports: int, bulk: int) -> list[bytes]:
    """Requests that hold random reports, one each or `bulk` each."""
    widths, digest = study.design.widths, study.digest

    def report() -> dict[str, Any]:
        return {"id": new_id(), "codes": [secrets.randbelow(width) for width in widths]}

    if bulk == 1:
        return [request("/reports", {**report(), "study": digest}) for _ in range(reports)]
    return [
        request("/reports/bulk", {"study": digest, "reports": [report() for _ in range(bulk)]})
        for _ in range(reports // bulk)
    ]


async def drive(port: int, requests: list[bytes], clients: int, seconds: float) -> dict[str, Any]:
    """How many were answered, how, and how long each took."""
    loop = asyncio.get_running_loop()
    start, spent = perf_counter(), process_time()
    made: list[Client] = []
    for i in range(clients):
        done: asyncio.Future[None] = loop.create_future()
        client = Client(requests[i::clients], start + seconds, done)
        made.append(client)
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.gather(*(client.done for client in made))
    took, spent = perf_counter() - start, process_time() - spent
    statuses: dict[str, int] = {}
    for client in made:
        for status, n in client.statuses.items():
            statuses[status.decode()] = statuses.get(status.decode(), 0) + n
    times = sorted(t for client in made for t in client.times)
    return {"seconds": took, "spent": spent, "times": times, "statuses": statuses}


def summary(found: dict[str, Any], bulk: int) -> dict[str, Any]:
    """Reports a second, and how long the middle, the slowest hundredth and the slowest took."""
    times = found["times"]
    at = {"p50": 0.5, "p99": 0.99, "worst": 1.0}
    return {
        "requests": len(times),
        "statuses": found["statuses"],
        "seconds": found["seconds"],
        "reports_per_second": len(times) * bulk / found["seconds"],
        "client_us": 1e6 * found["spent"] / (len(times) * bulk),
        **{name: 1e3 * times[min(len(times) - 1, int(p * len(times)))] for name, p in at.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--reports", type=int, default=50_000)
    parser.add_argument("--bulk", type=int, default=1)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    with urllib.request.urlopen(f"http://127.0.0.1:{options.port}/study.json") as answer:
        study = Study.from_json(answer.read().decode())
    requests = requests_for(study, options.reports, options.bulk)
    found = uvloop.run(drive(options.port, requests, options.clients, options.seconds))
    json.dump(summary(found, options.bulk), sys.stdout)


if __name__ == "__main__":
    main()
