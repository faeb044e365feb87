"""A real browser in every state of the survey page: wide and narrow, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.states import STATES
from tests.browser.test_access import DESKTOP, PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.collecting import Collector

SCHEMES: tuple[Any, ...] = ("light", "dark")
# Those that the documents show.
PICTURED = {("rtl", "light"), ("kiosk", "light")}


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1280", "390"])
@pytest.mark.parametrize("state", STATES)
def test_every_state_holds_the_rules_and_fits_the_screen(
    browser: Browser,
    surveyed: Collector,
    screens: Path,
    tmp_path: Path,
    state: str,
    size: Any,
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    locale = "ar" if state.startswith("rtl") else "en-US"
    context = browser.new_context(locale=locale, viewport=size, reduced_motion="reduce")
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    STATES[state](page, surveyed.url)
    page.evaluate("window.scrollTo(0, 0)")
    for scheme in SCHEMES:  # a matter of style sheets alone
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        folder = screens if (state, scheme) in PICTURED else tmp_path
        name = f"survey-{state}-{scheme}-{size['width']}.png"
        page.screenshot(path=folder / name, full_page=True)
        found = axe.Axe().run(page).response
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]] == []
        assert len(found["passes"]) > 12
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert problems == []
    if state == "rtl":
        assert page.evaluate("[document.documentElement.dir, document.documentElement.lang]") == [
            "rtl",
            "ar",
        ]
        # What begins a line stands at the right: the mark of a choice, the edge of a card.
        sides = page.evaluate(
            """(() => {
              const middle = (selector) => {
                const box = document.querySelector(selector).getBoundingClientRect();
                return (box.left + box.right) / 2;
              };
              return [middle("#q0 .choice input"), middle("#q0 .choice")];
            })()"""
        )
        assert sides[0] > sides[1]
    context.close()
