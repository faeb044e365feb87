"""An acknowledged report survives kill -9 and is counted once. `make soak` runs more of it."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest

from castell.collector.store import StoreError, open_store
from castell.study.later_stages import next_stage
from tests.collector import killing
from tests.collector.respondents import STUDY
from tests.staged_studies import FIRST, SECOND

SOAK = int(os.environ.get("CASTELL_SOAK", "1"))


def check(verdict: killing.Verdict) -> None:
    assert verdict.lost == 0
    assert verdict.changed == 0
    assert verdict.unasked == 0
    # Reports whose answer was cut off may be there or not; nothing else may.
    assert verdict.held >= verdict.promised
    # The run was worth its name.
    assert verdict.cut_off > 0
    assert verdict.repeats > 0


@pytest.mark.parametrize("seed", range(SOAK))
def test_twenty_kills_lose_nothing_and_count_nothing_twice(tmp_path: Path, seed: int) -> None:
    check(killing.run(tmp_path, STUDY, kills=20, clients=32, seed=seed))
    for path in tmp_path.iterdir():
        assert killing.AGENT.encode() not in path.read_bytes(), path


def test_kills_with_postgresql(tmp_path: Path, database: str) -> None:
    kills = 3 if SOAK == 1 else 20
    check(killing.run(tmp_path, STUDY, kills=kills, clients=32, store=database))


def test_kills_with_invitations(tmp_path: Path) -> None:
    kills = 5 if SOAK == 1 else 20
    verdict = killing.run(tmp_path, STUDY, kills=kills, clients=32, invitations=20_000)
    check(verdict)
    assert verdict.used == verdict.held


def test_kills_with_invitations_and_postgresql(tmp_path: Path, database: str) -> None:
    kills = 3 if SOAK == 1 else 20
    verdict = killing.run(
        tmp_path, STUDY, kills=kills, clients=32, invitations=20_000, store=database
    )
    check(verdict)
    assert verdict.used == verdict.held


def test_a_store_that_answers_early_is_caught(tmp_path: Path) -> None:
    broken = (sys.executable, "-m", "tests.collector.broken", "early")
    assert killing.run(tmp_path, STUDY, kills=3, clients=32, run=broken).lost > 0


def test_a_store_that_counts_twice_is_caught(tmp_path: Path) -> None:
    broken = (sys.executable, "-m", "tests.collector.broken", "twice")
    verdict = killing.run(tmp_path, STUDY, kills=1, clients=8, run=broken)
    assert verdict.unasked > 0
    assert verdict.held > verdict.promised


def check_stages(folder: Path, place: str | Path, kills: int, store: str | None = None) -> None:
    """Reports go on under the first stage's digest; whoever publishes does so between the kills."""
    published = threading.Event()

    def publish() -> None:
        for stage in (SECOND, next_stage(SECOND, FIRST.design)):
            while not published.wait(0.3):
                with suppress(StoreError), closing(open_store(place)) as opened:
                    if opened.count() > 100 * len(opened.stages):
                        opened.publish(stage)
                        break

    publisher = threading.Thread(target=publish)
    publisher.start()
    try:
        check(killing.run(folder, FIRST, kills=kills, clients=16, store=store))
    finally:
        published.set()
        publisher.join()
    with closing(open_store(place, FIRST)) as opened:
        assert len(opened.stages) == 3
        assert {batch.stage for batch in opened.dated_batches()} == {FIRST}


def test_kills_while_stages_are_published(tmp_path: Path) -> None:
    check_stages(tmp_path, tmp_path / "study.sqlite", kills=6)


def test_kills_while_stages_are_published_in_postgresql(tmp_path: Path, database: str) -> None:
    check_stages(tmp_path, database, kills=6, store=database)
