"""The verbs import and careless, and estimate --careless, as a user types them."""

from __future__ import annotations

from pathlib import Path

import pytest

import castell
from castell import Study
from tests.cli.test_app import Shell

TEXT = """
name = "paper"

[[attribute]]
name = "copied"
values = ["no", "yes"]
mechanism = "crosswise"
prevalence = {p}

[[attribute]]
name = "cheated"
values = ["no", "yes"]
mechanism = "forced"
forced = ["1/6", "1/6"]
"""


@pytest.fixture
def shell(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Shell:
    monkeypatch.chdir(tmp_path)
    for name, p, same in (("one", 0.25, 60), ("two", 0.75, 30)):
        Path(f"{name}.toml").write_text(TEXT.format(p=p), encoding="utf-8")
        lines = [
            f"{'same' if k < same else 'different'},{'yes' if k % 3 else 'no'}" for k in range(100)
        ]
        Path(f"{name}.csv").write_text("\n".join(["copied,cheated", *lines]), encoding="utf-8")
    return Shell(capsys, monkeypatch)


def test_paper_becomes_reports(shell: Shell) -> None:
    told = shell("import", "one.toml", "one.csv", "one.parquet")
    assert (told.code, told.out) == (
        0,
        "wrote one.parquet: 100 reports, epsilon 2.70805 each in all\n",
    )
    assert "note: castell drew none of the chance" in told.err
    study = Study.load("one.toml")
    found = castell.estimate(castell.Reports.load("one.parquet", study), "copied", "castell")
    assert found.probability(copied="yes") == pytest.approx(0.3)
    again = shell("import", "one.toml", "one.csv", "one.parquet")
    assert (again.code, again.out) == (1, "")
    assert "is there already" in again.err
    forced = shell("import", "one.toml", "one.csv", "one.parquet", "--force", "--json")
    assert forced.json == {
        "reports": 100,
        "file": "one.parquet",
        "digest": study.digest,
        "epsilon": study.epsilon,
    }


def test_what_is_wrong_with_paper_is_one_line(shell: Shell) -> None:
    Path("bad.csv").write_text("copied,cheated\nsame,yes\nyes,\n", encoding="utf-8")
    told = shell("import", "one.toml", "bad.csv", "bad.parquet")
    assert told.code == 1
    assert "2 answers are none of the study's" in told.err
    assert len(told.err.strip().splitlines()) == 1
    assert not Path("bad.parquet").exists()
    assert "does not end in .parquet" in shell("import", "one.toml", "one.csv", "one.csv").err


def test_a_table_beside_what_it_would_be(shell: Shell) -> None:
    shell("import", "one.toml", "one.csv", "one.parquet")
    words = ("estimate", "one.toml", "one.parquet", "copied", "--method", "castell")
    told = shell(*words, "--careless", "0.1")
    joint = castell.fit(castell.scan_reports("one.parquet", Study.load("one.toml")), "castell")
    table = joint.estimate("copied")
    assert told.out.startswith(table.summary())
    assert told.out.rstrip().endswith(table.careless(0.1).summary())
    assert "If 10% of the respondents were careless" in told.out
    says = shell(*words, "--careless", "0.1", "--careless-says", "copied=different", "--json")
    supposed = table.careless(0.1, {"copied": "different"})
    assert says.json == {**table.to_dict(), "if_careless": supposed.to_dict()}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["copied", "--careless", "1"], "share of careless answers is 1.0"),
        (["copied", "--careless-says", "copied=same"], "--careless-says is for --careless"),
        (["--where", "copied=no", "--careless", "0.1"], "shows a joint table"),
        (["--answered", "copied", "--careless", "0.1"], "shows a joint table"),
        (["--width", "2", "--careless", "0.1"], "shows a joint table"),
        (["copied", "--to", "md", "--careless", "0.1"], "shows a joint table"),
        (["copied", "--careless", "0.1", "--careless-says", "copied"], "is not name=value"),
        (["copied", "--careless", "0.1", "--careless-says", "copied=x"], "no report of 'copied'"),
        (["copied", "--careless", "0.1", "--post", "simplex"], "post-processed"),
    ],
)
def test_what_careless_does_not_go_with(shell: Shell, words: list[str], told: str) -> None:
    shell("import", "one.toml", "one.csv", "one.parquet")
    found = shell("estimate", "one.toml", "one.parquet", *words, "--method", "castell")
    assert found.code == 1
    assert told in found.err


def test_the_share_of_the_careless(shell: Shell) -> None:
    for name in ("one", "two"):
        shell("import", f"{name}.toml", f"{name}.csv", f"{name}.parquet")
    places = ("one.toml", "one.parquet")
    told = shell("careless", *places, "cheated", "--known", "no=1")
    assert told.out.startswith("share of those who answer at random, by cheated\n")
    table = shell("careless", *places, "cheated", "--known", "no=1", "--to", "md")
    assert table.out.startswith("| of | value | standard_error | lower | upper |\n")
    against = ("--against", "two.toml=two.parquet")
    both = shell("careless", *places, "copied", *against, "--says", "different", "--json")
    assert both.json["value"] == pytest.approx(0.1, abs=1e-6)
    assert both.json["kind"] == "careless_share"
    assert "leave no trace" in shell("careless", *places, "copied", *against).err
    assert "or between two groups" in shell("careless", *places, "copied").err
    assert "write value=share" in shell("careless", *places, "copied", "--known", "no=x").err
