"""What the owner of a study says on its page: consent, thanks and links, in any direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from castell import Study
from tests.browser.taking_part import answer, proceed, send
from tests.browser.test_access import PHONE, with_study
from tests.study.test_page_warnings import OWNED

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.collecting import Collector

ANSWERS = {"age": 1, "smokes": 0}


def opened_in(browser: Browser, surveyed: Collector, locale: str) -> tuple[Page, list[str]]:
    context = browser.new_context(locale=locale, viewport=PHONE)  # type: ignore[arg-type]
    page = context.new_page()
    bodies = with_study(page, Study.from_toml(OWNED).to_json())
    page.goto(surveyed.url)
    page.wait_for_selector("#questions")
    return page, bodies


def test_nothing_is_sent_without_consent(browser: Browser, surveyed: Collector) -> None:
    page, bodies = opened_in(browser, surveyed, "en-US")
    answer(page, ANSWERS)
    proceed(page)
    assert page.locator(".consent").inner_text() == "I take part."
    page.locator("#send").click()
    assert "Without it nothing is sent" in page.locator("#agree-error").inner_text()
    assert page.evaluate("document.activeElement.id") == "agree"
    assert bodies == []
    page.locator("#agree").check()
    assert [send(page)] == bodies
    assert page.locator(".thanks").inner_text() == "Thank you."
    page.context.close()


def test_links_are_for_the_person_to_follow_and_hold_nothing(
    browser: Browser, surveyed: Collector
) -> None:
    page, _ = opened_in(browser, surveyed, "en-US")
    imprint = page.get_by_role("link", name="Imprint")
    assert imprint.get_attribute("href") == "https://university.example/imprint"
    assert page.get_by_role("link", name="Privacy policy").count() == 0
    answer(page, ANSWERS)
    proceed(page)
    page.locator("#agree").check()
    send(page)
    onward = page.get_by_role("link", name="Go on to the next page")
    assert onward.get_attribute("href") == "/done.html"
    assert onward.get_attribute("rel") == "noreferrer noopener"
    page.wait_for_timeout(300)
    assert page.url.rstrip("/") == surveyed.url  # nobody is sent anywhere
    with page.expect_request("**/done.html*") as asked:
        onward.click()
    assert asked.value.url == f"{surveyed.url}/done.html"
    assert "referer" not in asked.value.headers
    page.context.close()


def test_each_text_has_its_own_language_and_direction(
    browser: Browser, surveyed: Collector
) -> None:
    page, _ = opened_in(browser, surveyed, "ar")
    marked = "e => [e.lang, e.dir]"
    assert page.locator("h1").evaluate(marked) == ["ar", "rtl"]
    assert page.locator("#q0 .asked").evaluate(marked) == ["ar", "rtl"]
    # Not translated, so still English.
    assert page.locator("#q0 .choice span").first.evaluate(marked) == ["en", "ltr"]
    assert page.locator("#q1 .choice span").first.evaluate(marked) == ["ar", "rtl"]
    assert page.evaluate("document.documentElement.lang") == "en"
    answer(page, ANSWERS)
    proceed(page)
    assert page.locator(".consent").evaluate(marked) == ["ar", "rtl"]
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.context.close()
