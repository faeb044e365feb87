"""castell send, against a real collector."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.collecting import GOOD, TELEMETRY, collecting, scripted


def castell(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("castell")), "send", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CASTELL_HOME": str(home)},
    )


def test_castell_send(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with collecting(TELEMETRY, tmp_path) as running:
        shown = castell(running.url, "os=mac", "crashes=none", "--dry-run", home=home)
        assert shown.returncode == 0, shown.stderr
        assert "nothing was sent" in shown.stdout
        assert running.codes() == []
        for _ in range(3):
            sent = castell(running.url, "os=mac", "crashes=none", "--json", home=home)
            assert sent.returncode == 0, sent.stderr
        told = json.loads(sent.stdout)
        assert running.codes() == [tuple(told["report"]["codes"])] * 3
        assert str(told["report"]["codes"]) in shown.stdout.replace(",", ", ")
        assert told["spent_if_same"] == pytest.approx(running.study.epsilon)
        assert told["spent_at_most"] == pytest.approx(3 * running.study.epsilon)
        plain = castell(running.url, "os=linux", "crashes=none", home=home)
        assert "leaves this device: {" in plain.stdout
        assert "stored. Spent on this study: 2 if the answers were always the same" in plain.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "this device is asked for os=..., crashes=..."),
        (["os"], "'os' is not name=value"),
        (["os=mac", "os=mac"], "'os' is answered twice"),
        (["os=macc", "crashes=none"], "did you mean 'mac'"),
        (["os=mac", "crashes=none", "--limit", "1"], "the limit is 1, so it was not sent"),
        (["os=mac", "crashes=none", "--limit", "nan"], "give a number above 0"),
        (["os=mac", "crashes=none", "--invitation", "abc"], "'abc' is no invitation"),
    ],
)
def test_castell_send_refuses_in_one_line(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    with scripted(GOOD) as collector:
        ran = castell(collector.url, *arguments, home=tmp_path)
    assert ran.returncode == 1
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert collector.bodies == []
