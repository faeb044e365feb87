"""When reports are taken: hours, a pause, and a clock that jumps, which can only close."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from castell.collector.opening_hours import LONGEST, PAUSE, Opening, Phase
from castell.collector.store import Refusal, Store, Submission, open_store
from castell.collector.store.invitations import new_invitation
from castell.collector.store_copies import backup, restore
from castell.device.client import Client
from castell.errors import SendError
from castell.study.collection_table import OpeningHours
from tests.collector.process import collecting
from tests.collector.respondents import LOGGED_IN, STUDY, bulk, collector, pair, report
from tests.collector.test_commands import call, castell, fails

NOW = datetime(2026, 12, 1, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
EARLY = OpeningHours(opens=datetime.now(UTC) + HOUR)
OVER = OpeningHours(closes=datetime.now(UTC) - HOUR)


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now.timestamp()


# -- the rules -----------------------------------------------------------------------------------


def test_a_collection_opens_and_closes() -> None:
    clock = Clock()
    opening = Opening(OpeningHours(NOW + HOUR, NOW + 3 * HOUR), clock)
    for hours, phase in ((0, Phase.NOT_OPEN_YET), (1, Phase.OPEN), (2, Phase.OPEN)):
        clock.now = NOW + hours * HOUR
        assert opening.phase() is phase
    assert opening.phase(paused=True) is Phase.PAUSED
    clock.now = NOW + 3 * HOUR
    assert opening.phase() is opening.phase(paused=True) is Phase.CLOSED
    assert Opening(OpeningHours(), clock).phase() is Phase.OPEN


def test_a_clock_that_goes_back_opens_nothing(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    opening = Opening(OpeningHours(NOW - HOUR, NOW + HOUR), clock)
    clock.now = NOW + 2 * HOUR
    assert opening.phase() is Phase.CLOSED
    for jump in (NOW, NOW - 2 * HOUR, datetime(1970, 1, 1, tzinfo=UTC)):
        clock.now = jump
        assert opening.phase() is Phase.CLOSED
    assert caplog.text.count("start the collector again") == 1


def test_a_jump_to_before_the_beginning_closes_and_no_jump_stays_open() -> None:
    clock = Clock()
    opening = Opening(OpeningHours(opens=NOW), clock)
    assert opening.phase() is Phase.OPEN
    clock.now = datetime(1970, 1, 1, tzinfo=UTC)
    assert opening.phase() is Phase.NOT_OPEN_YET
    clock.now = NOW
    assert opening.phase() is Phase.OPEN


def test_who_comes_too_early_is_told_when_to_come_back() -> None:
    clock = Clock()
    opening = Opening(OpeningHours(opens=NOW + HOUR), clock)
    assert opening.refusal(opening.phase()).seconds == 3600
    clock.now = NOW - timedelta(days=30)
    assert opening.refusal(opening.phase()).seconds == LONGEST
    assert opening.refusal(Phase.PAUSED).seconds == PAUSE
    assert opening.refusal(Phase.CLOSED).seconds is None


# -- over HTTP -----------------------------------------------------------------------------------


def refused(client: TestClient, path: str, body: Any) -> tuple[int, str, str | None]:
    answer = client.post(path, json=body)
    assert set(answer.json()) == {"error", "remedy", "state"}
    return answer.status_code, answer.json()["state"], answer.headers.get("retry-after")


@pytest.mark.parametrize(
    ("hours", "status", "state"), [(EARLY, 503, "not_open_yet"), (OVER, 403, "closed")]
)
def test_outside_the_hours_nothing_is_taken(
    tmp_path: Path, hours: OpeningHours, status: int, state: str
) -> None:
    with collector(tmp_path / "store.sqlite", hours=hours, minimum=1) as client:
        for path, body in (("/reports", report()), ("/reports/bulk", bulk(200))):
            found = refused(client, path, body)
            assert found[:2] == (status, state)
            assert (found[2] is None) == (status == 403)
        told = client.get("/collector.json").json()
        assert told["state"] == state
        assert told["opens"] == (hours.opens.isoformat() if hours.opens else None)
        assert told["closes"] == (hours.closes.isoformat() if hours.closes else None)
        metrics = client.get("/metrics", headers=LOGGED_IN).text
        assert f'castell_refused_total{{reason="{state}"}} 2' in metrics
    with closing(open_store(tmp_path / "store.sqlite")) as store:
        assert store.count() == 0


def test_a_report_that_is_there_is_acknowledged_after_the_end(tmp_path: Path) -> None:
    """Whoever heard no answer asks again, and must not be told that it was not kept."""
    path, sent, many = tmp_path / "store.sqlite", report(), bulk(100)
    with collector(path) as client:
        assert client.post("/reports", json=sent).status_code == 201
        assert client.post("/reports/bulk", json=many).status_code == 201
    with collector(path, hours=OVER, minimum=1) as client:
        assert client.post("/reports", json=sent).status_code == 200
        assert client.post("/reports/bulk", json=many).json() == {"stored": 0, "repeated": 100}
        mixed = {**many, "reports": [*many["reports"], bulk(1)["reports"][0]]}
        assert refused(client, "/reports/bulk", mixed)[0] == 403
        # The results stay.
        asked = "/results/api/estimate?attributes=sex&method=castell"
        assert client.get(asked, headers=LOGGED_IN).json()["n"] == 101


def test_a_report_that_is_refused_uses_no_invitation(store: Store) -> None:
    code = new_invitation()
    store.invite([code])
    one = Submission((pair(),), code)
    assert store.add([one._replace(in_hours=False)])[0].refusal is Refusal.CLOSED
    store.pause(True)
    assert store.add([one])[0].refusal is Refusal.PAUSED
    assert store.is_unused(code)
    store.pause(False)
    assert store.add([one])[0].stored == 1
    assert not store.is_unused(code)


def test_a_pause_holds_for_every_collector_of_a_store(place: str) -> None:
    """From the moment that `pause` returns, one by one and in bulk, and for those already open."""
    with closing(open_store(place, STUDY)) as ours, closing(open_store(place)) as theirs:
        known = [Submission((pair(),)) for _ in range(64)]
        assert all(outcome.stored for outcome in ours.add(known))
        assert not ours.rules().paused
        theirs.pause(True)
        assert ours.rules().paused
        for sent in ([Submission((pair(),))], [Submission(tuple(pair() for _ in range(200)))]):
            assert ours.add(sent)[0].refusal is Refusal.PAUSED
        assert ours.add(known)[0].repeated == 1
        theirs.pause(False)
        assert ours.add([Submission((pair(),))])[0].stored == 1
        assert ours.count() == 65


def test_a_paused_collector_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with collector(path) as client, closing(open_store(path)) as owner:
        assert client.get("/collector.json").json()["state"] == "open"
        owner.pause(True)
        assert client.get("/collector.json").json()["state"] == "paused"
        assert refused(client, "/reports", report()) == (503, "paused", str(PAUSE))
        assert client.get("/healthz").status_code == 200
        owner.pause(False)
        assert client.post("/reports", json=report()).status_code == 201


def test_a_backup_of_a_paused_study_is_paused(place: str, tmp_path: Path) -> None:
    with closing(open_store(place, STUDY)) as store:
        store.add([Submission((pair(),))])
        store.pause(True)
    backup(place, tmp_path / "backup.sqlite")
    restore(tmp_path / "backup.sqlite", str(tmp_path / "restored.sqlite"))
    with closing(open_store(tmp_path / "restored.sqlite")) as restored:
        assert restored.rules().paused


# -- the command line and a device ---------------------------------------------------------------


def test_pause_and_resume_while_it_runs(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text(STUDY.to_json(), encoding="utf-8")
    store = tmp_path / "study.sqlite"
    with collecting(tmp_path, "--port", "0") as made:
        url = f"{made.told['address']}/reports"
        assert call(url, report())[0] == 201
        assert castell("pause", store).startswith("paused")
        assert call(url, report())[0] == 503
        assert castell("pause", store, "--json") == '{"paused": true, "was": true}\n'
        assert castell("resume", store).startswith("resumed")
        assert call(url, report())[0] == 201
        assert castell("resume", store) == "it was not paused\n"
    assert "there is no store" in fails("pause", tmp_path / "other.sqlite")


def test_hours_on_the_command_line(tmp_path: Path) -> None:
    study = tmp_path / "study.json"
    study.write_text(STUDY.to_json(), encoding="utf-8")
    assert "--opens has no time zone" in fails("serve", study, "--opens", "2026-12-01T08:00:00")
    assert not (tmp_path / "study.sqlite").exists()
    with collecting(tmp_path, "--port", "0", "--closes", "2020-01-01T00:00:00Z") as made:
        assert call(f"{made.told['address']}/reports", report())[0] == 403


ANSWERS = {"sex": "Male", "smokes": "now", "health": "fair", "town": "town 7"}


def test_a_device_spends_nothing_on_a_collection_that_is_not_open(tmp_path: Path) -> None:
    (tmp_path / "study.json").write_text(STUDY.to_json(), encoding="utf-8")
    with collecting(tmp_path, "--port", "0") as made:
        castell("pause", tmp_path / "study.sqlite")
        client = Client(made.told["address"], folder=tmp_path / "device")
        drawn = client.make(ANSWERS)
        with pytest.raises(SendError, match=r"paused.*nothing is spent"):
            client.send(drawn)
        # On the command line before anything is asked.
        assert "is paused" in fails("send", made.told["address"], "--folder", tmp_path / "device")
        assert client.ledger() == []
        castell("resume", tmp_path / "study.sqlite")
        assert client.send(drawn)
        assert [entry.state for entry in client.ledger()] == ["arrived"]


def test_a_report_that_was_handed_over_waits_for_the_end_of_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pause begins between the look and the report: nothing is lost, the same report stands."""
    (tmp_path / "study.json").write_text(STUDY.to_json(), encoding="utf-8")
    with collecting(tmp_path, "--port", "0") as made:
        castell("pause", tmp_path / "study.sqlite")
        client = Client(made.told["address"], folder=tmp_path / "device")
        drawn = client.make(ANSWERS)
        monkeypatch.setattr("castell.device.client.check_open", lambda _, **__: None)
        waits: list[float] = []
        with pytest.raises(SendError, match="paused") as caught:
            client.send(drawn, pause=waits.append)
        assert not caught.value.final
        assert waits == []
        assert client.waiting() is not None
        assert client.make({**ANSWERS, "smokes": "never"}).codes == drawn.codes
        castell("resume", tmp_path / "study.sqlite")
        assert client.send(client.make(ANSWERS))
    with closing(open_store(tmp_path / "study.sqlite")) as store:
        assert store.count() == 1
