"""An analyst who sends reports of their own and downloads isolates nobody; and when results move.

The attack is the one that worked: download, wait for the person, send own reports until the
results move, download again, take the own ones out of the difference.
"""

from __future__ import annotations

import io
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from castell.collector.results import worker
from castell.collector.results.dated_reports import DatedReports, read_store
from castell.collector.results.release import Schedule
from castell.collector.store import Snapshot, Store, Submission, open_store
from castell.collector.store.invitations import new_invitation
from castell.collector.store.store import Rules
from castell.errors import OptionError
from tests.collector.respondents import (
    LOGGED_IN,
    PACKING,
    STUDY,
    WIDTHS,
    codes,
    collector,
    item,
    report,
    settings,
)

HOUR, DAY = 3600, 86_400
START = 1_767_225_600  # midnight, UTC
PEOPLE = 15
TRIES = 12  # a step is 10
# An analyst's reports are from the other half of the towns: none is taken for an honest one.
OWN_TOWNS = WIDTHS[-1] // 2
Codes = tuple[int, ...]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [float(START)]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now


class Analyst:
    """Has the token, and a device that sends as many reports as it likes."""

    def __init__(self, client: TestClient, invitations: list[str] | None = None) -> None:
        self.client, self.own = client, Counter[Codes]()
        self.invitations = invitations

    def download(self) -> Counter[Codes]:
        asked = "/results/api/download?attributes=health&method=independent&format=reports"
        said = self.client.get(asked, headers=LOGGED_IN)
        if said.status_code == 409:
            return Counter()
        columns = pq.read_table(io.BytesIO(said.content)).to_pydict().values()
        return Counter(zip(*columns, strict=True))

    def send(self, number: int = 1) -> None:
        sent = [item() for _ in range(number)]
        for one in sent:
            one["codes"][-1] = one["codes"][-1] % OWN_TOWNS + OWN_TOWNS
            more = {} if self.invitations is None else {"invitation": self.invitations.pop()}
            document = {"study": STUDY.digest, **one, **more}
            assert self.client.post("/reports", json=document).status_code == 201
            self.own[tuple(one["codes"])] += 1

    def others(self, before: Counter[Codes]) -> Counter[Codes]:
        """Reports that are new and not the analyst's own."""
        return self.download() - before - self.own


def isolated(analyst: Analyst, answers: Callable[[], Codes]) -> int:
    """How many of the people the analyst tells the report of."""
    right = 0
    for _ in range(PEOPLE):
        before = analyst.download() - analyst.own
        person = answers()
        for _ in range(TRIES):
            if found := analyst.others(before):
                break
            analyst.send()
        right += list(found.elements()) == [person]
    return right


def honest(client: TestClient) -> Codes:
    document = report()
    document["codes"][-1] %= OWN_TOWNS
    assert client.post("/reports", json=document).status_code == 201
    return tuple(document["codes"])


def test_as_reports_come_everybody_can_be_isolated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What releases are there to prevent; if this fails the attack is not worth its name."""
    monkeypatch.setattr(worker, "SHARE", inf)  # an analyst who waits long enough
    with collector(tmp_path / "s.sqlite", release_hours=0) as client:
        analyst = Analyst(client)
        analyst.send(100)
        assert isolated(analyst, lambda: honest(client)) == PEOPLE


def test_an_analyst_who_sends_reports_isolates_nobody(tmp_path: Path, clock: list[float]) -> None:
    with collector(tmp_path / "s.sqlite", release_hours=24) as client:
        analyst = Analyst(client)
        analyst.send(100)
        clock[0] += DAY
        before = analyst.download()
        assert before == analyst.own
        people: list[Codes] = []

        def answers() -> Codes:
            clock[0] += HOUR
            people.append(honest(client))
            return people[-1]

        # An analyst can fill any number of steps, at any time of the day.
        assert isolated(analyst, answers) == 0
        analyst.send(100)
        clock[0] += DAY
        # All who answered on that day come together. Which of them is whose is a guess of 1 in 15.
        assert analyst.others(before) == Counter(people)


def test_the_first_release_waits_for_the_clock_too(tmp_path: Path, clock: list[float]) -> None:
    with collector(tmp_path / "s.sqlite", release_hours=24) as client:
        analyst = Analyst(client)
        honest(client)
        analyst.send(99)
        assert not analyst.download()
        told = client.get("/results/api/overview", headers=LOGGED_IN).json()
        assert (told["ready"], told["n"]) == (False, 0)  # not even that somebody came
        assert told["next_release"] == "2026-01-02T00:00:00Z"
        said = client.get("/results/api/estimate?attributes=sex", headers=LOGGED_IN)
        assert "2026-01-02T00:00:00Z" in said.json()["remedy"]
        honest(client)
        clock[0] += DAY
        assert sum(analyst.download().values()) == 101


def test_a_release_does_not_depend_on_who_asks_when(tmp_path: Path, clock: list[float]) -> None:
    """Asked late, it holds what was filed before its time, not what came until somebody asked."""
    store = open_store(tmp_path / "s.sqlite", STUDY)  # the collector closes it
    _add(store, 300)
    with collector(store, release_hours=24) as client:
        clock[0] += DAY + 12 * HOUR
        _add(store, 300)  # straight to the database; some of the first still wait
        analyst = Analyst(client)
        assert sum(analyst.download().values()) <= 300


def test_a_difference_of_two_releases_is_of_the_minimum_or_more(
    tmp_path: Path, clock: list[float]
) -> None:
    seen = []
    with collector(tmp_path / "s.sqlite", release_hours=24) as client:
        analyst = Analyst(client)
        for number in (150, 60, 39, 1, 100):
            analyst.send(number)
            clock[0] += DAY
            seen.append(sum(analyst.download().values()))
    assert seen == [150, 150, 150, 250, 350]


def test_a_new_start_does_not_make_a_release_of_its_own(tmp_path: Path, clock: list[float]) -> None:
    """What was filed since the last release counts from that one, not from nothing."""
    store = open_store(tmp_path / "s.sqlite", STUDY)
    hours = [START] * 300 + [START + DAY] * 70 + [START + 2 * DAY] * 40
    rows = [(secrets.token_bytes(16), PACKING.pack(codes()), hour) for hour in hours]
    store.load(Snapshot(iter([rows]), [], Rules(invited=False, paused=False)))
    clock[0] += 2 * DAY + HOUR
    with collector(store, release_hours=24) as client:
        assert sum(Analyst(client).download().values()) == 300
        clock[0] += DAY
        assert sum(Analyst(client).download().values()) == 410


def test_with_invitations_an_analyst_fills_as_many_places_as_they_have_codes(
    tmp_path: Path, clock: list[float]
) -> None:
    made = [new_invitation() for _ in range(200)]
    mine, theirs = made[:30], made[30:]
    store = open_store(tmp_path / "s.sqlite", STUDY)  # the collector closes it
    store.invite(made)
    with collector(store, release_hours=24) as client:
        analyst = Analyst(client, mine)
        analyst.send(30)
        for code in theirs[:69]:
            said = client.post("/reports", json=report(invitation=code))
            assert said.status_code == 201
        clock[0] += DAY
        assert not analyst.download()  # 99 of 100, and none to add
        assert client.post("/reports", json=report()).status_code == 403
        assert client.post("/reports", json=report(invitation=theirs[70])).status_code == 201
        clock[0] += DAY
        assert sum(analyst.others(Counter()).values()) == 70  # a crowd of minimum less codes


def test_a_release_stays_as_it_was_made(tmp_path: Path, clock: list[float]) -> None:
    """One more report gives all that wait in the spool its hour; they stay in the release."""
    store = open_store(tmp_path / "s.sqlite", STUDY)  # the collector closes it
    _add(store, 100)
    clock[0] += DAY
    with collector(store, release_hours=24) as client:
        assert sum(Analyst(client).download().values()) == 100
        _add(store, 1)
        assert sum(Analyst(client).download().values()) == 100


def test_releases_are_made_when_due_though_nobody_asks(
    tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = threading.Event()

    def read(store: Store) -> DatedReports:
        found = read_store(store)
        made.set()
        return found

    monkeypatch.setattr(worker, "read_store", read)
    store = open_store(tmp_path / "s.sqlite", STUDY)  # the collector closes it
    _add(store, 100)
    clock[0] += DAY
    with collector(store, release_hours=24) as client:
        assert made.wait(60)
        _add(store, 1)  # were it made now, those that wait would be left out
        assert sum(Analyst(client).download().values()) == 100


def _add(store: Store, number: int) -> None:
    for _ in range(number):
        one = item()
        key = one["id"].encode()[:16]
        store.add([Submission(((key, PACKING.pack(one["codes"])),))])


def test_hours_out_of_bounds_are_refused() -> None:
    for hours in (-1, 169):
        with pytest.raises(OptionError, match="released every"):
            settings(release_hours=hours)


def test_nothing_is_out_of_an_empty_store() -> None:
    assert Schedule(24).count_released(np.empty(0, np.int64), 1, START) == 0
