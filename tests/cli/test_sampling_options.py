"""Weights, strata, clusters, raking and scores on the command line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castell
from castell import Study
from tests.cli.test_app import Shell
from tests.inference.test_sampling_design import ANSWERS, CLUSTER, MARGINS, WEIGHT, study

OWN = ["--weights", "weight", "--clusters", "psu", "--beside", "beside.csv"]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(capsys, monkeypatch)


@pytest.fixture
def collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made = study(20.0)
    (tmp_path / "study.json").write_text(made.to_json())
    made.randomize(ANSWERS, seed=1).save(tmp_path / "reports.parquet")
    with (tmp_path / "beside.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["weight", "psu"])
        rows.writerows(zip(WEIGHT, CLUSTER, strict=True))
    lines = []
    for name, margin in MARGINS.items():
        lines += [f"[{name}]", *(f"{value} = {share}" for value, share in margin.items())]
    (tmp_path / "margins.toml").write_text("\n".join(lines))
    return tmp_path


def test_a_weighted_table_is_that_of_the_library(shell: Shell, collected: Path) -> None:
    options = ["--method", "castell", *OWN, "--strata", "stratum", "--rake", "margins.toml"]
    told = shell("estimate", "study.json", "reports.parquet", "smokes", *options, "--json").json
    made = Study.load(collected / "study.json")
    reports = castell.Reports.load(collected / "reports.parquet", made)
    model = castell.fit(
        reports, "castell", weights=WEIGHT, clusters=CLUSTER, strata="stratum", rake=MARGINS
    )
    found = model.estimate("smokes")
    assert told["probabilities"] == pytest.approx(found.probabilities.tolist())
    assert told["standard_errors"] == pytest.approx(found.standard_errors.tolist())
    assert told["public"] == ["stratum", "region", "sex"]
    assert "design_based" in [reason["code"] for reason in told["reasons"]]


def test_weighted_groups_and_regressions_are_those_of_the_library(
    shell: Shell, collected: Path
) -> None:
    place = ["study.json", "reports.parquet"]
    groups = ["--given", "sex=f", "--versus", "sex=m"]
    told = shell("compare", *place, "sick=yes", *groups, *OWN, "--json").json
    made = Study.load(collected / "study.json")
    reports = castell.Reports.load(collected / "reports.parquet", made)
    sampled: dict[str, Any] = {"weights": WEIGHT, "clusters": CLUSTER}
    model = castell.fit(reports, **sampled)
    found = model.compare({"sick": "yes"}, given={"sex": "f"}, versus={"sex": "m"})
    assert told["difference"]["value"] == pytest.approx(found.difference.value)
    told = shell("regress", "sick ~ sex", *place, *OWN, "--rake", "margins.toml", "--json").json
    fit = castell.regress("sick ~ sex", reports, rake=MARGINS, **sampled)
    assert told["params"] == pytest.approx(fit.params.tolist())
    assert told["standard_errors"] == pytest.approx(fit.standard_errors.tolist())
    waves = shell("compare", *place, "sick=yes", "--against", "study.json=reports.parquet", *OWN)
    assert (waves.code, len(waves.err.strip().splitlines())) == (1, 1)
    assert "given for two waves" in waves.err


def test_weighted_tests_are_those_of_the_library(shell: Shell, collected: Path) -> None:
    place = ["study.json", "reports.parquet"]
    made = Study.load(collected / "study.json")
    reports = castell.Reports.load(collected / "reports.parquet", made)
    model = castell.fit(reports, "castell", weights=WEIGHT, clusters=CLUSTER, strata="stratum")
    told = shell("test", *place, "smokes", "sick", *OWN, "--strata", "stratum", "--json").json
    found = model.association("smokes", "sick")
    assert (told["p_value"], told["freedom_below"]) == (found.p_value, found.freedom_below)
    ask = ["--trend", *OWN, "--strata", "stratum", "--json"]
    trend = shell("test", *place, "smokes", "sick", *ask).json
    assert trend["p_value"] == model.trend("smokes", "sick").p_value
    every = shell("associations", *place, "smokes", "sick", *OWN, "--strata", "stratum", "--json")
    assert every.json["pairs"][0]["p"] == found.p_value


def test_weights_with_a_decimal_comma(shell: Shell, collected: Path) -> None:
    """'1,250' may be a thousand and more; '0,5' beside it says that it is not."""
    ask = ["estimate", "study.json", "reports.parquet", "smokes", "--method", "castell"]
    ask += ["--weights", "weight", "--beside", "comma.csv"]
    with (collected / "comma.csv").open("w") as file:
        file.write("weight;x\n" + "".join(f"{w:.3f};1\n".replace(".", ",") for w in WEIGHT / 7))
    told = shell(*ask, "--json").json
    made = Study.load(collected / "study.json")
    reports = castell.Reports.load(collected / "reports.parquet", made)
    model = castell.fit(reports, "castell", weights=np.round(WEIGHT / 7, 3))
    assert told["probabilities"] == pytest.approx(model.estimate("smokes").probabilities.tolist())
    (collected / "comma.csv").write_text("weight;x\n" + "1,250;1\n" * 120)
    refused = shell(*ask)
    assert refused.code == 1
    assert "120 entries that are no numbers, the first '1,250' in row 1" in refused.err
    assert "may be two numbers: write a point for a comma" in refused.err
    (collected / "comma.csv").write_text("weight;x\n" + "1.5;1\n" * 119 + "many;1\n")
    assert "1 entries that are no numbers, the first 'many' in row 120" in shell(*ask).err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--method", "latent", *OWN], "does not weigh reports"),
        (["--method", "castell", "--weights", "weight"], "which is no attribute"),
        (["--method", "castell", "--strata", "sick"], "which is randomised"),
        (["--method", "castell", "--beside", "beside.csv"], "no column of beside.csv is asked for"),
        (["--method", "castell", "--weights", "x", "--beside", "beside.csv"], "no column 'x'"),
        (["--method", "castell", "--weights", "weight", "--beside", "no.csv"], "no file"),
        (["--method", "castell", "--rake", "no.toml"], "cannot be read"),
    ],
)
def test_what_is_wrong_is_one_line(
    shell: Shell, collected: Path, options: list[str], problem: str
) -> None:
    del collected
    ran = shell("estimate", "study.json", "reports.parquet", "smokes", *options)
    assert ran.code == 1
    assert problem in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_scores_are_written_for_other_software(shell: Shell, collected: Path) -> None:
    shell("scores", "study.json", "reports.parquet", "smokes", "--output", "scores.csv")
    with (collected / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["region"] for row in rows] == ANSWERS["region"]
    made = Study.load(collected / "study.json")
    reports = castell.Reports.load(collected / "reports.parquet", made)
    share = castell.fit(reports, "castell").probability(smokes="now").value
    assert sum(float(row["smokes = now"]) for row in rows) / 120 == pytest.approx(share)
    ran = shell("scores", "study.json", "reports.parquet", "smokes", "--output", "x.txt")
    assert "end its name in" in ran.err
