"""Every method and design on answers of one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castell
from castell import CastellError
from experiments import __main__, compare, harness
from experiments.settings import Settings
from experiments.text import mean_of


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(castell, "methods", lambda: ("castell", "independent"))
    monkeypatch.setattr(harness, "systems", lambda: ())
    monkeypatch.setattr(compare, "DRAWN", compare.DRAWN[2:3])
    generator = np.random.default_rng(1)
    a = generator.integers(0, 2, 2000)
    b = np.where(generator.random(2000) < 0.8, a, generator.integers(0, 3, 2000))
    rows = [f"{'no' if x else 'yes'},{y},same" for x, y in zip(a, b, strict=True)]
    path = tmp_path / "mine.csv"
    path.write_text("smokes,visits,country\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_a_file_becomes_people(answers: Path) -> None:
    people = compare.read(answers)
    assert people.n == 2000
    # What everybody answers alike is not asked.
    assert people.schema.names == ("smokes", "visits")
    assert people.schema["visits"].values == ("0", "1", "2")


def test_every_scheme_is_run_with_real_noise_at_the_total_asked(
    answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, picture = answers.with_name("out.json"), answers.with_name("out.svg")
    arguments = ["compare", str(answers), "--epsilon", "6", "--jobs", "1", "--quick"]
    assert __main__.main([*arguments, "--json", str(out), "--figure", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "epsilon 3 per attribute, 6 in all" in said
    assert "errs least" in said
    result = json.loads(out.read_text(encoding="utf-8"))
    schemes = {r["scheme"] for r in result["records"]}
    assert schemes > {"castell", "independent", "RR-Joint", "latent, pairs drawn"}
    # Two attributes that go together: independence errs by more than the noise of one study.
    joint, apart = (mean_of(result, x=2, scheme=s) for s in ("castell", "independent"))
    assert joint is not None
    assert apart is not None
    assert joint < apart
    assert "<svg" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n", "holds no answers"),
        ("a,b\n1,1\n1,1\n", "no column that varies"),
        ("a\n1\n2\n", "one column that varies"),
        ("a,b\n1,2\n1\n", "1 row does not have the 2 columns"),
        ("", "no names of columns"),
        ("a,b\n" + "".join(f"{i},{i % 2}\n" for i in range(99)), "99 different values"),
    ],
)
def test_files_that_are_no_answers_are_refused(answers: Path, content: str, said: str) -> None:
    answers.write_text(content, encoding="utf-8")
    with pytest.raises(CastellError, match=said):
        compare.read(answers)


def test_what_is_not_plain_about_a_file_is_read_and_told(answers: Path) -> None:
    """Semicolons, empty cells, a name twice: as `castell` itself reads answers."""
    answers.write_text("a;b;b\nx;;1\ny;q;2\n;q;1\n", encoding="utf-8")
    people = compare.read(answers)
    assert people.schema.names == ("a", "b", "b (2)")
    assert people.schema["a"].values == ("no answer", "x", "y")
    assert people.schema["b"].values == ("no answer", "q")
    assert people.n == 3
    for said in ("separated by semicolons", "2 columns are called 'b'", "2 empty cells"):
        assert said in people.note


def test_what_cannot_be_written_is_told_in_one_line(
    answers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Found out at the end only: a full disk, a folder that was taken away."""
    out = answers.with_name("gone") / "out.json"
    out.parent.mkdir()
    kept = compare.run

    def run(*given: Any) -> Any:
        out.parent.rmdir()
        return kept(*given)

    monkeypatch.setattr(compare, "run", run)
    arguments = ["compare", str(answers), "--jobs", "1", "--quick", "--json", str(out)]
    assert __main__.main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "cannot be written" in error


def test_the_command_needs_a_file_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["compare"]) == 1
    assert "compare my.csv --epsilon 4" in capsys.readouterr().err
    assert __main__.main(["compare", "no.csv"]) == 1
    assert "there is no file no.csv" in capsys.readouterr().err
    assert __main__.main(["fig_3d", "my.csv"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_the_papers_model_is_not_for_own_answers(answers: Path) -> None:
    with pytest.raises(CastellError, match="use --noise real"):
        compare.run(compare.read(answers), Settings(noise="rounding"))
