"""The results page for everybody: keyboard, screen reader, phone; and its pictures for the docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.results.analyst import PAIR, Analyst, attribute, heading, texts, wait_for_answer
from tests.collecting import Collector


def test_the_keyboard_alone_is_enough(analyst: Analyst, health: Collector) -> None:
    page = analyst.look(health)
    attribute(page, "age").focus()
    page.keyboard.press("Space")
    heading(page, "smokes", "health", "age").wait_for()
    wait_for_answer(page)
    page.get_by_role("radio", name="Auto").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("radio", name="Heat map").is_checked()
    page.get_by_role("button", name="CSV").focus()
    with page.expect_download():
        page.keyboard.press("Enter")


def test_everything_has_a_name_for_those_who_do_not_see_it(
    analyst: Analyst, health: Collector
) -> None:
    page = analyst.look(health)
    assert page.locator("html").get_attribute("lang") == "en"
    for control in page.locator("input, select, button").all():
        if control.is_visible():
            name = control.evaluate("e => e.labels?.[0]?.innerText || e.innerText")
            assert name.strip(), control.evaluate("e => e.outerHTML")
    for picture in page.locator("[role=img]").all():
        assert picture.get_attribute("aria-label")
    assert "The largest is never, good" in (
        page.locator("#chart").get_attribute("aria-label") or ""
    )
    attribute(page, "age").check()
    shown = " by ".join(texts("smokes", "health", "age"))
    page.get_by_role("status").get_by_text(f"Showing {shown}").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_accessibility_rules_hold(
    analyst: Analyst, health: Collector, forged: Collector, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    waiting = analyst.open(f"{health.url}/results", width, color_scheme=scheme)
    waiting.get_by_label("Token").wait_for()
    shown = analyst.look(forged, width=width, color_scheme=scheme, chart="mosaic")
    if width == 390:
        shown.get_by_text("What to show").click()
    shown.get_by_text("Merge values or filter").click()
    shown.locator("#values summary").first.click()
    for page in (waiting, shown):
        found = axe.Axe().run(page).response
        assert len(found["passes"]) > 10
        broken = [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]]
        assert broken == []


@pytest.mark.parametrize("names", [("age",), PAIR, ("age", *PAIR), ("age", "region", *PAIR)])
def test_nothing_sticks_out_on_a_phone(
    analyst: Analyst, health: Collector, names: tuple[str, ...]
) -> None:
    page = analyst.look(health, names, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # The form is folded away, and opens.
    assert page.get_by_label("Method").is_hidden()
    page.get_by_text("What to show").click()
    assert page.get_by_label("Method").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [1280, 390])
def test_dark_screens(analyst: Analyst, health: Collector, screens: Path, width: int) -> None:
    page = analyst.look(health, width=width, color_scheme="dark")
    page.screenshot(path=screens / f"results-dark-{width}.png", full_page=True)


@pytest.mark.parametrize("width", [1280, 390])
def test_screens(
    analyst: Analyst, health: Collector, forged: Collector, screens: Path, width: int
) -> None:
    page = analyst.look(health, width=width)
    page.screenshot(path=screens / f"results-{width}.png", full_page=True)
    page = analyst.look(health, width=width, chart="mosaic")
    card = page.locator("section[aria-labelledby=chart-title]")
    card.screenshot(path=screens / f"results-mosaic-{width}.png")
    page = analyst.look(forged, width=width)
    # Forged reports fit no distribution, so the model's table does not fit them either.
    raised = page.locator("#signals > li.look").evaluate_all(
        "all => all.map((li) => li.dataset.key)"
    )
    assert raised == ["misfit", "negative", "drift"]
    assert page.locator("#verdict").is_visible()
    assert "2026-01-03 stands out" in page.locator("#signals > li[data-key=drift]").inner_text()
    card = page.locator("section[aria-labelledby=signals-title]")
    card.screenshot(path=screens / f"results-signals-{width}.png")
    made = {path.name for path in screens.glob(f"results-*{width}.png")}
    assert made >= {f"results-{part}{width}.png" for part in ("", "mosaic-", "signals-")}
