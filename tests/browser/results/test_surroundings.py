"""Whatever browser it is: dark, on paper, on a phone, without storage, waiting for a long fit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.browser.results.analyst import (
    PAIR,
    Analyst,
    attribute,
    heading,
    link,
    numbers,
    wait_for_answer,
)
from tests.collecting import TOKEN, Collector

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

BLOCKED = """
for (const name of ["sessionStorage", "localStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });
"""


def test_without_storage_the_page_works_and_says_what_it_cannot(
    analyst: Analyst, health: Collector
) -> None:
    page = analyst.open(f"{health.url}/results", before=[BLOCKED])
    page.get_by_text("This browser keeps nothing for pages").wait_for()
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.locator("#chart svg").wait_for()
    attribute(page, "smokes").check()
    wait_for_answer(page)
    assert numbers(page)
    page.reload()
    page.get_by_label("Token").wait_for()


def test_with_storage_it_says_nothing_of_it(analyst: Analyst, health: Collector) -> None:
    page = analyst.open(f"{health.url}/results")
    page.get_by_label("Token").wait_for()
    assert page.get_by_text("This browser keeps nothing for pages").is_hidden()


def test_a_long_fit_shows_how_far_it_is(analyst: Analyst, health: Collector) -> None:
    page = analyst.look(health)
    held: list[Route] = []
    told = [
        {"ahead": 2, "seconds": None, "usual": 8.2},
        {"ahead": 0, "seconds": 4.1, "usual": 8.2},
    ]

    def tell(route: Route) -> None:
        document = told.pop(0) if len(told) > 1 else told[0]
        route.fulfill(body=json.dumps(document), content_type="application/json")

    page.route("**/results/api/estimate?*", lambda route: held.append(route))
    page.route("**/results/api/progress?*", tell)
    attribute(page, "age").check()
    page.get_by_text("2 questions are before this one.").wait_for()
    page.get_by_text("Fitting the method auto: 4 seconds so far; the last took 8.").wait_for()
    bar = page.get_by_role("progressbar", name="Working it out")
    assert bar.evaluate("e => e.value") == pytest.approx(0.5)
    held[0].continue_()
    wait_for_answer(page)
    heading(page, "smokes", "health", "age").wait_for()
    assert bar.is_hidden()


def _ground(page: Page, place: str) -> int:
    """How light the ground of an element is, from 0 to 255."""
    found: int = page.locator(place).evaluate(
        "e => Math.max(...getComputedStyle(e).backgroundColor.match(/\\d+/g).slice(0, 3))"
    )
    return found


def test_a_dark_page_has_dark_cards_and_light_words_in_charts(
    analyst: Analyst, health: Collector
) -> None:
    page = analyst.look(health, color_scheme="dark", chart="mosaic")
    assert _ground(page, "section[aria-labelledby=chart-title]") < 60
    inks = page.locator("#chart svg [class*=words_label] text").evaluate_all(
        "all => all.map((text) => getComputedStyle(text).fill)"
    )
    assert inks
    assert set(inks) == {"rgb(227, 233, 238)"}
    # Paper is white, and so is a page that is printed.
    page.emulate_media(media="print")
    assert _ground(page, "section[aria-labelledby=chart-title]") == 255
    assert page.locator("#panel").is_hidden()
    assert page.locator("#downloads").is_hidden()
    assert page.locator("#table").evaluate("e => e.scrollHeight <= e.clientHeight + 1")


@pytest.mark.parametrize("names", [PAIR, ("age", *PAIR)])
def test_shares_are_seen_on_a_phone_without_scrolling(
    analyst: Analyst, health: Collector, names: tuple[str, ...]
) -> None:
    page = analyst.look(health, names, width=390)
    inside = page.locator("#table").bounding_box()
    share = page.get_by_role("columnheader", name="share").bounding_box()
    assert inside is not None
    assert share is not None
    assert share["x"] + share["width"] <= inside["x"] + inside["width"]


def test_back_and_forward_go_through_the_questions(analyst: Analyst, health: Collector) -> None:
    page = analyst.look(health)
    attribute(page, "age").check()
    heading(page, "smokes", "health", "age").wait_for()
    page.go_back()
    heading(page, "smokes", "health").wait_for()
    assert not attribute(page, "age").is_checked()
    page.go_forward()
    heading(page, "smokes", "health", "age").wait_for()
    assert attribute(page, "age").is_checked()
    # An address that is typed is a question too.
    page.evaluate(f"location.hash = {json.dumps(link(health, ('region',)).split('#')[1])}")
    heading(page, "region").wait_for()
    assert TOKEN not in page.url
