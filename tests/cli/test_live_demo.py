"""`castell demo --serve`: the real collector, filled over HTTP, and gone afterwards."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import webbrowser
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy as np
import pytest

from castell import CastellError, estimate, tabulate
from castell.cli import live_demo as livedemo
from castell.cli.live_demo import BULK, ONE_BY_ONE, collecting, fill, run_live
from castell.collector.store import open_store, reports_of
from castell.population import SCHEMA, health_survey

PEOPLE = ONE_BY_ONE + BULK + 25


def _get(address: str, token: str) -> httpx.Response:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.get(f"{address}/results/api/overview", headers=headers, trust_env=False)


def test_everybodys_report_is_in_the_store_once_and_then_everything_is_gone() -> None:
    told: list[float] = []
    with collecting(epsilon=30.0) as demo:
        assert fill(demo, PEOPLE, told.append) == PEOPLE
        overview = _get(demo.address, demo.token).json()
        assert overview["n"] == PEOPLE
        assert overview["secure"] is True
        store = open_store(demo.store, demo.study)
        (reports,) = reports_of(store)
        store.close()
    assert told[-1] == 1.0
    assert told == sorted(told)
    assert not demo.store.parent.exists()
    with pytest.raises(httpx.ConnectError):
        _get(demo.address, demo.token)
    # At so large an epsilon next to nothing is randomised: these are the people's own answers.
    joint = estimate(reports, ["smokes", "health"], "castell")
    truth = tabulate(SCHEMA, health_survey(PEOPLE), ["smokes", "health"])
    assert np.abs(joint.probabilities - truth).max() < 0.05


def test_the_link_has_the_token_behind_the_hash() -> None:
    with collecting(epsilon=6.0) as demo:
        link = urlsplit(demo.results)
        asked = parse_qs(link.fragment)
        assert (link.path, link.query) == ("/results", "")
        assert asked == {"token": [demo.token], "attributes": ["smokes", "health"]}
        assert httpx.get(demo.survey, trust_env=False).status_code == 200


def test_a_collector_that_cannot_start_says_why() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(CastellError, match=f"did not start: cannot listen at .*:{port}"),
            collecting(epsilon=6.0, port=port),
        ):
            pass


def test_a_refused_report_ends_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting(epsilon=6.0) as demo:
        # More at once than the collector was started to take.
        monkeypatch.setattr(livedemo, "BULK", BULK + 200)
        with pytest.raises(CastellError, match="refused a report"):
            fill(demo, ONE_BY_ONE + BULK + 200, lambda _: None)


def test_the_browser_opens_the_results_and_only_if_wanted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    run_live(120, 6.0, 0, browser=True, stay=False, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert opened == [told["results"]]
    assert told["reports"] == 120
    run_live(120, 6.0, 0, browser=False, stay=False, as_json=False)
    shown = capsys.readouterr().out
    assert len(opened) == 1
    assert "/results#token=" in shown
    assert "120 generated people have sent their reports" in shown


@pytest.mark.parametrize(
    ("told_to", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_it_stays_until_told_to_end(told_to: signal.Signals, code: int) -> None:
    command = [sys.executable, "-m", "castell", "demo", "--serve"]
    command += ["--reports", "130", "--no-open", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        address = told["survey"].rstrip("/")
        assert _get(address, told["token"]).json()["n"] == 130
        assert process.poll() is None
        process.send_signal(told_to)
        assert process.wait(30) == code
    with pytest.raises(httpx.ConnectError):
        _get(address, told["token"])


def test_it_ends_with_its_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[livedemo.LiveDemo] = []

    def filled(demo: livedemo.LiveDemo, *_: object) -> int:
        found.append(demo)
        demo.process.terminate()
        return 0

    monkeypatch.setattr(livedemo, "fill", filled)
    with pytest.raises(CastellError, match="the collector has ended"):
        run_live(1, 6.0, 0, browser=False, stay=True, as_json=True)
    assert found[0].process.returncode is not None
