"""castell plan, check -n and init: a survey planned on the command line."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv
from typer.testing import CliRunner, Result

from castell import Plan, Study, plan
from castell.cli.app import app
from castell.cli.plan_commands import share_of
from castell.cli.study_file import to_toml
from castell.cli.write_design import with_design, write_design
from castell.errors import CastellError, OptionError, StudyError
from castell.population import SCHEMA, health_survey


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    columns = {name: pa.array(values) for name, values in health_survey(1500).items()}
    csv.write_csv(pa.table(columns), tmp_path / "pilot.csv")
    (tmp_path / "empty.csv").write_text(",".join(columns) + "\n", encoding="utf-8")
    (tmp_path / "other.csv").write_text("shoes\nlarge\n", encoding="utf-8")
    text = to_toml(SCHEMA, name="health", epsilon=4.0)
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*arguments: str) -> Result:
    found = CliRunner().invoke(app, list(arguments))
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


@pytest.mark.parametrize(
    ("text", "share"), [(".03", 0.03), ("3%", 0.03), ("0.5 %", 0.005), ("1", 1.0)]
)
def test_shares_are_read_as_people_write_them(text: str, share: float) -> None:
    assert share_of(text, "--error") == pytest.approx(share)


def test_a_share_that_is_none_is_refused() -> None:
    with pytest.raises(OptionError, match="--error is 'three'"):
        share_of("three", "--error")


def test_plan_prints_designs_and_json() -> None:
    shown = _run("plan", "study.toml", "-n", "2000", "-a", "smokes", "-a", "health").stdout
    assert "smokes x health" in shown
    assert "Recommended (*)" in shown
    found = _run(
        "plan", "study.toml", "--error", "5%", "--epsilon", "4", "--where", "health=poor",
        "--given", "smokes=now", "--like", "pilot.csv", "--response", "60%", "--json",
    )  # fmt: skip
    document = json.loads(found.stdout)
    assert document["solved"] == "n"
    assert document["asked"] == ["health = poor among smokes = now"]
    assert document["reports"] == pytest.approx(0.6 * document["n"], abs=1)
    assert document["error"] <= 0.05


def test_an_earlier_estimate_is_a_likely_population(folder: Path) -> None:
    (folder / "bad.json").write_text('{"attributes": ["smokes"]}', encoding="utf-8")
    with pytest.raises(OptionError, match=r"bad\.json is no estimate"):
        _run("plan", "study.toml", "-n", "900", "--like", "bad.json")
    values = list(SCHEMA["smokes"].values)
    table = {"attributes": ["smokes"], "values": [values], "probabilities": [0.5, 0.4, 0.2]}
    (folder / "bad.json").write_text(json.dumps(table), encoding="utf-8")
    with pytest.raises(OptionError, match="do not sum to one"):
        _run("plan", "study.toml", "-n", "900", "--like", "bad.json")
    (folder / "good.json").write_text(
        json.dumps({**table, "probabilities": [0.5, 0.4, 0.1]}), encoding="utf-8"
    )
    asked = ("plan", "study.toml", "-n", "900", "-a", "smokes", "--json")
    found = json.loads(_run(*asked, "--like", "good.json").stdout)
    assert found["likely"].endswith("synthetic people from what was estimated")
    assert found["error"] != json.loads(_run(*asked).stdout)["error"]


def test_tables_with_commas_are_each_a_table() -> None:
    found = _run("plan", "study.toml", "-n", "900", "-a", "smokes, health", "-a", "age", "--json")
    assert json.loads(found.stdout)["asked"] == ["smokes x health", "age"]


def test_plan_writes_what_it_recommends(folder: Path) -> None:
    _run("plan", "study.toml", "-n", "3000", "-a", "smokes", "-a", "health", "--write",
         "--html", "page.html")  # fmt: skip
    expected = plan(Study.from_toml(to_toml(SCHEMA, name="health", epsilon=4.0)), 3000,
                    attributes=["smokes", "health"])  # fmt: skip
    written = Study.load(folder / "study.toml")
    assert written.design == expected.study.design
    assert written.design.exact_epsilon <= Decimal(4)
    text = (folder / "study.toml").read_text(encoding="utf-8")
    assert "# planned: clusters, own shares gives" in text
    assert "Risk for one respondent" in (folder / "page.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pairs() -> Plan:
    return plan(Study(SCHEMA, 3.0), 30_000)


def test_the_rest_of_a_file_stays(pairs: Plan) -> None:
    text = to_toml(SCHEMA, name="health", epsilon=3.0)
    kept = "# a comment\n" + text.replace("epsilon = 3.0", "epsilon = 9  # much").replace(
        'design = "independent"', 'clusters = [\n  ["age", "region"], # these\n  ["health"],\n]'
    )
    changed = with_design(kept, pairs)
    assert "# a comment" in changed
    assert "# these" not in changed
    assert Study.from_toml(changed).design == pairs.study.design
    # Twice is once.
    assert with_design(changed, pairs) == changed


def test_shares_are_taken_out_again(pairs: Plan) -> None:
    text = to_toml(SCHEMA, name="health", epsilon=3.0)
    own = plan(Study(SCHEMA, 3.0), 3000, attributes=["smokes", "health"])
    shared = with_design(text, own)
    assert shared.count("epsilon = ") == len(SCHEMA)
    assert Study.from_toml(shared).design == own.study.design
    assert Study.from_toml(with_design(shared, pairs)).design == pairs.study.design


def test_files_that_cannot_be_written_stay(folder: Path, pairs: Plan) -> None:
    path = folder / "study.toml"
    text = path.read_text(encoding="utf-8").replace(
        'name = "smokes"',
        'name = "smokes"\nmatrix = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]',
    )
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match="matrices and mechanisms out"):
        write_design(path, pairs)
    assert path.read_text(encoding="utf-8") == text
    with pytest.raises(StudyError, match="is published"):
        write_design(folder / "study.json", pairs)


def test_check_says_how_accurate_it_will_be() -> None:
    shown = _run("check", "study.toml", "-n", "3000").stdout
    assert "as written, independent: 1-way" in shown
    assert "recommended, " in shown
    document = json.loads(_run("check", "study.toml", "-n", "3000", "--json").stdout)
    assert document["plan"]["n"] == 3000
    assert "plan" not in json.loads(_run("check", "study.toml", "--json").stdout)


def test_a_design_that_is_none_of_those_compared_is_named_once() -> None:
    text = Path("study.toml").read_text(encoding="utf-8")
    own = text.replace('name = "smokes"', 'name = "smokes"\nepsilon = 0.5')
    assert own != text
    Path("own.toml").write_text(own, encoding="utf-8")
    assert "  as written: 1-way" in _run("check", "own.toml", "-n", "3000").stdout


def test_init_takes_the_design_that_is_recommended() -> None:
    shown = _run("init", "new.toml", "--from", "pilot.csv", "-n", "20000").stdout
    made = Study.load("new.toml")
    assert made.design.draw
    assert "design: " in shown
    assert "times shorter than independent" in Path("new.toml").read_text(encoding="utf-8")
    assert plan(made, 20_000).best.study.design == made.design


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["plan", "study.toml", "--error", "3"], "3 points are 0.03"),
        (["plan", "study.toml", "-n", "9", "--like", "empty.csv"], "empty.csv holds no answers"),
        (["plan", "study.toml", "-n", "9", "--html", "page.pdf"], "end its name in .html"),
        (["plan", "study.toml", "-n", "9", "--plot", "page.pdf"], "end its name in"),
        (["plan", "study.toml", "-n", "9", "--like", "none.csv"], "there is no file"),
        (["plan", "study.toml", "-n", "9", "--like", "other.csv"], "have no column"),
        (["plan", "study.toml", "-n", "9", "--like", "study.toml"], "study file and holds no ans"),
        (["plan", "study.toml", "-n", "9", "-a", "smoke"], "did you mean"),
        (["plan", "study.toml", "-n", "9", "--where", "smokes"], "is not name=value"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], told: str) -> None:
    with pytest.raises(CastellError, match=told):
        _run(*arguments)


def test_a_pilot_may_have_asked_some_of_the_questions(folder: Path) -> None:
    some = csv.read_csv(folder / "pilot.csv").select(["smokes", "health"])
    csv.write_csv(some.append_column("shoes", [["large"] * len(some)]), folder / "some.csv")
    found = _run("plan", "study.toml", "-n", "500", "--like", "some.csv", "--json")
    likely = json.loads(found.stdout)["likely"]
    assert likely.startswith("a population like 1,500 answers that were given (uniform where")
    assert "shoes" not in likely


def test_earlier_reports_stand_for_the_population(folder: Path) -> None:
    study = Study.load("study.toml")
    answers: Any = csv.read_csv(folder / "pilot.csv")
    study.randomize(answers, seed=1).save(folder / "reports.parquet")
    found = _run("plan", "study.toml", "-n", "500", "--like", "reports.parquet", "--json")
    assert "synthetic people" in json.loads(found.stdout)["likely"]
