"""castell check says when reports are taken and which words were corrected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from castell import Study
from castell.cli.app import app
from castell.study.toml_file import correction_section

FILE = """
name = "drinks"
epsilon = 1.0
title = "Drnks"

[[attribute]]
name = "drink"
question = "What do you drnk?"
values = ["tea", "coffee", "prefer not to say"]
"""
HOURS = "\n[collection]\nopens = 2996-12-01T08:00:00+01:00\ncloses = 2996-12-22T18:00:00+01:00\n"


def check(path: Path, text: str, *options: str) -> Result:
    path.write_text(text, encoding="utf-8")
    ran = CliRunner().invoke(app, ["check", str(path), *options], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.toml"


def twice_corrected() -> str:
    """A study file that was corrected on two days, as `castell correct` leaves it."""
    once = FILE.replace("Drnks", "Drinks")
    twice = once.replace("drnk?", "drink?")
    study = Study.from_toml(FILE).corrected(Study.from_toml(once), "2026-11-16")
    study = study.corrected(Study.from_toml(twice), "2026-11-17")
    text = twice + "".join(map(correction_section, study.corrections))
    assert Study.from_toml(text) == study
    return text


def test_a_study_without_either_shows_nothing_of_it(path: Path) -> None:
    shown = check(path, FILE).stdout
    assert not any(word in shown for word in ("opens", "closes", "corrected"))
    document = json.loads(check(path, FILE, "--json").stdout)
    assert (document["opens"], document["closes"], document["corrections"]) == (None, None, [])


def test_opening_hours_are_shown(path: Path) -> None:
    lines = check(path, FILE + HOURS).stdout.splitlines()
    assert lines[-3:] == [
        "",
        "opens     2996-12-01T08:00:00+01:00",
        "closes    2996-12-22T18:00:00+01:00",
    ]
    document = json.loads(check(path, FILE + HOURS, "--json").stdout)
    assert document["opens"] == "2996-12-01T08:00:00+01:00"
    assert document["closes"] == "2996-12-22T18:00:00+01:00"
    assert document["kind"] == "statement"
    one_end = HOURS.replace("opens", "# opens")
    assert "opens" not in check(path, FILE + one_end).stdout


def test_an_end_that_has_passed_is_a_warning(path: Path) -> None:
    assert "closed" not in check(path, FILE + HOURS).stderr
    past = HOURS.replace("2996", "1996")
    assert "warning: the collection closed 1996-12-22T18:00" in check(path, FILE + past).stderr


def test_corrections_are_shown_each_with_its_day(path: Path) -> None:
    text = twice_corrected()
    assert check(path, text).stdout.splitlines()[-7:] == [
        "",
        "corrected 2026-11-16  title",
        "  was  Drnks",
        "  now  Drinks",
        "corrected 2026-11-17  drink question",
        "  was  What do you drnk?",
        "  now  What do you drink?",
    ]
    first, second = json.loads(check(path, text, "--json").stdout)["corrections"]
    change = {"where": "title", "was": "Drnks", "now": "Drinks"}
    assert first == {"on": "2026-11-16", "changes": [change]}
    assert second["on"] == "2026-11-17"


def test_a_published_study_shows_its_corrections(path: Path) -> None:
    published = Study.from_toml(twice_corrected()).to_json()
    shown = check(path.with_suffix(".json"), published).stdout
    assert shown.count("corrected 2026-11-1") == 2


def test_a_text_that_was_added_was_nothing_before(path: Path) -> None:
    bare = FILE.replace('title = "Drnks"\n', "")
    study = Study.from_toml(bare).corrected(Study.from_toml(FILE), "2026-11-16")
    text = FILE + correction_section(study.corrections[0])
    assert "  was  (nothing)\n  now  Drnks" in check(path, text).stdout
