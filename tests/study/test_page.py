"""The [page] table of a study file: what it may say, and that it is no part of the study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from castell import Study
from castell.errors import StudyError
from castell.study.page import Page

STUDY = """
name = "health"
epsilon = 2.0

[[attribute]]
name = "smokes"
values = ["no", "yes"]
"""
PAGE = """
[page]
logo = "logo.svg"
logo_alt = "University of Example"
accent = "#A3195B"
kiosk = true
words = ["words-ar.toml"]
"""


def test_a_page_does_not_change_the_study_or_its_digest() -> None:
    assert Study.from_toml(STUDY + PAGE).to_json() == Study.from_toml(STUDY).to_json()


def test_it_is_read_from_the_study_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY + PAGE, encoding="utf-8")
    assert Page.load(file) == Page(
        "logo.svg", "University of Example", "#A3195B", True, ("words-ar.toml",)
    )
    file.write_text(STUDY, encoding="utf-8")
    assert Page.load(file) == Page()
    Study.from_toml(STUDY).save(tmp_path / "study.json")
    assert Page.load(tmp_path / "study.json") == Page()


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("blue", "write \\[page\\] above its entries"),
        ({"colour": "#000000"}, "unknown entry 'colour'"),
        ({"logo": ""}, "the page's logo is ''"),
        ({"logo_alt": 3}, "the page's logo_alt is 3"),
        ({"accent": "red"}, 'write a colour as accent = "#0a5a63"'),
        ({"accent": "#fff"}, "write a colour"),
        ({"accent": "#0a5a63;} body{display:none"}, "write a colour"),
        ({"kiosk": "yes"}, "write kiosk = true"),
        ({"words": "ar.toml"}, "write words = "),
        ({"words": [3]}, "write words = "),
    ],
)
def test_mistakes_are_refused_with_the_study(table: Any, problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        Page.of(table)


def test_a_mistake_in_the_page_is_told_when_the_study_is_read() -> None:
    with pytest.raises(StudyError, match="unknown entry 'accnt'"):
        Study.from_toml(STUDY + '[page]\naccnt = "#000000"\n')
