"""The verbs compare, test and regress, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook

import castell
from castell import Study
from castell.cli.study_file import to_toml
from castell.planning import method_comparison
from castell.population import SCHEMA, health_survey
from tests.cli.test_app import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(capsys, monkeypatch)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = to_toml(SCHEMA, name="health", epsilon=12.0)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def reports(folder: Path) -> castell.Model:
    """The reports of a study, of a later wave, and what the library says of them."""
    study = Study.load(folder / "study.toml")
    first = study.randomize(health_survey(2000, seed=1), seed=1)
    first.save(folder / "reports.parquet")
    study.randomize(health_survey(2000, seed=2), seed=2).save(folder / "later.parquet")
    return castell.fit(first, "castell")


PLACES = ("study.toml", "reports.parquet")


def test_compare_groups(shell: Shell, reports: castell.Model) -> None:
    groups = ("--given", "smokes=now", "--versus", "smokes=never")
    words = ("compare", *PLACES, "health=poor,fair", *groups, "--method", "castell")
    told = shell(*words)
    found = reports.compare(
        {"health": ["poor", "fair"]}, given={"smokes": "now"}, versus={"smokes": "never"}
    )
    assert (told.code, told.out.strip()) == (0, found.summary())
    assert shell(*words, "--json", "--level", "0.9").json == found.to_dict(0.9)


def test_compare_waves(shell: Shell, reports: castell.Model, folder: Path) -> None:
    pytest.importorskip("vl_convert")
    told = shell(
        *("compare", *PLACES, "health=poor", "--against", "study.toml=later.parquet"),
        *("--method", "castell", "--plot", "waves.png"),
    )
    later = castell.scan_reports(folder / "later.parquet", reports.study)
    other = castell.fit(later, "castell")
    found = castell.compare(reports, other, {"health": "poor"})
    assert told.code == 0
    assert told.out.startswith(found.summary())
    assert (folder / "waves.png").stat().st_size > 1000


def test_test(shell: Shell, reports: castell.Model) -> None:
    told = shell("test", *PLACES, "smokes", "health")
    found = reports.association("smokes", "health")
    assert (told.code, told.out.strip()) == (0, found.summary())
    assert shell("test", *PLACES, "smokes", "health", "--json").json["p_value"] == found.p_value
    told = shell("test", *PLACES, "age", "health", "--trend", "--scores", "age=24,37,52,70")
    trend = reports.trend("age", "health", scores={"age": [24, 37, 52, 70]})
    assert (told.code, told.out.strip()) == (0, trend.summary())
    together = shell(
        "test", *PLACES, "smokes", "health", "--also", "study.toml=later.parquet", "--json"
    ).json
    assert together["n"] == 4000


def test_regress(shell: Shell, reports: castell.Model) -> None:
    words = ("regress", "smokes ~ score(age) + exercise", *PLACES)
    found = castell.regress(words[1], reports.counts)
    assert shell(*words).out.strip() == found.summary()
    assert shell(*words, "--json").json["params"] == found.params.tolist()
    linear = shell(
        *("regress", "health ~ age", *PLACES, "--family", "linear"),
        *("--scores", "age=24,37,52,70", "--scores", "health=0,1,2,4"),
    )
    assert linear.out.startswith("Linear regression of health\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("compare", *PLACES, "health=poor"), "compare needs one of --versus and --against"),
        (("compare", *PLACES, "health=poor", "--versus", "smokes=now", "--against", "a=b"),
         "compare needs one of --versus and --against"),
        (("compare", *PLACES, "health=poor", "--versus", "smokes=now"), "--given is not"),
        (("compare", *PLACES, "health=poor", "--against", "later.parquet"),
         "--against is 'later.parquet'"),
        (("compare", *PLACES, "health", "--given", "smokes=now", "--versus", "smokes=never"),
         "is not name=value"),
        (("compare", *PLACES, "health=bad", "--given", "smokes=now", "--versus", "smokes=never"),
         "'bad' is not a value of 'health'"),
        (("test", *PLACES, "smokes"), "a test is of two attributes, not 1"),
        (("test", *PLACES, "smokes", "health", "--scores", "age=1"), "scores are for a trend"),
        (("test", *PLACES, "age", "health", "--trend", "--scores", "age=old"),
         "--scores of 'age' are 'old'"),
        (("regress", "smokes", *PLACES), "not outcome ~ covariates"),
        (("regress", "smokes ~ ages", *PLACES), "did you mean 'age'"),
        (("regress", "smokes ~ age", *PLACES, "--plot", "a.txt"), "cannot write a.txt"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(
    shell: Shell, reports: castell.Model, words: tuple[str, ...], line: str
) -> None:
    del reports
    told = shell(*words)
    assert told.code == 1
    assert line in told.err
    assert told.err.count("\n") == 1


def test_compare_with_answers_alone_tries_every_method(
    shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method_comparison, "DESIGNS", ("independent", "pairs"))
    monkeypatch.setattr(method_comparison, "methods_for", lambda _: ("castell", "independent"))
    monkeypatch.setattr(method_comparison, "REPEATS", 1)
    pd.DataFrame(health_survey(300, seed=3)).to_csv(folder / "answers.csv", index=False)
    told = shell("compare", "study.toml", "answers.csv", "--plot", "methods.svg")
    assert told.code == 0, told.err
    assert "300 people, epsilon 12 in all" in told.out
    assert told.out.splitlines()[-1] == "wrote methods.svg"
    assert "castell, pairs" in (folder / "methods.svg").read_text(encoding="utf-8")
    told = shell("compare", "study.toml", "answers.csv", "--json")
    assert {t["design"] for t in json.loads(told.out)["tried"]} == {"independent", "pairs"}
    for words, line in (
        (("nowhere.csv",), "there is no file nowhere.csv"),
        (("answers.csv", "--versus", "smokes=now"), "no answer is asked for"),
        (("answers.csv", "--plot", "methods.gif"), "cannot write methods.gif"),
        # What trying methods does not read is not passed over in silence.
        (("answers.csv", "--output", "table.xlsx"), "--output is for reports"),
        (("answers.csv", "--method", "em"), "--method is for reports"),
    ):
        told = shell("compare", "study.toml", *words)
        assert (told.code, told.err.count("\n")) == (1, 1)
        assert line in told.err


def test_help_has_examples(shell: Shell) -> None:
    for verb in ("compare", "test", "regress"):
        assert f"castell {verb}" in shell(verb, "--help").out
    assert SCHEMA.names[0] == "age"


GROUPS = ("--given", "smokes=now", "--versus", "smokes=never")
ASKED = {
    "compare": ("compare", *PLACES, "health=poor", *GROUPS, "--method", "castell"),
    "test": ("test", *PLACES, "smokes", "health"),
    "trend": ("test", *PLACES, "age", "health", "--trend"),
    "regress": ("regress", "smokes ~ score(age)", *PLACES),
}


@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.usefixtures("reports")
def test_every_analysis_is_a_table_of_a_report(shell: Shell, folder: Path, verb: str) -> None:
    words = ASKED[verb]
    markdown = shell(*words, "--to", "md").out.splitlines()
    assert "p_value" in markdown[0]
    assert shell(*words, "--to", "latex").out.splitlines()[1] == "\\toprule"
    table = shell(*words, "--to", "csv", "--level", "0.9").out.splitlines()
    assert len(table) == len(markdown) - 1
    for name in ("table.xlsx", "table.tex", "table.parquet"):
        told = shell(*words, "--output", name)
        assert (told.code, told.out.splitlines()[-1]) == (0, f"wrote {name}")
    assert load_workbook(folder / "table.xlsx").worksheets[0].max_row == len(table)
    assert pq.read_table(folder / "table.parquet").num_rows == len(table) - 1
    assert "end its name in" in shell(*words, "--output", "table.doc").err
    assert "print two things" in shell(*words, "--to", "md", "--json").err
    assert "--to is 'word'" in shell(*words, "--to", "word").err


def test_the_numbers_of_a_regressions_table_are_its_own(
    shell: Shell, reports: castell.Model, folder: Path
) -> None:
    assert shell(*ASKED["regress"], "--output", "table.parquet").code == 0
    found = castell.regress("smokes ~ score(age)", reports.counts)
    written = pq.read_table(folder / "table.parquet")
    assert written["name"].to_pylist() == list(found.names)
    assert written["coef"].to_pylist() == pytest.approx(found.params.tolist())
    assert written["upper"].to_pylist() == pytest.approx(found.conf_int()[1].tolist())


@pytest.mark.usefixtures("reports")
def test_a_share_has_no_p_value(shell: Shell) -> None:
    lines = shell(*ASKED["compare"], "--to", "md").out.splitlines()
    assert lines[2].endswith("|  |")
    assert not lines[4].endswith("|  |")


def test_row_percentages(shell: Shell, reports: castell.Model) -> None:
    words = ("estimate", *PLACES, "health", "--given", "smokes", "--method", "castell")
    told = shell(*words)
    assert (told.code, told.out.strip()) == (
        0,
        reports.conditional("health", given="smokes").summary(),
    )
    table = shell(*words, "--to", "latex").out.splitlines()
    assert len(table) == 6 + SCHEMA["health"].size * SCHEMA["smokes"].size
    assert "there is no attribute 'nope'" in shell(*words[:5], "nope").err
    assert "asked for and given" in shell(*words[:5], "health").err
    assert "not name=value" in shell(*words[:3], "--mean", "age", "--given", "smokes").err
