"""The page before it is public: it follows the file, and reports go nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from castell.collector.preview import Preview
from castell.errors import CastellError
from tests.collector.respondents import report
from tests.collector.test_page_files import SVG, studied


def touched(path: Path, text: str, second: int) -> None:
    """Write a file at another time than before, whatever the clock's steps are."""
    path.write_text(text, encoding="utf-8")
    os.utime(path, (second, second))


def test_reports_go_nowhere_and_nothing_is_written(tmp_path: Path) -> None:
    client = TestClient(Preview(studied(tmp_path, "")))
    page = client.get("/")
    assert '"preview":true' in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert client.post("/reports", json=report()).status_code == 403
    for path in ("/results", "/metrics", "/healthz"):
        assert client.get(path).status_code == 404
    assert client.get("/static/survey/icon.svg").status_code == 200
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_it_follows_the_file_and_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    file = studied(tmp_path, 'logo = "logo.svg"')
    touched(tmp_path / "logo.svg", SVG, 1)
    client = TestClient(Preview(file))
    good = file.read_text(encoding="utf-8")
    first = client.get("/preview.json").json()
    assert first["problem"] == ""
    assert client.get("/preview.json").json() == first
    touched(file, good + "epsilonn", 2)
    broken = client.get("/preview.json").json()
    assert broken["version"] == first["version"]  # the last good one stays
    assert "not valid TOML" in broken["problem"]
    assert client.get("/").status_code == 200
    touched(file, good.replace('"health"', '"wealth"'), 3)
    mended = client.get("/preview.json").json()
    assert mended["problem"] == ""
    assert mended["version"] != first["version"]
    touched(tmp_path / "logo.svg", SVG.replace("M0 0", "M1 1"), 4)
    assert client.get("/preview.json").json()["version"] != mended["version"]


def test_what_cannot_be_shown_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(CastellError, match="cannot read"):
        Preview(tmp_path / "nothing.toml")
    with pytest.raises(CastellError, match="is hard to read"):
        Preview(studied(tmp_path, 'accent = "#ffff00"'))
