"""The command line, run as a user runs it: arguments in, text and exit code out."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from castell import Attribute, Schema, Study, estimate, fit, methods, scan_reports
from castell.cli import app as cli
from castell.cli.estimate_command import query_from
from castell.cli.printing import write_table
from castell.cli.study_file import to_toml
from castell.estimators import reads
from castell.inference.method import KINDS
from castell.population import SCHEMA, health_survey


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study and answers, to be copied."""
    made = tmp_path_factory.mktemp("written")
    columns = {name: pa.array(values) for name, values in health_survey(3000).items()}
    csv.write_csv(pa.table(columns), made / "answers.csv")
    pq.write_table(pa.table(columns), made / "answers.parquet")
    text = to_toml(SCHEMA, name="health", epsilon=12.0)
    (made / "study.toml").write_text(text, encoding="utf-8")
    return made


@pytest.fixture
def folder(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a study and answers of its own, and the shell standing in it."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """Runs a command in this process, through the same door as the installed script."""

    def __init__(self, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
        self.capture, self.monkeypatch = capture, monkeypatch

    def __call__(self, *words: str) -> Result:
        self.monkeypatch.setattr(sys, "argv", ["castell", *words])
        self.capture.readouterr()
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
        captured = self.capture.readouterr()
        return Result(code, captured.out, captured.err)


@pytest.fixture
def castell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(capsys, monkeypatch)


@pytest.mark.parametrize("answers", ["answers.csv", "answers.parquet"])
def test_from_answers_to_a_table(folder: Path, castell: Shell, answers: str) -> None:
    assert castell("init", "first.toml", "--from", answers, "--epsilon", "12").code == 0
    assert castell("check", "first.toml", "--publish", "first.json").code == 0
    assert castell("randomize", "first.toml", answers, "reports.parquet").code == 0
    # The published study is the same study: its reports are accepted.
    table = castell(
        "estimate", "first.json", "reports.parquet", "smokes", "health", "--json",
        "--output", "t.parquet", "--plot", "t.svg",
    )  # fmt: skip
    assert table.code == 0
    assert table.json["n"] == 3000
    assert table.json["secure"] is True
    assert abs(sum(map(sum, table.json["probabilities"])) - 1) < 1e-9
    assert pq.read_table(folder / "t.parquet").num_rows == 20  # who would not say is a value too
    assert (folder / "t.svg").read_text().startswith("<svg")


def test_reports_of_several_studies(folder: Path, castell: Shell) -> None:
    castell("randomize", "study.toml", "answers.csv", "r.parquet")
    study = Study.load(folder / "study.toml")
    other = Study(study.schema, 3.0, "cover", name="earlier")
    other.save(folder / "earlier.json")
    castell("randomize", "earlier.json", "answers.csv", "e.parquet")
    asked = ("estimate", "study.toml", "r.parquet", "smokes", "--json", "--method", "castell")
    told = castell(*asked, "--also", "earlier.json=e.parquet").json
    assert told["digests"] == [other.digest, study.digest]
    reports = [scan_reports(folder / "e.parquet", other), scan_reports(folder / "r.parquet", study)]
    assert told == fit(reports, "castell").estimate("smokes").to_dict()
    for wrong in ("earlier.json", "=e.parquet", "earlier.json="):
        refused = castell(*asked, "--also", wrong)
        assert refused.code != 0
        assert "write --also old.toml=old.parquet" in refused.err
    refused = castell(*asked, "--also", "study.toml=r.parquet")
    assert refused.code != 0
    assert "r.parquet is given twice" in refused.err


def test_estimate_for_people(folder: Path, castell: Shell) -> None:
    castell("randomize", "study.toml", "answers.csv", "r.parquet")
    asked = ("estimate", "study.toml", "r.parquet", "smokes", "health", "--method", "hybrid")
    shown = castell(*asked)
    assert shown.code == 0
    assert "n = 3,000" in shown.out
    assert "hybrid chose" in shown.out
    share = castell("estimate", "study.toml", "r.parquet", "--where", "health=poor,fair")
    assert "95% interval" in share.out
    cell = castell("estimate", "study.toml", "r.parquet", "--where", "smokes=now", "--json").json
    table = castell("estimate", "study.toml", "r.parquet", "smokes", "--json").json
    assert cell["probability"] == pytest.approx(table["probabilities"][2], abs=1e-9)
    assert cell["lower"] == pytest.approx(table["lower"][2], abs=1e-9)
    del folder


def test_conditional_shares(folder: Path, castell: Shell) -> None:
    castell("randomize", "study.toml", "answers.csv", "r.parquet")
    asked = ("estimate", "study.toml", "r.parquet", "--method", "castell")
    model = fit(scan_reports(folder / "r.parquet", Study.load(folder / "study.toml")), "castell")
    among = {"smokes": ["now", "before"], "age": ["60+"]}
    given = ("--given", "smokes=now,before", "--given", "age=60+")
    found = model.conditional("health", given=among)
    shown = castell(*asked, "health", *given, "--level", "0.9", "--output", "c.csv")
    assert shown.out == f"{found.summary(0.9)}\nwrote c.csv\n"
    assert shown.out.startswith("health given smokes = now or before and age = 60+ (castell)\n")
    assert castell(*asked, "health", *given, "--json").json == found.to_dict()
    assert csv.read_csv(folder / "c.csv")["upper"].to_pylist() == found.conf_int(0.9)[1].tolist()
    # One share of several values, and of several attributes.
    one = model.conditional({"health": ["poor", "fair"], "region": "north"}, given=among)
    where = ("--where", "health=poor,fair", "--where", "region=north")
    told = castell(*asked, *where, *given, "--json").json
    assert told == one.to_dict()
    assert told["where"] == {"health": ["poor", "fair"], "region": ["north"]}
    assert told["given"] == {"smokes": ["now", "before"], "age": ["60+"]}


def test_json_is_what_python_says_to_the_digit(folder: Path, castell: Shell) -> None:
    castell("randomize", "study.toml", "answers.csv", "r.parquet")
    asked = ("estimate", "study.toml", "r.parquet", "--json", "--level", "0.9", "--method", "em")
    model = fit(scan_reports(folder / "r.parquet", Study.load(folder / "study.toml")), "em")
    table = castell(*asked, "smokes", "age", "--post", "simplex").json
    assert table == model.estimate(["smokes", "age"], post="simplex").to_dict(0.9)
    share = castell(*asked, "--where", "smokes=now,before").json
    assert share == model.probability(smokes=["now", "before"]).to_dict(0.9)


def test_check_says_what_it_costs(folder: Path, castell: Shell) -> None:
    shown = castell("check", "study.toml")
    assert "epsilon   12 in all" in shown.out
    assert "by a factor of at most 163,000." in shown.out
    document = castell("check", "study.toml", "--json").json
    assert document["statement"] == shown.out.splitlines()[-len(document["statement"]) :]
    assert document["digest"] == Study.load(folder / "study.toml").digest
    assert [a["name"] for a in document["attributes"]] == list(SCHEMA.names)


def test_check_warns_of_reports_that_are_shown_before_they_are_sent(
    folder: Path, castell: Shell
) -> None:
    assert "review" not in castell("check", "study.toml").err
    text = (folder / "study.toml").read_text()
    (folder / "before.toml").write_text('review = "before"\n' + text)
    told = castell("check", "before.toml")
    assert told.code == 0
    assert 'warning: review = "before" shows respondents the drawn report' in told.err
    assert "leave review out" in told.err


def test_check_warns_of_what_the_page_costs_and_refuses_what_it_cannot_show(
    folder: Path, castell: Shell
) -> None:
    text = (folder / "study.toml").read_text()
    assert "warning: no way not to answer 'age', 'region'" in castell("check", "study.toml").err
    (folder / "kiosk.toml").write_text(text + "\n[page]\nkiosk = true\n")
    assert "warning: kiosk mode: one device sends for many" in castell("check", "kiosk.toml").err
    (folder / "pale.toml").write_text(text + '\n[page]\naccent = "#ffcc00"\n')
    pale = castell("check", "pale.toml")
    assert pale.code == 1
    assert "take a darker colour" in pale.err


def test_words_are_written_for_a_translator(folder: Path, castell: Shell) -> None:
    assert "texts to translate into nl" in castell("words", "nl", "nl.toml").out
    assert 'language = "nl"' in (folder / "nl.toml").read_text(encoding="utf-8")
    assert castell("words", "nl", "nl.toml").code == 1
    assert castell("words", "not a tag", "x.toml").code == 1


def test_a_seed_is_marked_insecure_everywhere(folder: Path, castell: Shell) -> None:
    made = castell("randomize", "study.toml", "answers.csv", "a.parquet", "--seed", "1")
    assert "INSECURE" in made.err
    castell("randomize", "study.toml", "answers.csv", "b.parquet", "--seed", "1")
    assert (folder / "a.parquet").read_bytes() == (folder / "b.parquet").read_bytes()
    assert "INSECURE" in castell("estimate", "study.toml", "a.parquet", "smokes").out
    assert "INSECURE" in castell("estimate", "study.toml", "a.parquet", "--where", "smokes=now").out
    assert not castell("estimate", "study.toml", "a.parquet", "smokes", "--json").json["secure"]


@pytest.fixture(scope="module")
def spoiled(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study and its reports, beside files that are wrong, to be copied."""
    folder = tmp_path_factory.mktemp("spoiled")
    shutil.copytree(written, folder, dirs_exist_ok=True)
    study = Study.load(folder / "study.toml")
    study.randomize(health_survey(3000)).save(folder / "r.parquet")
    castell_rows = (folder / "answers.csv").read_text().splitlines()
    (folder / "unknown.csv").write_text("\n".join([*castell_rows[:3], '"1","2","3","4","5","6"']))
    (folder / "columns.csv").write_text("age,region\n18-29,north\n")
    (folder / "empty.csv").write_text("")
    (folder / "constant.csv").write_text("a\nx\nx\n")
    (folder / "bad.toml").write_text("name = ")
    text = (folder / "study.toml").read_text()
    (folder / "other.toml").write_text(text.replace("12.0", "11.0"))
    for name, epsilon in [("zero", "0"), ("minus", "-1"), ("inf", "inf"), ("huge", "1e6")]:
        (folder / f"{name}.toml").write_text(text.replace("12.0", epsilon))
    return folder


WRONG = [
    (["check", "nowhere.toml"], "castell init writes"),
    (["check", "bad.toml"], "bad.toml: not valid TOML"),
    (["check", "zero.toml"], "positive, finite"),
    (["check", "minus.toml"], "positive, finite"),
    (["check", "inf.toml"], "positive, finite"),
    (["check", "huge.toml"], "above 32"),
    (["init", "study.toml", "--from", "answers.csv"], "there already"),
    (["init", "new.toml", "--from", "nowhere.csv"], "there is no file"),
    (["init", "new.toml", "--from", "constant.csv"], "no column with 2"),
    (["init", "new.toml", "--from", "answers.csv", "--column", "agee"], "did you mean 'age'"),
    (["init", "new.toml", "--from", "answers.csv", "--epsilon", "0"], "positive, finite"),
    (["randomize", "study.toml", "unknown.csv", "x.parquet"], "row 3, column 'age'"),
    (["randomize", "study.toml", "columns.csv", "x.parquet"], "no column 'education'"),
    (["randomize", "study.toml", "empty.csv", "x.parquet"], "cannot read empty.csv"),
    (["randomize", "study.toml", "answers.csv", "x.csv"], "does not end in .parquet"),
    (["randomize", "study.toml", "answers.parquet", "answers.parquet"], "are one file"),
    (["randomize", "study.toml", "answers.csv", "no/x.parquet"], "there is no folder"),
    (["randomize", "study.toml", "answers.csv", "x.parquet", "--seed", "-1"], "whole number"),
    (["randomize", "study.toml", "answers.csv", "r.parquet"], "every report spends anew"),
    (["estimate", "study.toml", "r.parquet", "--where", "age=60+", "--post", "clip"], "one share"),
    (["estimate", "study.toml", "r.parquet", "--where", "age=60+", "--plot", "x.png"], "one share"),
    (["estimate", "study.toml", "r.parquet", "age", "--plot", "no/x.png"], "there is no folder"),
    (["estimate", "study.toml", "r.parquet"], "name attributes"),
    (["estimate", "study.toml", "r.parquet", "--given", "age=60+"], "name attributes"),
    (
        ["estimate", "study.toml", "r.parquet", "age", "smokes", "--given", "health=poor"],
        "name one",
    ),
    (["estimate", "study.toml", "r.parquet", "age", "--given", "age=60+"], "asked for and given"),
    (["estimate", "study.toml", "r.parquet", "smokes", "--given", "age=7"], "is not a value"),
    (["estimate", "study.toml", "r.parquet", "smokes", "--given", "agee=7"], "did you mean 'age'"),
    (
        ["estimate", "study.toml", "r.parquet", "--mean", "age", "--given", "age"],
        "--given 'age' is not",
    ),
    (
        ["estimate", "study.toml", "r.parquet", "smokes", "--given", "age=60+", "--plot", "x.png"],
        "for joint tables",
    ),
    (
        ["estimate", "study.toml", "r.parquet", "smokes", "--given", "age=60+", "--post", "clip"],
        "for joint tables",
    ),
    (["check", "study.toml", "--publish", "study.txt"], "end its name in .json"),
    (["estimate", "study.toml", "r.parquet", "age", "--where", "age=60+"], "both were asked"),
    (["estimate", "study.toml", "r.parquet", "agee"], "did you mean 'age'"),
    (["estimate", "study.toml", "r.parquet", "age", "age"], "twice"),
    (["estimate", "study.toml", "r.parquet", "age", "--method", "magic"], "no method 'magic'"),
    (["estimate", "study.toml", "r.parquet", "age", "--option", "x=1"], "no option 'x'"),
    (["estimate", "study.toml", "r.parquet", "age", "--option", "x"], "not name=value"),
    (["estimate", "study.toml", "r.parquet", "age", "--level", "95"], "between 0 and 1"),
    (["estimate", "study.toml", "r.parquet", "age", "--post", "magic"], "no post-processing"),
    (["estimate", "study.toml", "r.parquet", "age", "--plot", "x.doc"], "end its name in"),
    (["estimate", "study.toml", "r.parquet", "age", "--output", "x.doc"], "end its name in"),
    (["estimate", "study.toml", "r.parquet", "age", "region", "--max-cells", "3"], "16 cells"),
    (["estimate", "study.toml", "r.parquet", "--where", "age=7"], "is not a value"),
    (["estimate", "study.toml", "r.parquet", "--where", "age=60+", "--where", "age=60+"], "twice"),
    (["estimate", "study.toml", "answers.csv", "age"], "is not Parquet"),
    (["estimate", "study.toml", "answers.parquet", "age"], "names no study"),
    (["estimate", "study.toml", "nowhere.parquet", "age"], "there is no file"),
    (["estimate", "other.toml", "r.parquet", "age"], "another study"),
]


@pytest.mark.parametrize(("words", "said"), WRONG, ids=[" ".join(w) for w, _ in WRONG])
def test_wrong_input_is_one_line_and_exit_code_1(
    spoiled: Path, folder: Path, castell: Shell, words: list[str], said: str
) -> None:
    shutil.copytree(spoiled, folder, dirs_exist_ok=True)
    before = sorted(path.name for path in folder.iterdir())
    result = castell(*words)
    assert result.code == 1
    assert result.out == ""
    assert said in result.err
    assert result.err.startswith("castell: ")
    assert result.err.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before


def test_wrong_usage_is_exit_code_2(castell: Shell) -> None:
    assert castell("frobnicate").code == 2
    assert castell("demo", "--people", "0").code == 2


@pytest.mark.parametrize("verb", ["init", "check", "randomize", "estimate", "demo"])
def test_every_verb_has_help_with_an_example(castell: Shell, verb: str) -> None:
    shown = castell(verb, "--help")
    assert shown.code == 0
    assert f"castell {verb}" in " ".join(shown.out.split())
    assert "Example" in shown.out


def test_the_methods_are_told_by_what_they_read(castell: Shell) -> None:
    shown = " ".join(re.sub("[^a-zA-Z,:;. -]", " ", castell("estimate", "--help").out).split())
    for kind, holds in KINDS.items():
        able = ", ".join(method for method in methods() if kind in reads(method).kinds)
        assert f"of {holds}: {able}" in shown


def test_a_method_that_does_not_read_the_reports_is_refused(folder: Path, castell: Shell) -> None:
    text = (folder / "study.toml").read_text(encoding="utf-8")
    drawn = text.replace('design = "independent"', 'design = "pairs"')
    (folder / "drawn.toml").write_text(drawn, encoding="utf-8")
    castell("randomize", "drawn.toml", "answers.csv", "r.parquet")
    asked = ("estimate", "drawn.toml", "r.parquet", "smokes", "--method")
    refused = castell(*asked, "em")
    assert refused.code == 1
    assert refused.err == (
        "castell: method 'em' reads every block from everybody, and these reports hold one drawn "
        "block from each respondent: use auto, castell, independent or latent\n"
    )
    refused = castell(*asked, "castell", "--option", "target=respondents")
    assert refused.code == 1
    assert "target is 'respondents', which means nothing" in refused.err
    assert castell(*asked, "castell").code == 0


def test_values_with_commas_can_be_asked_for() -> None:
    schema = Schema([Attribute("job", ["clerk, senior", "cook", "none"])])
    asked = {"job": ["clerk, senior", "cook"]}
    for option in ("--where", "--given"):
        assert query_from([r"job=clerk\, senior,cook"], schema, option) == asked
        assert query_from(["job=clerk, senior"], schema, option) == {"job": ["clerk, senior"]}


def test_the_installed_script_runs() -> None:
    script = Path(sys.executable).parent / "castell"
    ran = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("castell 0.")


def test_a_csv_file_holds_no_formula(tmp_path: Path) -> None:
    schema = Schema([Attribute("=a", ["=1+1", "b"])])
    reports = Study(schema, 4.0).randomize({"=a": ["=1+1", "b"] * 50}, seed=1)
    joint = estimate(reports, "=a", "castell")
    write_table(joint, tmp_path / "t.csv", 0.95)
    header, first, _ = (tmp_path / "t.csv").read_text("utf-8").splitlines()
    assert header.startswith('"\'=a"')
    assert first.startswith('"\'=1+1"')
    write_table(joint, tmp_path / "t.parquet", 0.95)
    assert pq.read_table(tmp_path / "t.parquet")["=a"].to_pylist() == ["=1+1", "b"]
