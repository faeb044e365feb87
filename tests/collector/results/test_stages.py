"""Results of a study with stages: from all of them together, and the same from files."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import castell
from castell.collector.results.dated_reports import period_tables, periods, read_store
from castell.collector.results.release import first
from castell.collector.results.routes import _overview
from castell.collector.settings import State
from castell.collector.store import Store, open_store
from castell.collector.store.stage_rows import StageRows
from castell.collector.store.store import Snapshot
from castell.collector.store.tokens import Role
from castell.study.design import Block, Design
from castell.study.later_stages import next_stage
from tests.collector.results.stores import state_of
from tests.collector.results.test_downloads import _numbers, _take
from tests.staged_studies import PLANNED_STUDY, people

SIZES = (1500, 900)


def drawn_design() -> Design:
    """Any second stage: a pair, or the other attribute."""
    schema = PLANNED_STUDY.schema
    names = [("a", "c"), ("b",)]
    blocks = []
    for held in names:
        sizes = tuple(schema[name].size for name in held)
        channel = castell.KaryResponse.with_epsilon(int(np.prod(sizes)), 1.0)
        blocks.append(Block(held, sizes, channel))
    return Design(tuple(blocks), draw=True, weights=(3, 1))


STAGES = (PLANNED_STUDY, next_stage(PLANNED_STUDY, drawn_design()))
REPORTS = [
    stage.randomize(people(size, seed), seed=seed)
    for seed, (stage, size) in enumerate(zip(STAGES, SIZES, strict=True))
]
HOURS = [np.sort(np.arange(size) % 30) * 3600 + day * 86_400 for day, size in enumerate(SIZES)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Late reports of the first stage come in the hours of the second."""
    made = open_store(tmp_path / "s.sqlite", PLANNED_STUDY, secure=False)
    made.publish(STAGES[1])
    packing, rows = StageRows(STAGES), []
    for place, (reports, hours) in enumerate(zip(REPORTS, HOURS, strict=True)):
        codes = zip(*(column.tolist() for column in reports.columns), strict=True)
        for number, (code, hour) in enumerate(zip(codes, hours.tolist(), strict=True)):
            key = (place * 10_000 + number).to_bytes(16, "big")
            rows.append((key, packing.pack(code, place), hour))
    with made.snapshot() as empty:
        rules = empty.rules
    made.load(Snapshot(iter([sorted(rows)]), [], rules))
    return made


@pytest.fixture
def state(store: Store) -> State:
    return state_of(store)


def test_all_stages_are_read_and_estimated_together(store: Store) -> None:
    with closing(store):
        dated = read_store(store)
    assert dated.studies == STAGES
    assert dated.n == sum(SIZES)
    assert sum(n for _, n in dated.timeline()) == sum(SIZES)
    joint = dated.model("latent").estimate(["a", "b"])
    wanted = castell.fit([reports.sorted() for reports in REPORTS], "latent").estimate(["a", "b"])
    np.testing.assert_array_equal(joint.probabilities, wanted.probabilities)
    assert joint.earlier == STAGES[:1]
    # A release ends with an hour, for every stage.
    cut = first(dated, int(np.searchsorted(dated.all_hours, 27 * 3600)))
    assert [len(stage.hours) for stage in cut.stages] == [
        int((HOURS[0] < 27 * 3600).sum()),
        int((HOURS[1] < 27 * 3600).sum()),
    ]
    early = first(dated, int(np.searchsorted(dated.all_hours, 20 * 3600)))
    assert early.studies == STAGES[:1]
    assert first(dated, dated.n) is dated
    # Drift is looked for inside a stage.
    longest = dated.stages[0]
    spans = periods(longest.hours)
    assert period_tables(longest, ("a",), spans).sum() == SIZES[0]


def test_the_overview_shows_the_stages_in_steps(state: State) -> None:
    dated = read_store(state.store)
    told = _overview(state, dated.n, dated)[Role.ANALYST]
    assert b'"stage":2' in told
    assert b'"n":1500' in told
    assert b'"n":900' in told
    state.store.close()


def test_the_script_finds_the_pages_numbers_again(state: State, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    answer = _take(state, "reports", "a", "b", method="latent")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as whole:
        assert whole.namelist() == ["reports.stage1.parquet", "reports.stage2.parquet"]
        whole.extractall(folder)
    (folder / "again.py").write_bytes(_take(state, "script", "a", "b", method="latent").content)
    ran = subprocess.run(
        [sys.executable, "again.py"], capture_output=True, text=True, check=False, cwd=folder
    )
    assert ran.returncode == 0, ran.stderr
    assert "note: the results page had" not in ran.stdout
    table = (folder / "a-b.csv").read_bytes()
    assert _numbers(table) == _numbers(_take(state, "csv", "a", "b", method="latent").content)
    state.store.close()
