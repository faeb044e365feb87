"""An invitation can be asked about before a report leaves with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from castell.collector.store import open_store
from castell.device.client import Client
from castell.errors import SendError
from tests.collecting import TELEMETRY, collecting
from tests.collector.respondents import STUDY, collector, report

GOOD, BAD = "a" * 20, "b" * 20


def test_asking_uses_nothing_up_and_a_report_does(tmp_path: Path) -> None:
    store = open_store(tmp_path / "reports.sqlite", STUDY)
    store.invite([GOOD])
    with collector(store) as client:
        for _ in range(2):
            assert client.post("/invitations", json={"invitation": GOOD}).status_code == 200
        refused = client.post("/invitations", json={"invitation": BAD})
        assert refused.status_code == 403
        assert refused.json()["error"] == "the invitation is not known or was used already"
        assert client.post("/reports", json=report(invitation=GOOD)).status_code == 201
        assert client.post("/invitations", json={"invitation": GOOD}).status_code == 403


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 422),
        (b"{}", 422),
        (b'{"invitation": "short"}', 422),
        (b'{"invitation": "aaaaaaaaaaaaaaaaaaaa\\n"}', 422),
        (b'{"invitation": "aaaaaaaaaaaaaaaaaaaa", "codes": [1]}', 422),
        (b" " * 300, 413),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, body: bytes, status: int) -> None:
    with collector(tmp_path / "reports.sqlite") as client:
        headers = {"content-type": "application/json"}
        assert client.post("/invitations", content=body, headers=headers).status_code == status


def test_guessing_is_limited_like_sending(tmp_path: Path) -> None:
    with collector(tmp_path / "reports.sqlite", rate=1.0, burst=3) as client:
        asked = [client.post("/invitations", json={"invitation": BAD}) for _ in range(5)]
    assert [answer.status_code for answer in asked] == [403, 403, 403, 429, 429]


def test_a_mistyped_invitation_costs_a_device_nothing(tmp_path: Path) -> None:
    answers = {"os": "mac", "crashes": "none"}
    with collecting(TELEMETRY, tmp_path) as running:
        program = str(Path(sys.executable).with_name("castell"))
        invite = [program, "invite", str(running.store.with_suffix(".toml")), "1"]
        code = subprocess.run(invite, capture_output=True, text=True, check=True).stdout.strip()
        client = Client(running.url, folder=tmp_path / "device")
        with pytest.raises(SendError, match="nothing was sent and nothing is spent"):
            client.send(client.make(answers, BAD))
        with pytest.raises(SendError, match="each report needs an invitation: give the code"):
            client.send(client.make(answers))
        assert client.ledger() == []
        assert client.entry is None
        assert client.send(client.make(answers, code))
        assert len(running.codes()) == 1
