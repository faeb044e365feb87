"""Stages in a store and its collector: one study, several designs, every report once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import castell
from castell import Study
from castell.collector import correct_command, publish_changes, stage_watch, store_copies
from castell.collector.app import make_app
from castell.collector.metrics import Tally
from castell.collector.settings import Staging, State
from castell.collector.stage_planning import PlanningError, PlanningProcess, next_stage
from castell.collector.stage_watch import StageWatch
from castell.collector.store import Store, StoreError, Submission, counts_of, open_store, reports_of
from castell.collector.store.sqlite import SqliteStore
from castell.collector.store.stage_rows import StageRows
from castell.collector.store.store import report_key
from castell.collector.wire import id_bytes, new_id
from castell.counting import scan_reports, studies_of
from castell.errors import StudyError
from castell.study.later_stages import next_stage as stage_after
from tests.collector.respondents import LOGGED_IN, settings
from tests.staged_studies import FIRST, PLANNED_STUDY, SECOND, STAGED, forged, rows_of, stage_design

THIRD = stage_after(SECOND, FIRST.design)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish_changes, "LOOK_EVERY", 0.02)
    monkeypatch.setattr(stage_watch, "LOOK_EVERY", 0.02)
    monkeypatch.setattr(stage_watch, "FIRST_WAIT", 0.05)


def until(good: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not good():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def submission(study: Study, stages: tuple[Study, ...], codes: tuple[int, ...]) -> Submission:
    rows = StageRows(stages)
    key = report_key(study, id_bytes(new_id()))
    return Submission(((key, rows.pack(codes, stages.index(study))),))


def add(store: Store, study: Study, codes: Sequence[tuple[int, ...]]) -> None:
    store.add([submission(study, store.stages, code) for code in codes])


def fill(store: Store, people: int, seed: int) -> None:
    """Reports of generated people for the present stage."""
    add(store, store.study, rows_of(store.study, people, seed))


def held(store: Store) -> Counter[tuple[str, tuple[int, ...]]]:
    return Counter(
        (batch.stage.digest, row)
        for batch in store.dated_batches(step=50)
        for row in zip(*(column.tolist() for column in batch.columns), strict=True)
    )


def test_reports_of_all_stages_in_one_store(place: str, tmp_path: Path) -> None:
    wanted: Counter[tuple[str, tuple[int, ...]]] = Counter()
    with closing(open_store(place, FIRST)) as store:
        for stage in (FIRST, SECOND, THIRD):
            if stage is not FIRST:
                store.publish(stage)
            (width,) = stage.design.widths
            codes = [(i % width,) for i in range(200)]  # filed, and in the spool
            add(store, stage, codes)
            wanted.update((stage.digest, code) for code in codes)
        assert store.stages == (FIRST, SECOND, THIRD)
        # Late ones of the first stage are of the first stage.
        add(store, FIRST, [(3,), (3,)])
        wanted[FIRST.digest, (3,)] += 2
        assert held(store) == wanted
        assert store.count() == wanted.total()
        assert [len(part) for part in reports_of(store)] == [202, 200, 200]
    # Opened again, with the study of any stage; another is refused.
    for wanted_study in (FIRST, SECOND, THIRD, None):
        with closing(open_store(place, wanted_study)) as store:
            assert store.study == THIRD
            assert held(store) == wanted
            assert studies_of(counts_of(store, FIRST)) == (FIRST, SECOND, THIRD)
    with pytest.raises(StoreError, match="another study"):
        open_store(place, stage_after(SECOND, SECOND.design))
    # A backup has it all, and so has what is restored from it.
    assert store_copies.backup(place, tmp_path / "backup.sqlite") == wanted.total()
    assert store_copies.restore(tmp_path / "backup.sqlite", str(tmp_path / "again.sqlite")) == 602
    with closing(open_store(tmp_path / "again.sqlite")) as store:
        assert store.stages == (FIRST, SECOND, THIRD)
        assert held(store) == wanted
        files = store_copies.export(store, tmp_path / "reports.parquet")
    assert [path.name for path in files] == [f"reports.stage{n}.parquet" for n in (1, 2, 3)]
    assert list(files.values()) == [202, 200, 200]
    read = [
        castell.Reports.load(path, stage)
        for path, stage in zip(files, (FIRST, SECOND, THIRD), strict=True)
    ]
    assert sum(map(len, read)) == 602
    counts = scan_reports(str(tmp_path / "again.sqlite"), FIRST)
    assert counts.n == 602


def test_a_restore_into_a_database_has_the_stages(tmp_path: Path, database: str) -> None:
    with closing(open_store(tmp_path / "s.sqlite", FIRST)) as store:
        store.publish(SECOND, at=128)
        add(store, SECOND, [(1,), (2,)])
    assert store_copies.backup(str(tmp_path / "s.sqlite"), tmp_path / "backup.sqlite") == 2
    assert store_copies.restore(tmp_path / "backup.sqlite", database) == 2
    with closing(open_store(database)) as store:
        assert store.stages == (FIRST, SECOND)
        assert store.plans() == {128: "published"}
    with pytest.raises(StoreError, match="holds reports already"):
        store_copies.restore(tmp_path / "backup.sqlite", database)


def test_only_the_next_stage_of_its_study_is_published(place: str) -> None:
    with closing(open_store(place, FIRST)) as store:
        for other in (THIRD, FIRST, Study.from_toml(STAGED.replace("2.0", "1.0"))):
            with pytest.raises(StudyError, match="not the stages of one study"):
                store.publish(other)
        with closing(open_store(place)) as late:
            store.publish(SECOND)
            with pytest.raises(StoreError, match="changed by somebody else"):
                late.publish(stage_after(FIRST, FIRST.design))
            assert late.look_again() == SECOND
            assert late.stages == store.stages == (FIRST, SECOND)
        assert store.plans() == {}
        store.keep_design(4000)
        assert store.plans() == {4000: "kept"}


def test_a_stage_whose_reports_have_no_room_is_refused() -> None:
    wide = Study([castell.Attribute(f"a{i}", ["x", "y"]) for i in range(20)], 2.0, "joint")
    long = Study(wide.schema, 2.0, "independent", staged=True)
    drawn = stage_after(long, Study(wide.schema, 2.0, "pairs").design)
    StageRows([long, drawn])
    first = Study(wide.schema, 2.0, "pairs", staged=True)
    with pytest.raises(StudyError, match="longer than those of the first"):
        StageRows([first, stage_after(first, long.design)])


def test_words_are_corrected_in_every_stage(place: str, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STAGED, encoding="utf-8")
    with closing(open_store(place, FIRST)) as store:
        store.publish(SECOND)
        add(store, FIRST, [(1,)])
        add(store, SECOND, [(2,)])
        text = STAGED.replace('name = "os"', 'name = "os"\nquestion = "Which system?"')
        file.write_text(text, encoding="utf-8")
        made, changes = correct_command.correct(file, place, lambda _: True)
        assert [change.now for change in changes] == ["Which system?"]
        assert made == Study.load(file)
        assert store.look_again().digests[:-1] == (SECOND.digest,)
        assert store.stages[0] == made
        assert store.study.schema["os"].question == "Which system?"
        assert store.stages[0].wordings == store.stages[1].wordings
        assert counts_of(store, made).n == 2
        store.publish(stage_after(store.study, stage_design()))
    with closing(open_store(place, made)) as store:
        assert len(store.stages) == 3


@pytest.fixture
def running(place: str) -> Any:
    state = State(open_store(place, FIRST), settings(minimum=5))
    with TestClient(make_app(state)) as client:
        yield client


def send(client: TestClient, study: str, codes: list[int], id: str | None = None) -> int:
    sent = {"id": id or new_id(), "study": study, "codes": codes}
    return client.post("/reports", json=sent).status_code


def test_a_collector_publishes_a_stage_and_takes_both(running: TestClient, place: str) -> None:
    assert send(running, FIRST.digest, [2]) == 201
    assert send(running, SECOND.digest, [2]) == 409
    with closing(open_store(place)) as store:
        store.publish(SECOND)
    until(lambda: bool(running.get("/study.json").json()["digest"] == SECOND.digest))
    assert running.get("/collector.json").json()["study"] == SECOND.digest
    # Every stage by its digest, to the letter.
    for stage in (FIRST, SECOND):
        assert running.get(f"/studies/{stage.digest}.json").text == stage.to_json()
    assert running.get(f"/studies/{THIRD.digest}.json").status_code == 404
    # A code that the second stage has not, the first one has.
    last = FIRST.design.widths[0] - 1
    assert last >= SECOND.design.widths[0]
    assert send(running, FIRST.digest, [last]) == 201
    assert send(running, SECOND.digest, [last]) == 422
    assert send(running, SECOND.digest, [1]) == 201
    assert send(running, THIRD.digest, [1]) == 409
    bulk = {"study": FIRST.digest, "reports": [{"id": new_id(), "codes": [last]}]}
    assert running.post("/reports/bulk", json=bulk).status_code == 201
    # One id is one report, whatever its stage.
    id = new_id()
    assert [send(running, FIRST.digest, [1], id) for _ in range(2)] == [201, 200]
    assert send(running, SECOND.digest, [1], id) == 409
    # A body that names two stages is neither's.
    twice = f'{{"id":"{new_id()}","study":"{FIRST.digest}","study":"{SECOND.digest}","codes":[1]}}'
    headers = {"content-type": "application/json"}
    assert running.post("/reports", content=twice, headers=headers).status_code == 422
    assert running.post("/reports", content="{", headers=headers).status_code == 400
    metrics = running.get("/metrics", headers=LOGGED_IN).text
    assert "castell_stages 2" in metrics
    with closing(open_store(place)) as store:
        assert _by_stage(store) == {FIRST.digest: 4, SECOND.digest: 1}


def _by_stage(store: Store) -> Counter[str]:
    return Counter(digest for digest, _ in held(store).elements())


def test_the_page_comes_with_the_stage_that_is_published(running: TestClient, place: str) -> None:
    assert FIRST.digest in running.get("/").text
    with closing(open_store(place)) as store:
        store.publish(SECOND)
    until(lambda: SECOND.digest in running.get("/").text)


def test_a_collector_takes_what_is_public_in_every_stage(place: str) -> None:
    first = Study.from_toml(STAGED.replace('name = "paid"', 'name = "paid"\npublic = true'))
    drawn = Study(first.schema, 2.0, "singles").design
    then = stage_after(first, drawn)
    assert then.design.columns == ("drawn", "paid")
    store = open_store(place, first)
    store.publish(then)
    with TestClient(make_app(State(store, settings(minimum=5)))) as client:
        assert send(client, first.digest, [8, 1]) == 201
        assert [send(client, then.digest, [5, paid]) for paid in (0, 1, 2)] == [201, 201, 422]
        assert send(client, then.digest, [6, 0]) == 422
        assert send(client, then.digest, [5]) == 422
    with closing(open_store(place)) as store:
        assert held(store) == {
            (first.digest, (8, 1)): 1,
            (then.digest, (5, 0)): 1,
            (then.digest, (5, 1)): 1,
        }
        told = castell.fit(counts_of(store, first), "latent").estimate("paid")
        assert told.n == 3


# -- planning --------------------------------------------------------------------------------------


def worst_odds(weights: list[list[int]]) -> float:
    """How much likelier a report can be for one answer than for another."""
    columns = list(zip(*weights, strict=True))
    return max(float(max(column) / min(column)) for column in columns)


def test_a_plan_is_made_and_published_beside_the_collector(tmp_path: Path) -> None:
    """In a process of its own; every stage keeps the promise, by enumeration of its weights."""
    place = str(tmp_path / "s.sqlite")
    with closing(open_store(place, PLANNED_STUDY)) as store:
        fill(store, 500, 1)
        planner = PlanningProcess()
        became = planner.plan(Staging(place), 2000, 1000)
        store.look_again()
        assert became == "published"
        assert len(store.stages) == 2
        assert store.plans() == {1000: "published"}
        assert store.study.identity == PLANNED_STUDY.identity
        for stage in store.stages:
            # A report of every block, or of one that is drawn.
            odds = [worst_odds(block.channel.weights()) for block in stage.design.blocks]
            assert (max(odds) if stage.design.draw else np.prod(odds)) <= np.exp(1.0)
            assert stage.epsilon <= 1.0
        fill(store, 500, 2)
        # All stages are estimated together, and the next one is planned from all of them.
        model = castell.fit(counts_of(store), "latent")
        assert model.source.to_dict()["digests"] == [s.digest for s in store.stages]
        assert model.counts.n == 1000
        planner.close()
        with pytest.raises(PlanningError, match="the collector ends"):
            planner.plan(Staging(place), 2000, 1000)


def test_a_plan_that_is_not_wanted_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("castell.planning.next_stage_planner.PEOPLE", 500)
    monkeypatch.setattr("castell.planning.bootstrap_models.MODELS", 2)
    monkeypatch.setattr("castell.planning.next_stage_planner.MOST_REPEATS", 1)
    monkeypatch.setattr("castell.planning.candidates.TREES", 5)
    place = str(tmp_path / "s.sqlite")
    with closing(open_store(place, PLANNED_STUDY)) as store:
        with pytest.raises(StoreError, match="has no reports"):
            next_stage(Staging(place), 1000)
        fill(store, 500, 1)
        next_stage(Staging(place), 2000, at=400, agree=lambda _: False)
        assert store.look_again() == PLANNED_STUDY
        assert store.plans() == {}
    plain = Study.from_toml(STAGED.replace("stages = true", ""))
    open_store(tmp_path / "plain.sqlite", plain).close()
    with pytest.raises(StoreError, match="promises no stages"):
        next_stage(Staging(str(tmp_path / "plain.sqlite")), 1000)


class Planner(PlanningProcess):
    """Does at once what it is told."""

    def __init__(self, *outcomes: str | Exception) -> None:
        super().__init__()
        self.outcomes, self.asked = list(outcomes), list[tuple[int, int]]()

    def plan(self, staging: Staging, n: int, at: int) -> str:
        self.asked.append((n, at))
        became = self.outcomes.pop(0)
        if isinstance(became, Exception):
            raise became
        with closing(open_store(staging.place)) as store:
            if became == "kept":
                store.keep_design(at)
            else:
                store.publish(stage_after(store.study, stage_design()), at)
        return became


def place_of(store: Store) -> str:
    assert isinstance(store, SqliteStore)
    return store.place


def watch(store: Store, ends: tuple[int, ...], planner: Planner, tally: Tally) -> None:
    made = StageWatch(store, Staging(place_of(store), None, ends), tally, planner)
    asyncio.run(asyncio.wait_for(made.keep(), 60))


def test_stages_follow_each_other_as_reports_come(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tally = Tally()
    planner = Planner(PlanningError("no luck"), "published", "kept")
    with (
        caplog.at_level(logging.WARNING, "castell"),
        closing(open_store(tmp_path / "s.sqlite", FIRST)) as store,
    ):
        add(store, FIRST, [(1,)] * 420)
        watch(store, (200, 400, 1000), planner, tally)
        assert planner.asked == [(200, 200), (200, 200), (600, 400)]
        assert store.plans() == {200: "published", 400: "kept"}
        assert tally.plans == {"failed": 1, "published": 1, "kept": 1}
        assert tally.gauges["planning"] == 0
        # A collector that starts again finds that all is done.
        again = Planner()
        watch(store, (200, 400, 1000), again, tally)
        assert again.asked == []
    said = " ".join(caplog.messages)
    assert "could not be planned" in said
    assert "200 reports are in, and the next stage is published" in said
    assert "would do no better" in said
    assert "420" not in said


def test_nothing_is_planned_before_a_stage_is_full(tmp_path: Path) -> None:
    planner = Planner("published")
    with closing(open_store(tmp_path / "s.sqlite", FIRST)) as store:
        add(store, FIRST, [(1,)] * 199)
        made = StageWatch(store, Staging(place_of(store), None, (200, 400)), Tally(), planner)
        with pytest.raises(TimeoutError):
            asyncio.run(asyncio.wait_for(made.keep(), 0.3))
        assert planner.asked == []


def test_collecting_goes_on_while_planning_fails(tmp_path: Path) -> None:
    """Said in the health and the metrics of the collector; its process cannot open the store."""
    place = str(tmp_path / "s.sqlite")
    missing = Staging(str(tmp_path / "missing.sqlite"), None, (128, 400))
    state = State(open_store(place, FIRST), settings(minimum=5), staging=missing)
    with TestClient(make_app(state)) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        for _ in range(130):
            assert send(client, FIRST.digest, [1]) == 201
        until(lambda: "stage" in client.get("/healthz").json())
        assert client.get("/healthz").json()["status"] == "ok"
        assert send(client, FIRST.digest, [1]) == 201
        metrics = client.get("/metrics", headers=LOGGED_IN).text
        assert 'castell_stage_plans_total{outcome="failed"}' in metrics
        assert 'castell_stage_plans_total{outcome="failed"} 0' not in metrics


def test_a_forged_stage_in_the_store_is_not_published(tmp_path: Path) -> None:
    """Even whoever writes to the database cannot have a worse stage served."""
    with closing(open_store(tmp_path / "s.sqlite", FIRST)) as store:
        bad = forged(stages={"epsilon": "9", "after": [FIRST.digest]})
        assert isinstance(store, SqliteStore)
        store._replace_study(FIRST.to_json(), bad, {"stage 1": FIRST.to_json()})
        with pytest.raises(StoreError, match="not the stages of one study"):
            store.look_again()
        assert store.study == FIRST
    with pytest.raises(StoreError, match="not the stages of one study"):
        open_store(tmp_path / "s.sqlite", FIRST)
