"""What people said on paper, read as reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, Study, mechanism
from castell.errors import AnswerError, OptionError, StudyError

FREE = Attribute("free", ["no", "yes"])


def _study(**designs: Any) -> Any:
    return Study([Attribute(name, ["no", "yes"]) for name in designs], channels=designs)


def test_each_design_has_its_words() -> None:
    study = _study(
        w=mechanism("warner", p=0.7),
        f=mechanism("forced", forced=[0.1, 0.2]),
        k=mechanism("kuk", red=[0.2, 0.8], cards=2),
        c=mechanism("crosswise", prevalence=0.2),
    )
    said = {
        "w": ["Yes", "no", "True", "0"],
        "f": ["YES", "No", "true", "0"],
        "k": [2, 0, 1, 1],
        "c": ["same", "Different", "both or neither", "1"],
    }
    reports = castell.import_reports(study, said)
    assert [column.tolist() for column in reports.columns] == [
        [1, 0, 1, 0],
        [1, 0, 1, 0],
        [2, 0, 1, 1],
        [1, 0, 1, 1],
    ]
    assert reports.secure


def test_forced_answers_of_several_values_are_called_by_their_names() -> None:
    channel = mechanism("forced", forced=[0.1, 0.1, 0.2])
    study = Study([Attribute("often", ["never", "once", "more"])], channels={"often": channel})
    reports = castell.import_reports(study, {"often": ["more", "never", "Once"]})
    assert reports.columns[0].tolist() == [2, 0, 1]


def test_a_joint_block_is_read_from_a_column_for_each_attribute() -> None:
    schema = [Attribute("a", ["no", "yes"]), Attribute("b", ["x", "y", "z"])]
    study = Study(schema, epsilon=2.0, design="joint")
    reports = castell.import_reports(study, {"a": ["yes", "no"], "b": ["x", "z"]})
    assert reports.columns[0].tolist() == [3, 2]


def test_reports_of_a_file_are_those_of_a_frame(tmp_path: Path) -> None:
    study = _study(w=mechanism("warner", p=0.7), c=mechanism("crosswise", prevalence=0.2))
    generator = np.random.default_rng(1)
    said = {
        "w": np.where(generator.random(500) < 0.4, "yes", "no"),
        "c": np.where(generator.random(500) < 0.6, "same", "different"),
    }
    lines = ["c;other;w", *(f"{c};;{w}" for w, c in zip(said["w"], said["c"], strict=True))]
    (tmp_path / "said.csv").write_text("\n".join(lines))
    remarks: list[str] = []
    many = castell.import_file(
        study, tmp_path / "said.csv", tmp_path / "r.parquet", remarks=remarks.append
    )
    assert many == 500
    assert "semicolons" in remarks[0]
    read = castell.Reports.load(tmp_path / "r.parquet", study)
    for one, two in zip(read.columns, castell.import_reports(study, said).columns, strict=True):
        assert (one == two).all()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["yes", "perhaps"], "row 2, column 'w': 'perhaps' is not a value"),
        (["yes", None], "row 2, column 'w': the answer is missing"),
        (["same"], "'same' is not a value"),
        (["2", "3", "x"], "3 answers are none of the study's"),
    ],
)
def test_what_is_no_report_is_told(said: Any, words: Any, tmp_path: Path) -> None:
    study = _study(w=mechanism("warner", p=0.7))
    with pytest.raises(AnswerError, match=words):
        castell.import_reports(study, {"w": said})
    target = tmp_path / "r.parquet"
    (tmp_path / "said.csv").write_text("w\n" + "\n".join(f'"{each or ""}"' for each in said) + "\n")
    with pytest.raises(AnswerError, match=words):
        castell.import_file(study, tmp_path / "said.csv", target)
    assert not target.exists()


def test_what_cannot_stand_on_paper_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="everybody says everything"):
        castell.import_reports(
            Study([FREE, Attribute("b", ["x", "y"])], epsilon=1.0, design="singles"), {}
        )
    with pytest.raises(StudyError, match="no answers that could stand on paper"):
        castell.import_reports(Study([FREE], epsilon=1.0, design="bloom"), {"free": ["no"]})
    study = _study(w=mechanism("warner", p=0.7))
    (tmp_path / "said.csv").write_text("w\n")
    with pytest.raises(AnswerError, match="no rows"):
        castell.import_file(study, tmp_path / "said.csv", tmp_path / "r.parquet")
    with pytest.raises(OptionError, match="one file"):
        castell.import_file(study, tmp_path / "said.csv", tmp_path / "said.csv")


def test_paper_says_what_people_meant() -> None:
    """From people to paper by dice, and back: 200 times 400 people, at most 5.2 errors off."""
    channel = mechanism("unrelated", p="2/3", prevalence=0.25)
    study = _study(a=channel)
    generator = np.random.default_rng(7)
    values = []
    for _ in range(200):
        guilty = generator.random(400) < 0.2
        asked = generator.random(400) < 2 / 3
        yes = np.where(asked, guilty, generator.random(400) < 0.25)
        reports = castell.import_reports(study, {"a": np.where(yes, "yes", "no")})
        values.append(castell.estimate(reports, "a", "castell").probabilities[1])
    share = 0.2 * 2 / 3 + 1 / 12
    error = 1.5 * np.sqrt(share * (1 - share) / 400)
    assert abs(np.mean(values) - 0.2) < 5.2 * error / np.sqrt(200)
    assert np.std(values) == pytest.approx(error, rel=0.25)
