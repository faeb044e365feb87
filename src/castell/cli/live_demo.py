"""A collection that runs by itself: the real collector, and people who do not exist.

The collector is the command that anybody would start. The people are generated, but they randomise
as a device does, and their reports come in over HTTP, some one by one and the rest in bulk.
"""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode

import httpx

from castell.cli.progress import progress_bar
from castell.cli.study_file import to_toml
from castell.collector.store.store import StoreError
from castell.device.report import Report, make_report
from castell.device.transport import send_report
from castell.population import SCHEMA, health_survey
from castell.study.study import Study

Progress = Callable[[float], None]

SHOWN = ("smokes", "health")
ONE_BY_ONE = 50
BULK = 1000


@dataclass(frozen=True)
class LiveDemo:
    """A running collection: where it is, and what opens it."""

    study: Study
    address: str
    token: str
    store: Path
    process: subprocess.Popen[str]

    @property
    def survey(self) -> str:
        return f"{self.address}/"

    @property
    def results(self) -> str:
        """With the token behind the #, where no server and no log ever sees it."""
        asked = [("token", self.token), *(("attributes", name) for name in SHOWN)]
        return f"{self.address}/results#{urlencode(asked)}"


@contextmanager
def collecting(*, epsilon: float, port: int = 0) -> Iterator[LiveDemo]:
    """`castell serve` on a store that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="castell-demo-") as folder:
        path, store = Path(folder) / "study.toml", Path(folder) / "study.sqlite"
        path.write_text(to_toml(SCHEMA, name="health", epsilon=epsilon), encoding="utf-8")
        words = ["serve", str(path), "--port", str(port), "--rate", "0", "--bulk", str(BULK)]
        words += ["--release-every", "0"]  # nobody is real, and everybody wants to see it at once
        # A session of its own: Ctrl-C is for this process, which then ends the other in good order.
        said = Path(folder) / "said.txt"
        with said.open("w", encoding="utf-8") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "castell", *words, "--json"],
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                start_new_session=True,
            )
        try:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                reason = said.read_text(encoding="utf-8").strip().removeprefix("castell: ")
                raise StoreError("the collector did not start", reason or "try again")
            told = json.loads(line)
            yield LiveDemo(Study.load(path), told["address"], told["token"], store, process)
        finally:
            process.terminate()
            process.communicate()  # waits, and closes what it said


def fill(demo: LiveDemo, people: int, progress: Progress, seed: int = 1) -> int:
    """Everybody makes a report and sends it; returns how many the collector has stored."""
    answers = health_survey(people, seed)
    everyone = zip(*answers.values(), strict=True)
    reports = (_device(demo.study, dict(zip(answers, one, strict=True))) for one in everyone)
    stored = 0
    for report in islice(reports, ONE_BY_ONE):
        send_report(report, f"{demo.address}/reports")
        stored += 1
    with httpx.Client(base_url=demo.address, timeout=60, trust_env=False) as http:
        while part := list(islice(reports, BULK)):
            documents = [{"id": report.id, "codes": report.codes} for report in part]
            body = {"study": demo.study.digest, "reports": documents}
            answer = http.post("/reports/bulk", json=body)
            if answer.status_code != 201:
                raise StoreError(f"the collector refused a report ({answer.text})", "try again")
            stored += answer.json()["stored"]
            progress(stored / people)
    return stored


def _device(study: Study, answers: dict[str, object]) -> Report:
    """What a person's device does, with a secret key of its own."""
    return make_report(study, answers, secrets.token_bytes(32))


def run_live(
    people: int, epsilon: float, port: int, *, browser: bool, stay: bool, as_json: bool
) -> None:
    """What `castell demo --serve` does: start, open, fill, and stay until interrupted."""
    with _ending_in_good_order(), collecting(epsilon=epsilon, port=port) as demo:
        if browser:
            # Before the reports come, so that they can be seen coming.
            webbrowser.open(demo.results)
        if not as_json:
            print(f"survey   {demo.survey}\nresults  {demo.results}", flush=True)
        with progress_bar("sending reports", quiet=as_json) as tell:
            stored = fill(demo, people, tell)
        if as_json:
            told = {"survey": demo.survey, "results": demo.results, "token": demo.token}
            print(json.dumps({**told, "reports": stored}), flush=True)
        else:
            print(f"{stored:,} generated people have sent their reports.", flush=True)
        if stay:
            if not as_json:
                print("Ctrl-C ends the collector and forgets its reports.", flush=True)
            _stay(demo)


@contextmanager
def _ending_in_good_order() -> Iterator[None]:
    """Being told to end, by a service manager or a closed terminal, ends the collector as well."""

    def end(number: int, frame: object) -> None:
        del frame
        sys.exit(128 + number)

    signals = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = [signal.signal(one, end) for one in signals]
    try:
        yield
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)


def _stay(demo: LiveDemo) -> None:
    """Until somebody interrupts, or the collector ends by itself."""
    try:
        demo.process.wait()
    except KeyboardInterrupt:
        return
    raise StoreError("the collector has ended", "start the demo again")
