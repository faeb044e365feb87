"""`castell synthesize`, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from castell import Study
from castell.cli.app import app
from castell.errors import OptionError
from castell.population import SCHEMA, health_survey


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("synthetic")
    study = Study(SCHEMA, 6.0, "cover")
    study.save(found / "study.json")
    study.randomize(health_survey(800), seed=1).save(found / "reports.parquet")
    return found


def _run(folder: Path, out: str, *more: str) -> str:
    line = ["synthesize", str(folder / "study.json"), str(folder / "reports.parquet")]
    ran = CliRunner().invoke(app, [*line, str(folder / out), *more], catch_exceptions=False)
    assert ran.exit_code == 0
    return ran.stdout


def test_one_file(folder: Path) -> None:
    shown = _run(folder, "people.csv", "-n", "200", "--method", "latent", "--seed", "1")
    assert "200 synthetic people" in shown
    assert "Nobody is in these rows" in shown
    rows = csv.read_csv(folder / "people.csv")
    assert rows.num_rows == 200
    assert set(rows["smokes"].to_pylist()) <= set(SCHEMA["smokes"].values)
    with pytest.raises(OptionError, match="is there already"):
        _run(folder, "people.csv", "-n", "200")


def test_several_files_and_tables(folder: Path) -> None:
    more = ["-n", "50", "--files", "2", "--method", "independent", "--attribute", "smokes"]
    told = json.loads(_run(folder, "p.parquet", *more, "--json"))
    assert [Path(name).name for name in told["written"]] == ["p-1.parquet", "p-2.parquet"]
    assert parquet.read_table(folder / "p-2.parquet").column_names == ["smokes"]
    held = ["-n", "50", "--method", "independent", "--table", "smokes,health", "--seed", "1"]
    assert "50 synthetic people" in _run(folder, "held.csv", *held)


def test_what_is_no_file_of_people(folder: Path) -> None:
    with pytest.raises(OptionError, match=r"\.csv or \.parquet"):
        _run(folder, "people.xls")
