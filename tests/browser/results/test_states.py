"""A browser walks every state of the results page, wide and narrow, light and dark."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from castell import Study, methods_for
from castell.population import health_survey
from tests.browser.results.analyst import TEXT, Analyst, numbers, serving
from tests.browser.results.states import EXPECTED, STATES, Walk
from tests.collecting import Collector

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# States without a table, and so without a chart.
SHOWS_NOTHING = {
    "no token", "wrong token", "expired token", "storage blocked", "too few reports", "loading",
    "progress", "refused", "failed", "unreachable", "over, too few reports",
}  # fmt: skip


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector with too few reports."""
    reports = Study.from_toml(TEXT).randomize(health_survey(57))
    with serving(tmp_path_factory.mktemp("few"), TEXT, reports) as collector:
        yield collector


@pytest.mark.parametrize(
    ("width", "schemes"), [(1280, ("light", "dark")), (390, ("dark", "light"))], ids=["1280", "390"]
)
def test_every_state(
    analyst: Analyst,
    health: Collector,
    forged: Collector,
    few: Collector,
    screens: Path,
    width: int,
    schemes: tuple[Any, ...],
) -> None:
    """Light and dark are a matter of style sheets: a state is reached in one and seen in both."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    analyst.expected += EXPECTED
    walk = Walk(analyst, width, schemes[0], health, forged, few)
    taken: list[tuple[str, bytes]] = []
    for name, reach in STATES.items():
        page = reach(walk)
        page.wait_for_timeout(250)  # charts that fade
        if os.environ.get("CASTELL_SCREENS"):
            taken.append((name, page.screenshot()))
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            found = axe.Axe().run(page).response
            broken = [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]]
            assert broken == [], (name, scheme)
        # Nothing sticks out, and a table is there or is not.
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert bool(numbers(page)) == (name not in SHOWS_NOTHING), name
        assert page.locator("#chart svg").count() == (name not in SHOWS_NOTHING), name
        # A look that is under way when the page goes is nobody's error.
        page.unroute_all(behavior="ignoreErrors")
        page.close()
    if taken:
        sheet = _sheet(analyst.browser, taken, width)
        path = screens / f"results-states-{width}-{schemes[0]}.png"
        sheet.screenshot(path=path, full_page=True)
        sheet.close()


def _sheet(browser: Browser, taken: list[tuple[str, bytes]], width: int) -> Page:
    """All pictures on one page."""
    wide = 460 if width > 900 else 280
    figures = "".join(
        f"<figure><figcaption>{html.escape(name)}</figcaption>"
        f"<img width={wide} src='data:image/png;base64,{base64.b64encode(png).decode()}'></figure>"
        for name, png in taken
    )
    style = "body{font:14px sans-serif;display:flex;flex-wrap:wrap;gap:12px}figure{margin:0}"
    columns = 3 if width > 900 else 5
    page = browser.new_page(viewport={"width": columns * (wide + 12) + 16, "height": 600})
    page.set_content(f"<style>{style}img{{border:1px solid #999}}</style>{figures}")
    return page


@pytest.mark.parametrize("width", [1280, 390])
def test_every_method(analyst: Analyst, health: Collector, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for method in methods_for(health.study):
        page = analyst.look(health, width=width, method=method)
        assert f"Method {method}," in page.locator("#chart-sub").inner_text()
        assert len(numbers(page)) == 12
        assert axe.Axe().run(page).response["violations"] == []
        page.close()
