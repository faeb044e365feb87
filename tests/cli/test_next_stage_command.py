"""castell next-stage: planned from a store, shown, agreed to, published."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from castell.cli.app import app
from castell.cli.plan_commands import wanted_share
from castell.collector.store import Submission, open_store
from castell.collector.store.stage_rows import StageRows
from castell.collector.store.store import report_key
from tests.staged_studies import PLANNED, PLANNED_STUDY, rows_of

RUN = CliRunner()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study and a store with reports; plans are made from little."""
    monkeypatch.setattr("castell.planning.next_stage_planner.PEOPLE", 1000)
    monkeypatch.setattr("castell.planning.bootstrap_models.MODELS", 2)
    monkeypatch.setattr("castell.planning.next_stage_planner.MOST_REPEATS", 2)
    monkeypatch.setattr("castell.planning.candidates.TREES", 20)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(PLANNED, encoding="utf-8")
    with closing(open_store("study.sqlite", PLANNED_STUDY)) as store:
        fill(400)
        assert store.count() == 400
    return tmp_path


def fill(many: int) -> None:
    with closing(open_store("study.sqlite")) as store:
        rows, place = StageRows(store.stages), len(store.stages) - 1
        made = [
            (report_key(store.study, os.urandom(16)), rows.pack(codes, place))
            for codes in rows_of(store.study, many, place)
        ]
        store.add([Submission(tuple(made))])


def run(*words: str, input: str = "") -> str:
    done = RUN.invoke(app, list(words), input=input, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_stage_by_hand(folder: Path) -> None:
    said = run("next-stage", "study.sqlite", "-n", "3000", input="n\n")
    assert "Ask everybody so who comes from now on?" in said
    assert "nothing was published" in said
    said = run("next-stage", "study.sqlite", "-n", "3000", input="y\n")
    assert "published: from now on" in said
    with closing(open_store("study.sqlite", PLANNED_STUDY)) as store:
        assert len(store.stages) == 2
        assert store.study.digest in said
    fill(300)
    # All that reads a store reads both stages, by the study file of the first.
    told = json.loads(
        run("estimate", "study.toml", "study.sqlite", "a", "c", "--method", "latent", "--json")
    )
    assert told["n"] == 700
    assert len(told["digests"]) == 2
    said = run("export", "study.sqlite", "reports.parquet")
    assert "wrote reports.stage1.parquet: 400 reports" in said
    assert "wrote reports.stage2.parquet: 300 reports" in said
    told = json.loads(run("export", "study.sqlite", "reports.parquet", "--force", "--json"))
    assert [one["reports"] for one in told["files"]] == [400, 300]
    assert (folder / "reports.stage2.parquet").exists()
    told = json.loads(
        run("next-stage", "study.sqlite", "-n", "2000", "--yes", "--json").splitlines()[-1]
    )
    with closing(open_store("study.sqlite")) as store:
        assert len(store.stages) == 2 + told["published"]


def test_what_is_wanted_of_a_stage_is_said(folder: Path) -> None:
    del folder
    for wrong, problem in (
        ("b", "is not name=value"),
        ("b=", "is not name=value"),
        ("=v0", "is not name=value"),
        ("b=v0,,c=w0", "is not name=value"),
        ("b=v0,c=w0,b=v1", "'b' twice"),
        ("b=zz", "'zz' is not a value"),
        ("zz=v0", "no attribute 'zz'"),
    ):
        done = RUN.invoke(app, ["next-stage", "study.sqlite", "-n", "3000", "--share", wrong])
        assert done.exit_code
        assert problem in str(done.exception), wrong
    told = json.loads(
        run(
            *("next-stage", "study.sqlite", "-n", "3000", "--yes", "--json"),
            *("--table", "a,b", "--share", "b=v0,v1,c=w0"),
        ).splitlines()[-1]
    )
    assert "the table asked for and the share asked for" in told["words"][0]


def test_a_comma_in_a_value_has_a_backslash() -> None:
    assert wanted_share("a=x\\,y,z,b=u") == {"a": ["x,y", "z"], "b": ["u"]}
    assert wanted_share("a=x=1") == {"a": ["x=1"]}


def test_what_cannot_be_planned(folder: Path) -> None:
    del folder
    done = RUN.invoke(app, ["next-stage", "study.sqlite", "-n", "0"])
    assert done.exit_code
    assert "still to come" in str(done.exception)


def test_where_a_plan_goes_is_checked_before_it_is_made(folder: Path) -> None:
    """Planning takes a while: nobody waits for it to be told that the file is there."""
    (folder / "next.json").write_text("{}")
    for place, problem in (
        ("next.json", "is there already: give another name, or --force"),
        ("next.toml", "end its name in .json"),
        ("none/next.json", "there is no folder"),
    ):
        asked = ["plan-next", "study.toml", "none.sqlite", "-n", "3000", "--publish", place]
        done = RUN.invoke(app, asked)
        assert done.exit_code
        assert problem in str(done.exception)


def test_reports_are_counted_by_the_engine_asked_for(folder: Path) -> None:
    del folder
    told = json.loads(run("plan-next", "study.toml", "study.sqlite", "-n", "3000", "--json"))
    assert told["n"] == 3000
    done = RUN.invoke(
        app, ["plan-next", "study.toml", "study.sqlite", "-n", "3000", "--engine", "duskk://x"]
    )
    assert done.exit_code
    assert "there is no engine 'duskk://x'" in str(done.exception)
