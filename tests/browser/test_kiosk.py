"""One device, many people: nothing of one is left for the next."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from castell.collector.store import open_store
from castell.collector.store.invitations import new_invitation
from tests.browser.studies import SURVEY
from tests.browser.taking_part import ANSWERS, OTHERS, answer, opened, proceed, send
from tests.browser.test_access import PHONE

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

    from tests.collecting import Collector

    Start = Callable[..., Collector]

OWNED = SURVEY.replace(
    "epsilon = 4.0", 'epsilon = 4.0\nimprint = "https://a.example/i"\ncompletion = "/done.html"'
)
# All that a page can keep on a device, or in the memory that other people of it see.
KEPT = """async () => ({
  databases: (await indexedDB.databases()).map(({ name }) => name),
  session: { ...sessionStorage }, local: { ...localStorage }, cookies: document.cookie,
  ticked: document.querySelectorAll(":checked:not(#language option, [value=''])").length,
  hash: location.hash, state: history.state, length: history.length,
})"""
NOTHING = {
    "databases": [], "session": {}, "local": {}, "cookies": "",
    "ticked": 0, "hash": "", "state": None,
}  # fmt: skip


def kept(page: Page) -> dict[str, object]:
    found: dict[str, object] = page.evaluate(KEPT)
    assert found.pop("length") == 2  # the blank page that a tab begins with, and this one
    return found


def fresh(page: Page) -> None:
    page.wait_for_selector("#questions")
    assert page.locator("#q0 input:checked").count() == 0
    assert kept(page) == NOTHING


def take_part(page: Page, answers: dict[str, int]) -> tuple[int, ...]:
    answer(page, answers)
    proceed(page)
    return tuple(json.loads(send(page))["codes"])


def test_each_person_begins_anew_and_leaves_nothing(
    context: BrowserContext, collector: Start
) -> None:
    running = collector(OWNED, "--kiosk")
    page = opened(context, running.url)
    assert "Many people use this device" in page.locator(".protect").inner_text()
    assert "does not let the page remember" not in page.locator(".protect").inner_text()
    assert "known only to you" not in page.locator("main").inner_text()
    sent = [take_part(page, ANSWERS)]
    # Whoever comes next may be quicker than the page: it shows what was sent, no answer.
    shown = page.locator("main").inner_text()
    assert "What was sent" in shown
    assert "known only to you" not in shown
    assert page.locator("main a").count() == page.locator("footer a").count() == 0
    assert "https://a.example/i" in page.locator("footer").inner_text()
    page.get_by_role("button", name="Done, clear the page").click()
    fresh(page)
    sent.append(take_part(page, OTHERS))
    page.get_by_role("button", name="Done, clear the page").click()
    fresh(page)
    assert sorted(running.codes()) == sorted(sent)


def test_the_page_clears_itself_when_nobody_touches_it(
    context: BrowserContext, collector: Start
) -> None:
    running = collector(SURVEY, "--kiosk")
    context.clock.install()
    page = opened(context, running.url)
    take_part(page, ANSWERS)
    context.clock.run_for(3_000)
    assert "cleared for the next person in 2" in page.locator("#next").inner_text()
    context.clock.run_for(25_000)
    page.mouse.move(10, 10)  # more time
    page.mouse.move(20, 20)
    context.clock.run_for(15_000)
    assert page.locator(".done").count() == 1
    context.clock.run_for(20_000)
    fresh(page)


def test_who_walks_away_is_asked_and_then_forgotten(
    context: BrowserContext, collector: Start
) -> None:
    running = collector(SURVEY, "--kiosk")
    context.clock.install()
    page = opened(context, running.url)
    context.clock.run_for(600_000)  # nobody there: nothing happens
    assert not page.locator("#still").is_visible()
    answer(page, ANSWERS)
    context.clock.run_for(65_000)
    assert "Are you still there?" in page.locator("#still").inner_text()
    page.get_by_role("button", name="I am still here").click()
    assert not page.locator("#still").is_visible()
    assert page.locator("#q0 input:checked").count() == 1
    proceed(page)
    context.clock.run_for(65_000)
    assert page.locator("#still").is_visible()
    context.clock.run_for(30_000)
    fresh(page)
    assert not page.locator("#still").is_visible()
    assert running.codes() == []


def test_the_way_back_shows_nothing(context: BrowserContext, collector: Start) -> None:
    running = collector(SURVEY, "--kiosk")
    page = opened(context, running.url)
    answer(page, ANSWERS)
    proceed(page)
    page.get_by_role("button", name="Back to my answers").click()
    page.wait_for_selector("#questions")
    assert page.locator("#q0 input:checked").count() == 1  # for the same person there is one
    proceed(page)
    page.go_back()
    page.go_forward()
    fresh(page)
    # Nor does a page that a browser had put aside as a whole.
    answer(page, ANSWERS)
    page.evaluate("window.dispatchEvent(new PageTransitionEvent('pagehide'))")
    assert page.locator("#page").inner_text() == ""
    with page.expect_navigation():
        page.evaluate(
            "window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))"
        )
    fresh(page)


@pytest.mark.parametrize("typed", ["{code}", "{spaced}", "https://a.example/#invitation={code}"])
def test_codes_are_typed_or_scanned_for_each_person(
    context: BrowserContext, collector: Start, typed: str
) -> None:
    running = collector(SURVEY, "--kiosk")
    codes = [new_invitation() for _ in range(2)]
    store = open_store(running.store, running.study)
    store.invite(codes)
    store.close()
    page = opened(context, running.url)
    for code in codes:
        fresh(page)
        spaced = f"{code[:5].upper()} {code[5:10]} {code[10:]}"
        page.locator("#invitation").fill(typed.format(code=code, spaced=spaced))
        page.locator("#invitation").press("Enter")  # as scanners do
        assert page.locator("#missing").is_hidden()
        assert page.evaluate("document.activeElement.name") == "q0"
        assert page.locator("#invitation").input_value() == code
        take_part(page, ANSWERS)
        page.get_by_role("button", name="Done, clear the page").click()
    fresh(page)
    assert page.locator("#invitation").input_value() == ""
    assert len(running.codes()) == 2


def test_a_link_that_is_scanned_by_the_device_begins_anew(
    context: BrowserContext, collector: Start
) -> None:
    from playwright.sync_api import expect

    running = collector(SURVEY, "--kiosk")
    codes = [new_invitation() for _ in range(2)]
    store = open_store(running.store, running.study)
    store.invite(codes)
    store.close()
    page = opened(context, f"{running.url}/#invitation={codes[0]}")
    assert page.locator("#invitation").input_value() == codes[0]
    assert page.evaluate("location.hash") == ""
    answer(page, ANSWERS)
    page.evaluate(f"location.replace('#invitation={codes[1]}')")
    expect(page.locator("#invitation")).to_have_value(codes[1])
    fresh(page)


def test_kiosk_mode_holds_the_rules_of_accessibility(
    context: BrowserContext, collector: Start
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    running = collector(SURVEY, "--kiosk")
    context.clock.install()
    page = opened(context, running.url)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    answer(page, ANSWERS)
    context.clock.run_for(65_000)
    assert page.locator("#still").is_visible()
    assert axe.Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="I am still here").click()
    proceed(page)
    send(page)
    context.clock.run_for(2_000)
    assert axe.Axe().run(page).response["violations"] == []
