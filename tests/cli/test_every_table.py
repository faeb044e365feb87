"""Every table and every association on the command line, from folders and patterns too."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from castell import Study, fit, scan_reports
from castell.population import SCHEMA, health_survey
from tests.cli.test_app import Shell, castell

__all__ = ["castell"]  # a fixture


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.chdir(tmp_path)
    made = Study(SCHEMA, 6.0, "pairs")
    made.save("study.json")
    Path("reports").mkdir()
    for day in range(3):
        made.randomize(health_survey(800, seed=day)).save(f"reports/{day}.parquet")
    return made


def test_a_pattern_and_a_folder_are_all_their_files(study: Study, castell: Shell) -> None:
    del study
    found = [
        castell("estimate", "study.json", place, "age", "--method", "castell", "--json").json
        for place in ("reports/*.parquet", "reports", "reports/")
    ]
    assert found[0]["n"] == 2400
    assert found[0] == found[1] == found[2]


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("verb", ["estimate", "associations"])
def test_a_pattern_without_quotes_is_told(verb: str, castell: Shell) -> None:
    """The shell has made a list of files of it."""
    files = sorted(map(str, Path("reports").glob("*.parquet")))
    found = castell(verb, "study.json", *files, "age")
    assert (found.code, found.err.count("\n")) == (1, 1)
    assert "reports/1.parquet is a file" in found.err
    assert "put a pattern in quotes" in found.err


def test_every_table_of_a_width(study: Study, castell: Shell) -> None:
    ask = ("estimate", "study.json", "reports", "--width", "2", "--method", "castell")
    told = castell(*ask, "--most", "2", "--output", "pairs.parquet")
    assert told.code == 0
    assert "15 tables of 2 attributes, n = 2,400" in told.out
    assert "... and 13 more" in told.out
    assert told.out.endswith("wrote pairs.parquet\n")
    table = pq.read_table("pairs.parquet")
    assert table.num_rows == 201
    assert table.schema.metadata[b"castell.secure"] == b"true"
    document = castell(*ask, "--json").json
    assert document["kind"] == "joint_estimates"
    model = fit(scan_reports("reports", study), "castell")
    for one in document["tables"]:
        assert one == json.loads(json.dumps(model.estimate(one["attributes"]).to_dict()))
    assert "--output FILE.parquet writes all cells" in castell(*ask).out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("age",), "--width asks for every table"),
        (("--where", "age=60+"), "--width asks for every table"),
        (("--plot", "a.png"), "--width asks for every table"),
        (("--output", "a.txt"), "end its name in .csv or .parquet"),
    ],
)
@pytest.mark.usefixtures("study")
def test_what_is_for_one_table_is_refused(more: tuple[str, ...], said: str, castell: Shell) -> None:
    found = castell("estimate", "study.json", "reports", *more, "--width", "2")
    assert (found.code, found.out) == (1, "")
    assert said in found.err


def test_the_largest_cells(study: Study, castell: Shell) -> None:
    ask = ("estimate", "study.json", "reports", "age", "smokes", "--method", "castell")
    told = castell(*ask, "--top", "3", "--output", "top.parquet")
    assert told.code == 0
    assert "The 3 largest of 12 cells of age x smokes" in told.out
    assert told.out.endswith("wrote top.parquet\n")
    assert pq.read_table("top.parquet").num_rows == 3
    model = fit(scan_reports("reports", study), "castell")
    document = castell(*ask, "--top", "3", "--json").json
    assert document == json.loads(json.dumps(model.top(["age", "smokes"], 3).to_dict()))
    assert document["kind"] == "top_cells"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--top", "0", "age"), "k is 0"),
        (("--top", "3", "--where", "age=60+"), "--top names no table"),
        (("--top", "3", "age", "--to", "md"), "--to for something else"),
        (("--top", "3", "age", "--post", "clip"), "--post for something else"),
        (("--top", "3", "age", "--given", "smokes=now"), "--given for something else"),
        (("--top", "3", "age", "--plot", "a.png"), "--plot for something else"),
    ],
)
@pytest.mark.usefixtures("study")
def test_what_is_not_for_the_largest_cells(
    more: tuple[str, ...], said: str, castell: Shell
) -> None:
    found = castell("estimate", "study.json", "reports", *more, "--method", "castell")
    assert (found.code, found.out) == (1, "")
    assert said in found.err


def test_associations_as_a_table_a_file_a_picture_and_json(study: Study, castell: Shell) -> None:
    ask = ("associations", "study.json", "reports/*.parquet")
    told = castell(*ask, "--most", "3", "--output", "a.csv", "--plot", "a.png")
    assert told.code == 0
    assert "... and 12 more pairs" in told.out
    assert "pairs are called associated; at most 5% of these" in told.out
    assert len(Path("a.csv").read_text().splitlines()) == 16
    assert Path("a.png").stat().st_size > 10_000
    table = castell(*ask, "--to", "md").out.splitlines()
    assert len(table) == 17
    assert table[0].startswith("| attribute_1 | attribute_2 | cramers_v |")
    assert castell(*ask, "--to", "excel", "--output", "a.xlsx").code == 0
    assert Path("a.xlsx").stat().st_size > 1000
    assert "print two things" in castell(*ask, "--to", "md", "--json").err
    document = castell(*ask, "--json").json
    made = fit(scan_reports("reports", study), "castell").associations()
    assert document == json.loads(json.dumps(made.to_dict()))
    assert len(document["pairs"]) == 15
    one = made["health", "exercise"]
    assert {"exercise", "health"} == set(one.names)
    assert made.matrix.shape == (6, 6)
    with pytest.raises(KeyError):
        made["health", "no"]
    some = castell(*ask, "age", "health", "smokes", "--json").json
    assert len(some["pairs"]) == 3
    assert castell(*ask, "age").err.startswith("castell: one attribute has no association")
    assert "Associations of" in made._repr_html_()


@pytest.mark.usefixtures("study")
def test_every_table_is_printed_for_a_report(castell: Shell) -> None:
    told = castell("estimate", "study.json", "reports", "--width", "2", "--to", "csv")
    header, *rows = told.out.splitlines()
    assert header.startswith('"attribute_1","value_1","attribute_2","value_2","probability"')
    assert len(rows) > 15


@pytest.mark.usefixtures("study")
def test_an_engine_that_does_not_answer_is_one_line(castell: Shell) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: castell[dask]")
    found = castell("estimate", "study.json", "reports", "age", "--engine", "duskk://x")
    assert (found.code, found.err.count("\n")) == (1, 1)
    assert "there is no engine 'duskk://x'" in found.err
