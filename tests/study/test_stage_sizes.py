"""`stages` in a study file: when a stage is full. Published is only the promise."""

from __future__ import annotations

from pathlib import Path

import pytest

import castell
from castell import Study
from castell.errors import OptionError, StudyError
from castell.study.stage_sizes import load_stage_sizes
from tests.staged_studies import FIRST, STAGED


def sizes(folder: Path, lines: str) -> tuple[int, ...] | None:
    path = folder / "study.toml"
    path.write_text(STAGED.replace("stages = true", lines), encoding="utf-8")
    study, found = Study.load(path), load_stage_sizes(path)
    assert (study.promise is not None) == (found is not None)
    # However long stages are, the study is the same.
    assert found is None or study == FIRST
    return None if found is None else found.ends


@pytest.mark.parametrize(
    ("lines", "ends"),
    [
        ("stages = [0.1, 1.0]\nexpected = 30000", (3000, 30_000)),
        ("stages = [0.15, 0.5, 1]\nexpected = 1001", (150, 500, 1001)),
        ("stages = [3000, 30000]", (3000, 30_000)),
        ("stages = true", ()),
        ("stages = false", None),
        ("", None),
    ],
)
def test_what_a_study_file_says(tmp_path: Path, lines: str, ends: tuple[int, ...] | None) -> None:
    assert sizes(tmp_path, lines) == ends


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("stages = [0.1, 1.0]", "shares of respondents: add expected"),
        ("stages = [0.1, 0.9]\nexpected = 30000", "ends at 0.9"),
        ("stages = [0.1, 3000]\nexpected = 30000", r"stages is \[0.1, 3000\]"),
        ("stages = [0.1, 1.5]\nexpected = 30000", r"stages is"),
        ("stages = [-0.1, 1.0]\nexpected = 30000", r"stages is"),
        ("stages = [true, 1.0]\nexpected = 30000", r"stages is"),
        ("stages = [nan, 1.0]\nexpected = 30000", r"stages is \[NaN, 1.0\]"),
        ("stages = [0.1, inf]\nexpected = 30000", r"stages is \[0.1, Infinity\]"),
        ('stages = "yes"\nexpected = 30000', "stages is 'yes'"),
        ("stages = [3000]\nexpected = 30000", r"stages is \[3000\]"),
        ('stages = ["a", 1.0]\nexpected = 30000', r"stages is"),
        ("stages = [3000]", r"stages is \[3000\]"),
        ("stages = 3000", "stages is 3000"),
        ('stages = "yes"', "stages is 'yes'"),
        ("stages = [3000, 2000]", "a stage ends at 2,000 reports"),
        ("stages = [3000, 3100]", "100 after it began"),
        ("stages = [100, 3000]", "100 after it began"),
        ("stages = [3000, 1000000001]", "end it at 1,000,000,000 at most"),
        ("stages = [0.1, 1.0]\nexpected = 1000000000000", "end it at 1,000,000,000 at most"),
        ("stages = [0.001, 1.0]\nexpected = 30000", "30 after it began"),
        ("stages = [3000, 30000]\nexpected = 30000", "expected is 30000"),
        ("stages = [0.1, 1.0]\nexpected = -5", "expected is -5"),
        ("stages = [0.1, 1.0]\nexpected = 30000.5", "expected is 30000.5"),
        ("expected = 30000", "expected is 30000"),
    ],
)
def test_what_is_no_stage(tmp_path: Path, lines: str, problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        sizes(tmp_path, lines)


@pytest.mark.parametrize("staged", ["yes", 1, [0.1, 1.0], None])
def test_sizes_are_for_the_file_and_not_for_the_study(staged: object) -> None:
    with pytest.raises(StudyError, match="when stages end is for the study file"):
        Study(FIRST.schema, 2.0, "pairs", staged=staged)  # type: ignore[arg-type]


def test_what_no_later_stage_could_ask() -> None:
    skipped = [castell.Attribute("a", ["x", "y"], missing="skip"), *FIRST.schema]
    with pytest.raises(StudyError, match="a question that may be skipped, 'a'"):
        Study(skipped, 2.0, staged=True)
    with pytest.raises(StudyError, match="reports Bloom filters"):
        Study(FIRST.schema, 4.0, "bloom", staged=True)
    reports = Study(skipped, 2.0, "singles").randomize(
        {"a": ["x"], "os": ["mac"], "crashes": ["none"], "paid": ["no"]}, seed=1
    )
    with pytest.raises(OptionError, match="'a' may be skipped"):
        castell.plan_next(reports, 100)


def test_a_published_study_says_nothing_of_sizes(tmp_path: Path) -> None:
    FIRST.save(tmp_path / "study.json")
    assert load_stage_sizes(tmp_path / "study.json") is None
