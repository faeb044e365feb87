"""The tutorial on collecting, walked as it is printed: its study, its people, its pictures."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.conftest import ROOT
from tests.browser.results.analyst import Analyst
from tests.collecting import Collector

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

TUTORIAL = (ROOT / "docs" / "tutorials" / "collecting.md").read_text(encoding="utf-8")


def _block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", TUTORIAL, re.DOTALL)
    assert found is not None
    return found[1]


def test_pictures_of_the_tutorial(
    analyst: Analyst,
    context: BrowserContext,
    collector: Callable[..., Collector],
    screens: Path,
    tmp_path: Path,
) -> None:
    running = collector(_block("toml"), "--minimum", "1")
    page = context.new_page()
    page.set_viewport_size({"width": 760, "height": 900})
    page.goto(running.url)
    page.get_by_role("heading", name="Smoking at work").wait_for()
    page.get_by_role("button", name="Continue").wait_for()
    page.screenshot(path=screens / "tutorial-survey.png", full_page=True)
    (tmp_path / "survey.toml").write_text(_block("toml"), encoding="utf-8")
    program = _block("python").replace("http://127.0.0.1:8000", running.url.rstrip("/"))
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "300" in told.stdout
    page = analyst.look(running, ("smokes", "health"), width=1000)
    page.screenshot(
        path=screens / "tutorial-results.png",
        full_page=True,
        clip={"x": 0.0, "y": 0.0, "width": 1000.0, "height": 1080.0},
    )
    # The page shows these and no others.
    shown = set(re.findall(r"screens/([\w-]+\.png)", TUTORIAL))
    assert shown == {"tutorial-survey.png", "tutorial-results.png"}
