"""`castell audit`, run as a user runs it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from castell import Study
from castell.cli.app import app
from castell.errors import OptionError
from tests.planning.test_card import TOML


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "study.toml"
    path.write_text(TOML, encoding="utf-8")
    return str(path)


def _run(*arguments: str) -> str:
    ran = CliRunner().invoke(app, ["audit", *arguments], catch_exceptions=False)
    assert ran.exit_code == 0, ran.stdout
    return ran.stdout


def test_for_people(file: str) -> None:
    shown = _run(file, "-n", "20000", "--confidence", "0.9999999")
    assert "Nothing speaks against the device" in shown
    assert "the whole report" in shown


def test_for_programs(file: str) -> None:
    found = json.loads(
        _run(file, "-n", "500", "--device", "python", "--confidence", "0.9999999", "--json")
    )
    assert found["digest"] == Study.load(file).digest
    assert found["device"] == "python"
    assert found["passed"] is True


def test_as_a_page(file: str) -> None:
    shown = _run(file, "-n", "20000", "--confidence", "0.9999999", "--html")
    assert shown.startswith("<!doctype html>")


def test_what_does_not_go_together(file: str) -> None:
    with pytest.raises(OptionError, match="one of --json and --html"):
        _run(file, "--json", "--html")
    with pytest.raises(OptionError, match="leave --device out"):
        _run("http://localhost:1/", "--device", "browser")
    with pytest.raises(OptionError, match="there is no device 'phone'"):
        _run(file, "--device", "phone")


def test_a_device_that_fails_leaves_with_one(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", bytes)  # nothing but zeros
    ran = CliRunner().invoke(app, ["audit", file, "-n", "2000"])
    assert ran.exit_code == 1
    assert "The device is NOT what the study states" in ran.stdout
