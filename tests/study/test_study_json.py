"""A study that was saved is the same study when it is loaded, or nothing was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from castell import Attribute, Schema, Study
from castell.errors import StudyError
from castell.study.texts import StudyText
from tests.contract.designs import STUDIES

TOLD = Study(
    Schema(
        [
            Attribute(
                "smokes",
                ["no", "yes"],
                "Do you smoke?",
                {
                    "de": {"question": "Rauchen Sie?", "values": ["nein", "ja"]},
                    "fr": {"question": "?"},
                },
            ),
            Attribute('œuvre "x" \\ \n y', ["a,b", "<c>", "é", "\x7f"]),
        ]
    ),
    epsilon=3.0,
    design="pairs",
    name="ein Name",
    text=StudyText.of(
        {
            "title": "Health",
            "description": "Two lines\nof it",
            "language": "en",
            "translations": {"de": {"title": "Gesundheit"}},
        }
    ),
)
EVERY = {**STUDIES, "texts and translations": TOLD}


@pytest.mark.parametrize("design", EVERY)
def test_every_design_comes_back_with_the_same_digest(design: str, tmp_path: Path) -> None:
    study, path = EVERY[design], tmp_path / "study.json"
    study.save(path)
    again = Study.load(path)
    assert again.digest == study.digest
    assert again == study
    assert again.to_json() == study.to_json()
    assert (again.text, again.schema, again.name) == (study.text, study.schema, study.name)
    assert again.epsilon == study.epsilon
    assert str(again.statement()) == str(study.statement())
    assert [each.name for each in tmp_path.iterdir()] == ["study.json"]


def test_a_path_may_be_a_text(tmp_path: Path) -> None:
    TOLD.save(f"{tmp_path}/study.json")
    assert Study.load(f"{tmp_path}/study.json") == TOLD


def test_another_study_is_not_overwritten_unasked(tmp_path: Path) -> None:
    path, other = tmp_path / "study.json", STUDIES["joint"]
    other.save(path)
    other.save(path)  # the same one may be saved again
    with pytest.raises(StudyError, match="holds something else: give another name, or overwrite"):
        TOLD.save(path)
    assert Study.load(path) == other
    TOLD.save(path, overwrite=True)
    assert Study.load(path) == TOLD


@pytest.mark.parametrize("held", [b"", b"no study", b"\xff\xfe"])
def test_another_file_is_not_overwritten_unasked(held: bytes, tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_bytes(held)
    with pytest.raises(StudyError, match="holds something else"):
        TOLD.save(path)
    assert path.read_bytes() == held


@pytest.mark.parametrize("name", ["study.toml", "study", "study.JSON", "study.json.bak"])
def test_only_json_holds_the_exact_weights(name: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"end its name in \.json"):
        TOLD.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"there is no folder .*nowhere: make it first"):
        TOLD.save(tmp_path / "nowhere" / "study.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(StudyError, match="is a folder"):
        TOLD.save(tmp_path / "folder.json", overwrite=True)


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "study.json"
    STUDIES["joint"].save(path)

    def full(_: int) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("castell.study.atomic_write.os.fsync", full)
    with pytest.raises(OSError, match="no space left"):
        TOLD.save(path, overwrite=True)
    assert Study.load(path) == STUDIES["joint"]
    assert [each.name for each in tmp_path.iterdir()] == ["study.json"]
