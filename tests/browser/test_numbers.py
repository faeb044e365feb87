"""Questions about numbers on the page: a number that is typed ticks its bin, and goes nowhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import castell
from castell import Attribute, Schema, Study
from castell.channels import MatrixResponse
from tests.browser.patience import PATIENCE
from tests.browser.taking_part import proceed, send
from tests.browser.test_access import with_study
from tests.collecting import Collector

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Nearly always the answer, so that what was sent shows which one it was.
SURE = 2**30


def study() -> Study:
    attributes = [
        Attribute("age", question="How old are you?", bins=[18, 30, 45, 60], unit="years"),
        Attribute("pay", question="Your pay?", bins=[0, 10, 100], rounding="unbiased"),
        Attribute("children", question="Children?", range=[0, 9], also=["no answer"]),
    ]
    channels = {a.name: MatrixResponse(_nearly_the_answer(a.size)) for a in attributes}
    return Study(Schema(attributes), channels=channels, name="numbers")


def _nearly_the_answer(size: int) -> list[list[int]]:
    return [[SURE if i == k else 1 for k in range(size)] for i in range(size)]


def key_values() -> Study:
    debt = Attribute("debt", range=[0, 100], bins=[0, 100], rounding="unbiased", none="no debt")
    hours = castell.key_values("hours", ["mail", "chat"], "Hours a day of", range=[0, 12])
    asked = [debt, *hours]
    channels = {a.name: MatrixResponse(_nearly_the_answer(a.size)) for a in asked}
    return Study(Schema(asked), channels=channels, name="key-value")


def opened(
    browser: Browser, url: str, language: str = "en", asked: Study | None = None
) -> tuple[Page, list[str]]:
    page = browser.new_context(locale=language).new_page()
    page.set_default_timeout(PATIENCE)
    bodies = with_study(page, (asked or study()).to_json())
    page.goto(url)
    page.wait_for_selector("#questions")
    return page, bodies


def ticked(page: Page, question: str) -> list[str]:
    return page.locator(f"#{question} label.choice:has(input:checked)").all_inner_texts()


def test_a_typed_number_ticks_its_bin_and_is_not_sent(
    browser: Browser, surveyed: Collector
) -> None:
    page, bodies = opened(browser, surveyed.url)
    field = page.locator("#q0-number")
    assert "years" in page.locator("label[for=q0-number]").inner_text()
    for typed, label in [("17", "under 18"), ("30", "30 to 44"), ("59", "45 to 59")]:
        field.fill(typed)
        assert ticked(page, "q0") == [label]
    # What has no bin says so and leaves what was ticked.
    field.fill("29.5")
    assert page.locator("#q0-number-note").inner_text() != ""
    assert ticked(page, "q0") == ["45 to 59"]
    field.fill("61")
    assert page.locator("#q0-number-note").inner_text() == ""
    # A point is a point; between two of them chance decides, once.
    points = page.locator("#q1-number")
    points.fill("100")
    assert ticked(page, "q1") == ["100"]
    points.fill("55")
    first = ticked(page, "q1")
    assert first in (["10"], ["100"])
    for _ in range(5):
        points.fill("")
        points.fill("55")
        assert ticked(page, "q1") == first
    # Whole numbers are a list to choose from, without a field.
    assert page.locator("#q2-number").count() == 0
    page.locator("#q2 select").select_option(label="3")
    proceed(page)
    send(page)
    codes = json.loads(bodies[0])["codes"]
    assert codes == [4, [0, 10, 100].index(int(first[0])), 3]
    assert "61" not in bodies[0].replace(json.loads(bodies[0])["id"], "").replace(
        json.loads(bodies[0])["study"], ""
    )


def test_who_has_none_says_so_and_others_type_how_much(
    browser: Browser, surveyed: Collector
) -> None:
    page, bodies = opened(browser, surveyed.url, asked=key_values())
    page.locator("#q0 label.choice", has_text="no debt").click()
    assert "Hours a day of mail?" in page.locator("#q1").inner_text()
    page.locator("#q1-number").fill("12")
    assert ticked(page, "q1") == ["12"]
    page.locator("#q2-number").fill("0")
    page.locator("#q2 label.choice", has_text="none").click()
    assert ticked(page, "q2") == ["none"]
    proceed(page)
    send(page)
    assert json.loads(bodies[0])["codes"] == [2, 1, 2]


def test_chance_rounds_as_often_as_it_should(browser: Browser, surveyed: Collector) -> None:
    page, _ = opened(browser, surveyed.url)
    up = page.evaluate(
        """async () => {
          const { codeOf } = await import("/static/client/scale.js");
          const word = () => crypto.getRandomValues(new BigUint64Array(1))[0];
          const draw = () => Number(word() >> 11n) / 2 ** 53;
          let up = 0;
          for (let i = 0; i < 20000; i += 1) up += codeOf({ points: ["0", "10"] }, "3", draw());
          return up;
        }"""
    )
    assert abs(up - 6000) < 5.2 * (20000 * 0.3 * 0.7) ** 0.5


@pytest.mark.parametrize("language", ["de", "es", "fr"])
def test_the_field_speaks_the_pages_language(
    browser: Browser, surveyed: Collector, language: str
) -> None:
    page, _ = opened(browser, surveyed.url, language)
    page.locator("#q0-number").fill("x")
    english = "This number has no place here"
    assert page.locator("#q0-number-note").inner_text() not in ("", english)
