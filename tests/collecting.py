"""Collectors for the tests: real ones in processes of their own, and one that does as told."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from castell import Study

TOKEN = "a-token-for-the-tests-only"  # noqa: S105


@dataclass(frozen=True)
class Collector:
    """A collector in a process of its own, as people run it."""

    url: str
    study: Study
    store: Path
    pid: int

    def codes(self) -> list[tuple[int, ...]]:
        """The codes of all reports in the store, in no order."""
        from castell.collector.store import open_store

        store = open_store(self.store, self.study)
        try:
            return [
                row
                for columns in store.batches()
                for row in zip(*(c.tolist() for c in columns), strict=True)
            ]
        finally:
            store.close()


@contextlib.contextmanager
def collecting(study: str, folder: Path, *options: str) -> Iterator[Collector]:
    """`castell serve` on a study file's text, until the block is left."""
    file = folder / "study.toml"
    file.write_text(study, encoding="utf-8")
    program = Path(sys.executable).with_name("castell")
    command = [str(program), "serve", str(file), "--port", "0", "--json"]
    command += ["--token", TOKEN, "--rate", "0", "--release-every", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            yield Collector(told["address"], Study.load(file), Path(told["store"]), process.pid)
        finally:
            process.terminate()


TELEMETRY = """
name = "telemetry"
epsilon = 2.0

[[attribute]]
name = "os"
values = ["linux", "mac", "windows"]

[[attribute]]
name = "crashes"
values = ["none", "some", "many"]
"""
TELEMETRY_STUDY = Study.from_toml(TELEMETRY)

Answer = tuple[int, dict[str, Any]]
GOOD: Answer = (201, {"status": "stored"})
SILENCE: Answer = (0, {})


class Script:
    """A collector that answers as it is told, and notes what it was sent."""

    def __init__(self, *answers: Answer, study: Study = TELEMETRY_STUDY) -> None:
        self.answers, self.study = list(answers), study
        self.text: str | None = None  # published in its place, if it is not even a study
        self.stages: dict[str, Study] = {}  # what it has at /studies/
        self.bodies: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""

    def next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextlib.contextmanager
def scripted(*answers: Answer, study: Study = TELEMETRY_STUDY) -> Iterator[Script]:
    script = Script(*answers, study=study)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/study.json":
                self._answer(200, script.text or script.study.to_json())
                return
            stage = script.stages.get(self.path.removeprefix("/studies/").removesuffix(".json"))
            self._answer(404 if stage is None else 200, "{}" if stage is None else stage.to_json())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            script.bodies.append(body)
            script.headers.append(dict(self.headers))
            status, document = script.next()
            if status == 0:  # it came, but no answer goes back
                self.close_connection = True
                return
            self._answer(status, json.dumps(document), document.get("headers", {}))

        def _answer(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args: object) -> None:
            del args

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        script.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
