"""`castell card`, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from castell import Study
from castell.cli.app import app
from castell.errors import OptionError
from tests.planning.test_card import TOML

HOURS = '\n[collection]\nopens = "2026-12-01T08:00:00+01:00"\n'


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "study.toml"
    path.write_text(TOML + HOURS, encoding="utf-8")
    return str(path)


def _run(*arguments: str) -> str:
    ran = CliRunner().invoke(app, ["card", *arguments], catch_exceptions=False)
    assert ran.exit_code == 0
    return ran.stdout


def test_for_people(file: str) -> None:
    shown = _run(file, "-n", "800")
    assert Study.load(file).digest in shown
    assert "epsilon, local     1.5, against everyone" in shown
    assert "if 800 take part" in shown
    assert "2026-12-01T08:00:00+01:00 to no end set" in shown


def test_for_programs(file: str) -> None:
    found = json.loads(_run(file, "-n", "800", "--delta", "1e-4", "--json"))
    assert found["shuffled"]["delta"] == 1e-4
    assert found["shuffled"]["n"] == 800
    assert found["software"].startswith("castell ")
    assert json.loads(_run(file, "--json"))["shuffled"] is None


def test_as_a_page(file: str, tmp_path: Path) -> None:
    page = tmp_path / "card.html"
    assert f"wrote {page}" in _run(file, "--html", str(page))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(_run(file, "--json", "--html", str(page)))["digest"]


def test_a_page_ends_in_html(file: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"end its name in \.html"):
        _run(file, "--html", str(tmp_path / "card.txt"))


def test_nobody_takes_part(file: str) -> None:
    with pytest.raises(OptionError, match="give the number of people"):
        _run(file, "-n", "0")
