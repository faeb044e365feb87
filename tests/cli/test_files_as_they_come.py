"""From a file as it comes to a published table, on the command line alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from openpyxl import load_workbook

from castell import Attribute, Schema, Study
from castell.cli.study_file import first_study, to_toml
from castell.device.answer_file import AnswerFile
from castell.device.encode import encode
from castell.device.proposal import Found, propose, round_cuts
from castell.errors import SchemaError, StudyError
from tests.cli.test_app import Shell

ROWS = 3_000


@pytest.fixture
def castell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(capsys, monkeypatch)


@pytest.fixture(scope="module")
def pilot() -> pd.DataFrame:
    """Answers of a pilot, which no test changes."""
    made = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "id": range(1, ROWS + 1),
            "income": np.round(made.lognormal(10, 0.6, ROWS)),
            "age": made.integers(18, 48, ROWS),
            "children": made.poisson(1.2, ROWS).clip(0, 6).astype(float),
            "smokes": made.choice(["now", "never", "before"], ROWS),
            "agree": made.random(ROWS) < 0.4,
            "education": made.choice(["school", "college", "doctorate"], ROWS),
            "gain": np.where(made.random(ROWS) < 0.9, 0, made.integers(100, 9_999, ROWS)),
            "since": pd.to_datetime("2024-01-01")
            + pd.to_timedelta(made.integers(0, 365, ROWS), "D"),
            "weight": made.normal(70, 12, ROWS).round(1),
            "health": pd.Series(made.choice(["good", "poor", "fair"], ROWS)).where(
                made.random(ROWS) > 0.05
            ),
        }
    )


def test_a_file_as_it_comes_needs_no_python(
    pilot: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, castell: Shell
) -> None:
    monkeypatch.chdir(tmp_path)
    pilot.to_csv("pilot.csv", index=False, sep=";", encoding="cp1252")
    made = castell("init", "study.toml", "--from", "pilot.csv", "--epsilon", "40")
    assert made.code == 0
    notes = made.err.splitlines()
    assert notes[0] == "note: pilot.csv is separated by semicolons"
    # Every column is told what became of it, in the order of the file.
    told = [note.split("'")[1] for note in notes[1:]]
    assert told == list(pilot.columns)
    said = dict(zip(told, notes[1:], strict=True))
    assert "left out as an identifier" in said["id"]
    assert "cut into bins" in said["income"]
    assert "quantiles of this file" in said["income"]
    assert "public figures" in said["income"]
    assert "alphabetical order" in said["education"]
    assert "usual order" in said["smokes"]
    missing = int(pilot["health"].isna().sum())
    assert f"{missing} missing answers become 'prefer not to say'" in said["health"]
    schema = Study.load("study.toml").schema
    assert 4 <= schema["income"].size <= 8
    assert 4 <= schema["age"].size <= 8
    assert schema["children"].answers == tuple(str(k) for k in range(7))
    assert schema["smokes"].answers == ("never", "before", "now")
    assert schema["agree"].answers == ("false", "true")
    assert schema["since"].answers[::11] == ("2024-01", "2024-12")
    # The file, and the frame that pandas makes of it, are read alike.
    assert castell("randomize", "study.toml", "pilot.csv", "reports.parquet").code == 0
    study = Study.load("study.toml")
    assert len(study.randomize(pd.read_csv("pilot.csv", sep=";"))) == ROWS
    assert len(study.randomize(pilot)) == ROWS
    for asked, wanted in [
        (["--mean", "children"], "mean of children"),
        (["--mean", "weight", "--within", "0,200"], "mean of weight"),
        (["--quantile", "age", "--given", "smokes=now"], "median of age"),
        (["--quantile", "income=0.9"], "0.9 quantile of income"),
        (["--answered", "health"], "bounds for everybody"),
        (["--answered", "health", "--given", "smokes=now"], "who answered given smokes"),
        (["--smooth", "age"], "age"),
        (["--smooth", "age", "--to", "md"], "| age | probability |"),
        (["age", "smokes", "--to", "md"], "| age | smokes | probability |"),
        (["age", "--to", "latex"], r"\begin{tabular}{lrrrr}"),
        (["age", "--to", "csv"], '"age","probability"'),
        (["--mean", "children", "--to", "md"], "| mean of children |"),
    ]:
        found = castell("estimate", "study.toml", "reports.parquet", "--method", "castell", *asked)
        assert found.code == 0, found.err
        assert wanted in found.out
    table = ("estimate", "study.toml", "reports.parquet", "health", "--method", "castell")
    assert castell(*table, "--to", "excel", "--output", "t.xlsx").code == 0
    rows = list(load_workbook("t.xlsx").worksheets[0].iter_rows(values_only=True))
    assert [row[0] for row in rows] == ["health", "poor", "fair", "good", "prefer not to say"]
    for name in ("t.md", "t.tex", "t.csv", "t.parquet"):
        assert castell(*table, "--output", name).code == 0
        assert Path(name).stat().st_size > 50
    mean = castell(*table[:3], "--mean", "children", "--json")
    assert json.loads(mean.out)["kind"] == "mean"


@pytest.fixture(scope="module")
def asked_of(pilot: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A first study of few answers and reports of it: both are only read by wrong questions."""
    folder = tmp_path_factory.mktemp("asked")
    pilot.head(200).to_csv(folder / "pilot.csv", index=False)
    text, _ = first_study(folder / "pilot.csv")
    study = Study.from_toml(text)
    (folder / "study.toml").write_text(text, encoding="utf-8")
    study.randomize(pd.read_csv(folder / "pilot.csv")).save(folder / "reports.parquet")
    return folder


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--mean", "income"], "has no end, so there is no mean: say between which"),
        (["--mean", "education"], "no numbers"),
        (["--quantile", "education"], "have no order: write ordered = true"),
        (["--quantile", "age=half"], "write name=0.9"),
        (["--mean", "age", "--answered", "age"], "ask for one of them"),
        (["age", "--mean", "age"], "a table and --mean were asked"),
        (["--mean", "age", "--plot", "x.png"], "leave out --plot"),
        (["age", "--within", "0,5"], "--within is for --mean"),
        (["--answered", "health", "--given", "health=poor"], "asked for and given"),
        (["--smooth", "age", "--given", "smokes=now"], "--smooth has no --given"),
        (["--smooth", "education"], "have no order"),
        (["age", "--to", "word"], "use one of csv, md, latex, excel"),
        (["age", "--to", "excel"], "add --output table.xlsx"),
        (["age", "--to", "md", "--json"], "print two things"),
    ],
)
def test_wrong_questions_say_what_to_do(
    asked: list[str],
    message: str,
    asked_of: Path,
    monkeypatch: pytest.MonkeyPatch,
    castell: Shell,
) -> None:
    monkeypatch.chdir(asked_of)
    found = castell("estimate", "study.toml", "reports.parquet", "--method", "castell", *asked)
    assert found.code == 1
    assert message in found.err
    assert found.err.count("\n") == 1


@pytest.mark.parametrize(
    "asked",
    [
        ["--mean", "age", "--within", "0,110"],
        ["--quantile", "age"],
        ["--where", "smokes=now"],
        ["--answered", "health"],
    ],
)
def test_single_numbers_are_written_too(
    asked: list[str], asked_of: Path, monkeypatch: pytest.MonkeyPatch, castell: Shell
) -> None:
    monkeypatch.chdir(asked_of)
    ask = ("estimate", "study.toml", "reports.parquet", "--method", "castell", *asked)
    assert castell(*ask, "--to", "excel", "--output", "one.xlsx").code == 0
    (sheet,) = load_workbook("one.xlsx").worksheets
    header, *rows = sheet.iter_rows(values_only=True)
    assert header[-2:] == ("lower", "upper")
    assert rows
    printed = castell(*ask, "--to", "csv").out.splitlines()
    assert len(printed) == len(rows) + 1


def proposed(values: list[object], **options: object) -> tuple[Attribute | None, str]:
    found = Found("a")
    found.add(pa.chunked_array([pa.array(values)]))
    made = propose(found, **options)  # type: ignore[arg-type]
    return made.attribute, made.remark


def test_decimal_commas_are_those_of_numbers_with_a_point(tmp_path: Path) -> None:
    """Spreadsheets of much of Europe write 2,0 where one number of a column is missing."""
    comma, point = tmp_path / "comma.csv", tmp_path / "point.csv"
    rows = ["2.0;0.5", "0.0;1.75", "1.0;", ";2.5"] * 9
    point.write_text("children;share\n" + "\n".join(rows))
    comma.write_text("children;share\n" + "\n".join(rows).replace(".", ","))
    text, _ = first_study(comma)
    assert text == first_study(point)[0].replace("point", "comma")
    study = Study.from_toml(text)
    assert study.schema["children"].values[:3] == ("0", "1", "2")
    assert study.schema["share"].values[:3] == ("0.5", "1.75", "2.5")
    coded = [encode(study.schema, next(iter(AnswerFile(file)))) for file in (comma, point)]
    for name in study.names:
        np.testing.assert_array_equal(coded[0][name], coded[1][name])


def test_a_comma_that_may_part_thousands_is_told(tmp_path: Path) -> None:
    path = tmp_path / "weights.csv"
    rows = [f"{k % 3};{1 + k},{100 + k};{k % 28 + 1}.{k % 12 + 1}.2024" for k in range(150)]
    path.write_text("\n".join(["a;weight;born", *rows]))
    _, remarks = first_study(path)
    assert any("'1,100' may be two numbers: write a point" in remark for remark in remarks)
    # A day of which nobody says in what order it is written.
    path.write_text(
        "\n".join(["a;born", *(f"{k % 3};{k % 28 + 1}.3.{1900 + k}" for k in range(150))])
    )
    assert any("'1.3.1900' looks like a day" in remark for remark in first_study(path)[1])
    # Thousands never begin with 0.
    path.write_text("\n".join(["a;part", *(f"{k % 3};0,{100 + k}" for k in range(150))]))
    assert "bins = [" in first_study(path)[0]


def test_a_file_with_more_columns_than_a_survey_asks(tmp_path: Path) -> None:
    """Names that are longer than what is read at first, and rows longer than a block."""
    path, many = tmp_path / "wide.csv", 40_000
    names = [f"a question with a long name, number {k}" for k in range(many)]
    row = [str(k % 2) for k in range(many)]
    other = [text.replace("1", "x" * 60) for text in row]
    quoted = ",".join(f'"{name}"' for name in names)
    path.write_text("\n".join([quoted, ",".join(row), ",".join(other)]))
    found = next(iter(AnswerFile(path, names[-2:])))
    assert found.to_pydict() == {names[-2]: ["0", "0"], names[-1]: ["1", "x" * 60]}
    with pytest.raises(StudyError, match=r"has 20,000 columns that can be asked: .* --column"):
        first_study(path)
    text, _ = first_study(path, columns=names[-1:])
    assert Study.from_toml(text).names == (names[-1],)


def test_what_init_wrote_is_what_a_frame_says(tmp_path: Path) -> None:
    """'1.0' and 'True' of a file are '1' and 'true' of pandas."""
    path = tmp_path / "a.csv"
    path.write_text("n,t\n1.0,True\n2.0,False\n3.5,True\n")
    study = Study.from_toml(first_study(path)[0])
    assert study.schema["n"].answers == ("1", "2", "3.5")
    assert study.schema["t"].answers == ("false", "true")
    assert len(study.randomize(pd.read_csv(path))) == 3


def test_lists_in_cells_are_questions_of_which_several_may_apply(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,sports\n" + "u,run;ski\nv,\nu,swim\nv,NA\nu,prefer not to say\n" * 9)
    text, remarks = first_study(path, missing=["NA"])
    assert 'choose = ["run", "ski", "swim"]' in text
    assert text.count("[[attribute]]") == 2
    assert remarks[1] == (
        "'sports': people chose of 3 options: a yes or no for each; 9 empty cells chose none of "
        "them; 9 missing answers become 'no answer' (missing = \"category\"); "
        "'prefer not to say' stands beside them"
    )
    study = Study.from_toml(text)
    assert study.schema["sports: ski"].values == ("no", "yes", "no answer", "prefer not to say")
    found = encode(study.schema, next(iter(AnswerFile(path, missing=["NA"]))))
    assert found["sports: ski"][:5].tolist() == [1, 0, 0, 2, 3]
    # Options that do not stand together are not one question.
    x, run, ski, swim = study.schema
    for attributes in ((run, x, ski, swim), (swim, run, ski, x)):
        told = to_toml(Schema(attributes), name="a", epsilon=2.0)
        assert Study.from_toml(told).schema == Schema(attributes)
    days: list[object] = [f"2024-0{k}-01" for k in (3, 1, 2)]
    attribute, said = proposed(days, decline="")
    assert attribute is not None
    assert (attribute.values, attribute.ordered) == (tuple(sorted(map(str, days))), True)
    assert said == "'a': 3 days in order"


def test_columns_of_every_kind() -> None:
    attribute, said = proposed([float(k) for k in range(40)] + [None])
    assert attribute is not None
    assert attribute.missing == "category"
    assert "1 missing answer becomes 'prefer not to say'" in said
    attribute, said = proposed([*(str(k * 2) for k in range(40)), "?", "?"], decline="")
    assert attribute is not None
    assert attribute.values[-1] == "?"
    assert attribute.beside == 1
    attribute, said = proposed(["x", "y", None], decline="")
    assert attribute is not None
    assert attribute.values == ("x", "y", "no answer")
    attribute, said = proposed([f"name {k}" for k in range(101)])
    assert attribute is None
    assert "101 different values in 101 rows: left out; group them" in said
    attribute, said = proposed([f"2024-{m:02}-{d:02}" for m in (1, 2) for d in range(1, 20)])
    assert attribute is not None
    assert attribute.answers == ("2024-01", "2024-02")
    attribute, said = proposed([f"{year}-05-0{d}" for year in range(1990, 2010) for d in (1, 2)])
    assert attribute is not None
    assert attribute.answers[0] == "1990"
    assert len(attribute.answers) == 20
    attribute, said = proposed(["Agree", "Strongly disagree", "Disagree"])
    assert attribute is not None
    assert attribute.answers == ("Strongly disagree", "Disagree", "Agree")
    assert attribute.ordered
    attribute, said = proposed(["x"] * 5)
    assert attribute is None


def test_who_does_not_know_stands_beside_a_scale() -> None:
    made, remark = proposed(["poor", "good", "Don't know", "fair"] * 5, decline="")
    assert made is not None
    assert (made.values, made.beside) == (("poor", "fair", "good", "Don't know"), 1)
    assert made.ordered
    assert '3 values in their usual order, "Don\'t know" beside them' in remark
    # Among answers of no known order it is one of them.
    made, _ = proposed(["left", "right", "don't know"] * 5, decline="")
    assert made is not None
    assert made.beside == 0


def test_cuts_are_round_and_near_the_quantiles() -> None:
    made = np.random.default_rng(2)
    for numbers in (
        made.normal(0, 1, 5_000),
        made.lognormal(10, 1, 5_000),
        made.integers(18, 90, 5_000).astype(float),
        made.uniform(1e-6, 2e-6, 5_000),
    ):
        values, many = np.unique(numbers, return_counts=True)
        cuts = round_cuts(list(zip(values.tolist(), many.tolist(), strict=True)))
        assert 3 <= len(cuts) <= 6
        assert all(len(cut.strip("-0.").replace(".", "")) <= 3 for cut in cuts), cuts
        shares = np.diff([0.0, *[(numbers < float(cut)).mean() for cut in cuts], 1.0])
        assert shares.max() < 0.5
        assert shares.min() > 0.02
    # A number that most have stands alone.
    cuts = round_cuts([(0.0, 900), *((float(k), 1) for k in range(100, 200))])
    assert cuts[0] == "100"
    assert len(cuts) >= 4


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pa.table])
def test_a_schema_from_a_frame(kind: object) -> None:
    frame = kind(  # type: ignore[operator]
        {"age": list(range(18, 78)), "sex": ["f", "m"] * 30, "name": [f"n{k}" for k in range(60)]}
    )
    schema = Schema.from_frame(frame, ["age", "sex"])
    assert schema.names == ("age", "sex")
    assert schema["sex"].values == ("f", "m", "prefer not to say")
    assert schema["age"].scale is not None
    assert Schema.from_frame(frame, decline="")["sex"].values == ("f", "m")
    assert Schema.from_frame(frame).names == ("age", "sex", "name")
    with pytest.raises(SchemaError, match="'one' has 1 different value in"):
        Schema.from_frame({"one": ["x"] * 9, "sex": ["f", "m", "f"] * 3}, ["one"])


def test_texts_that_mean_no_answer_are_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, castell: Shell
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["owes;age", *["no;30", "yes;999", "NA;41", "k.A.;30"] * 25]
    Path("people.csv").write_text("\n".join(rows), encoding="utf-8")
    made = castell("init", "study.toml", "--from", "people.csv")
    assert "'NA' and 'k.A.' look like missing answers" in made.err
    assert "--missing NA --missing k.A. --force" in made.err
    missing = ["--missing", "NA", "--missing", "k.A.", "--missing", "999"]
    made = castell("init", "study.toml", "--from", "people.csv", "--force", *missing)
    assert made.code == 0
    assert "look like" not in made.err
    assert "50 missing answers become 'prefer not to say'" in made.err
    schema = Study.load("study.toml").schema
    assert schema["owes"].values == ("no", "yes", "prefer not to say")
    assert "999" not in schema["age"].values
    # Forgotten here, they are answers that the study does not know.
    refused = castell("randomize", "study.toml", "people.csv", "reports.parquet")
    assert refused.code != 0
    assert "'NA' in rows" in refused.err
    assert "--missing NA" in refused.err
    done = castell("randomize", "study.toml", "people.csv", "reports.parquet", *missing)
    assert done.out.startswith("wrote reports.parquet: 100 reports")
