"""Collectors and browsers for the tests of the pages: both real, both started here."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import chromium
from tests.browser.patience import PATIENCE
from tests.browser.studies import SURVEY
from tests.collecting import Collector, collecting

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Playwright

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Callable[..., Collector]]:
    """Starts collectors, each in a folder of its own."""
    with contextlib.ExitStack() as stack:

        def start(study: str, *options: str) -> Collector:
            folder = tmp_path / f"collector{len(list(tmp_path.glob('collector*')))}"
            folder.mkdir()
            return stack.enter_context(collecting(study, folder, *options))

        yield start


@pytest.fixture(scope="session")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector of the test survey that tests share: what is in its store means nothing."""
    with collecting(SURVEY, tmp_path_factory.mktemp("surveyed")) as running:
        yield running


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """What drives browsers: one in a process."""
    sync_api = pytest.importorskip("playwright.sync_api")
    sync_api.expect.set_options(timeout=PATIENCE)
    with sync_api.sync_playwright() as driver:
        yield driver


def launched(playwright: Playwright, program: str | None) -> Browser:
    if program is None:
        pytest.skip("NO BROWSER: install chromium, or name one by CASTELL_CHROMIUM")
    # Tests may run as root in a container, where the sandbox cannot.
    return playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A chromium of this machine's, or its shell, which is quicker. Without one the tests that need
    it are skipped, loudly."""
    made = launched(playwright, chromium.find_shell())
    yield made
    made.close()


@pytest.fixture(scope="session")
def whole_browser(playwright: Playwright) -> Iterator[Browser]:
    """The chromium that people have: it asks for more by itself, a page's picture for one.

    For tests of everything that is sent.
    """
    made = launched(playwright, chromium.find())
    yield made
    made.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a past."""
    made = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 900})
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


@pytest.fixture
def screens(tmp_path: Path) -> Path:
    """Where pictures go: docs/screens if CASTELL_SCREENS is set, else nowhere lasting."""
    folder = (
        ROOT / "docs" / "screens" if os.environ.get("CASTELL_SCREENS") else tmp_path / "screens"
    )
    folder.mkdir(parents=True, exist_ok=True)
    return folder
