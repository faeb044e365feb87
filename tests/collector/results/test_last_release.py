"""What is shown when a study has ended: the analyst who sends reports of their own plays the end.

The attack: have everything but one person's report in the release before, and see the difference.
An end that comes soon after a release, or an opening shortly before one, would hand that over.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from castell.collector import app
from castell.collector.opening_hours import Opening
from castell.collector.results import worker
from castell.collector.results.release import SETTLING, Schedule
from castell.collector.store import Submission, open_store
from castell.study.collection_table import OpeningHours
from tests.collector.respondents import LOGGED_IN, collector, pair
from tests.collector.results.test_release import DAY, HOUR, START, Analyst, Codes, honest

HALF_AN_HOUR = HOUR // 2


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [float(START)]
    monkeypatch.setattr(time, "time", lambda: now[0])
    monkeypatch.setattr(app, "Opening", partial(Opening, clock=lambda: now[0]))
    return now


def ending(
    path: Path, closes: int, opens: int | None = None, **changes: Any
) -> AbstractContextManager[TestClient]:
    """A collector with a release each day that takes no reports after so many seconds."""
    first, last = (
        None if after is None else datetime.fromtimestamp(START + after, UTC)
        for after in (opens, closes)
    )
    hours = OpeningHours(first, last)
    return collector(path / "s.sqlite", **{"release_hours": 24, "hours": hours, **changes})


def overview(client: TestClient) -> Any:
    return client.get("/results/api/overview", headers=LOGGED_IN).json()


def total(analyst: Analyst) -> int:
    return sum(analyst.download().values())


def test_who_answers_in_the_last_half_hour_is_not_alone(tmp_path: Path, clock: list[float]) -> None:
    """It closes half an hour after a release could come, and the analyst fills every minimum."""
    with ending(tmp_path, closes=3 * DAY + HALF_AN_HOUR) as client:
        analyst, people = Analyst(client), list[Codes]()
        for day in range(3):
            analyst.send(100)
            people += [honest(client) for _ in range(5)]
            clock[0] = START + (day + 1) * DAY
            analyst.download()
        before = analyst.download()
        person = honest(client)  # in the last half hour
        analyst.send(100)
        clock[0] = START + 5 * DAY
        found = analyst.others(before)
        assert found == Counter([*people[-5:], person])  # one of all that came on the last day
        assert overview(client)["over"] is True


def test_who_answers_right_after_the_opening_is_not_alone(
    tmp_path: Path, clock: list[float]
) -> None:
    clock[0] = START + DAY - HALF_AN_HOUR
    with ending(tmp_path, opens=DAY - HALF_AN_HOUR, closes=9 * DAY) as client:
        analyst = Analyst(client)
        people = [honest(client)]
        analyst.send(100)
        clock[0] = START + DAY + HOUR
        assert not analyst.download()
        assert overview(client)["next_release"] == "2026-01-03T00:00:00Z"
        people += [honest(client) for _ in range(5)]
        clock[0] = START + 2 * DAY
        assert analyst.others(Counter()) == Counter(people)


def test_the_last_reports_come_out_together_if_they_are_enough(
    tmp_path: Path, clock: list[float]
) -> None:
    with ending(tmp_path, closes=2 * DAY + HALF_AN_HOUR) as client:
        analyst = Analyst(client)
        seen = []
        for number in (150, 60, 40):
            analyst.send(number)
            clock[0] += DAY if number > 40 else HOUR
            seen.append(total(analyst))
        assert seen == [150, 150, 150]
        assert overview(client)["next_release"] == "2026-01-04T00:00:00Z"
        clock[0] = START + 3 * DAY
        assert total(analyst) == 250
        told = overview(client)
        assert (told["over"], told["next_release"], told["n"]) == (True, None, 250)


def test_the_last_reports_are_not_shown_if_they_are_few(tmp_path: Path, clock: list[float]) -> None:
    """No later report can hide them: whoever saw the release before would see them alone."""
    with ending(tmp_path, closes=10 * DAY) as client:
        analyst = Analyst(client)
        analyst.send(150)
        clock[0] += 2 * DAY
        before = analyst.download()
        person = honest(client)
        for day in range(3, 15):
            clock[0] = START + day * DAY
            assert analyst.download() == before
        assert person not in analyst.others(before)
        told = overview(client)
        assert (told["over"], told["n"]) == (True, 150)  # not even that somebody came


def test_a_collector_that_starts_anew_after_the_end_shows_the_same(
    tmp_path: Path, clock: list[float]
) -> None:
    closes = 3 * DAY + HALF_AN_HOUR
    with ending(tmp_path, closes=closes) as client:
        analyst = Analyst(client)
        for _ in range(3):
            analyst.send(120)
            clock[0] += DAY
        clock[0] = START + 4 * DAY
        last = analyst.download()
        assert sum(last.values()) == 360
    for later in (4 * DAY, 40 * DAY):
        clock[0] = START + later
        with ending(tmp_path, closes=closes) as client:
            assert Analyst(client).download() == last


def test_too_few_in_all_are_never_shown_and_the_page_says_who_can_read_them(
    tmp_path: Path, clock: list[float]
) -> None:
    with ending(tmp_path, closes=DAY) as client:
        Analyst(client).send(99)
        clock[0] = START + 5 * DAY
        assert (overview(client)["ready"], overview(client)["over"]) == (False, True)
        said = client.get("/results/api/estimate?attributes=sex", headers=LOGGED_IN)
        assert said.status_code == 409
        assert "castell estimate" in said.json()["remedy"]
        assert "look again" not in said.json()["remedy"]
    with closing(open_store(tmp_path / "s.sqlite")) as store:
        assert store.count() == 99


def test_a_report_that_is_written_a_moment_after_the_end_is_in_the_last_release(
    tmp_path: Path, clock: list[float]
) -> None:
    """It came in time; the disk took a second. Those that wait with it get its hour."""
    with ending(tmp_path, closes=DAY) as client:
        analyst = Analyst(client)
        clock[0] = START + DAY - 1
        analyst.send(119)
        clock[0] = START + DAY
        with closing(open_store(tmp_path / "s.sqlite")) as store:
            store.add([Submission((pair(),))])
        assert overview(client)["over"] is False
        clock[0] = START + DAY + HOUR
        assert total(analyst) == 120


def test_results_that_move_as_reports_come_are_complete_at_the_end(
    tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is promised of them, so the last few need not wait for a step that never fills."""
    monkeypatch.setattr(worker, "SHARE", inf)
    with ending(tmp_path, closes=DAY, release_hours=0) as client:
        analyst = Analyst(client)
        analyst.send(100)
        assert total(analyst) == 100
        analyst.send(3)
        assert total(analyst) == 100
        clock[0] = START + DAY
        assert total(analyst) == 103
        assert overview(client)["over"] is True


# -- the schedule ----------------------------------------------------------------------------------


def test_no_release_covers_less_than_a_period_of_collecting() -> None:
    """Whatever the period, the opening and the end are: a thousand of each, drawn."""
    draw = np.random.default_rng(20261116)
    for _ in range(1000):
        hours = int(draw.integers(1, 49))
        opens = int(draw.integers(0, 30 * DAY))
        closes = opens + int(draw.integers(1, 30 * DAY))
        schedule = Schedule(hours, opens, closes)
        moments, now = [], 0
        while (due := schedule.next(now)) is not None:
            moments.append(due)
            now = due
        assert all(schedule.last(moment) == moment for moment in moments)
        assert moments[-1] == schedule.final >= closes + SETTLING
        ends = [opens, *moments[:-1], closes]
        covered = np.diff(ends)
        # One release holds all of a study that is shorter than that.
        assert len(moments) == 1 or min(covered) >= hours * HOUR


def test_each_release_brings_the_minimum_or_does_not_come() -> None:
    draw = np.random.default_rng(7)
    for _ in range(200):
        schedule = Schedule(int(draw.integers(1, 49)), 0, float(draw.integers(1, 20 * DAY)))
        filed = np.sort(draw.integers(0, int(schedule.closes / HOUR) + 1, size=400)) * HOUR
        minimum = int(draw.integers(1, 150))
        seen = [schedule.count_released(filed, minimum, hour * HOUR) for hour in range(24 * 25)]
        steps = np.diff([0, *seen])
        assert set(steps[steps > 0] >= minimum) <= {True}
        assert len(filed) - seen[-1] < minimum
