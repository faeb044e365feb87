"""Sent first, shown afterwards: nobody can decide by what chance made of their answers.

Studies with review = "before" have it the other way round, and the page warns of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from castell import Study
from tests.browser.studies import SURVEY
from tests.browser.taking_part import ANSWERS, answer, opened, proceed, review, send
from tests.browser.test_access import with_study

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

    from tests.collecting import Collector

BEFORE = 'review = "before"\n' + SURVEY

# Everything that is ever in the body of the page, attributes included, after each change to it. Its
# head holds what every visitor gets, the words of all screens among it.
RECORD = """
window.rendered = [];
new MutationObserver(() => window.rendered.push(document.body?.outerHTML ?? "")).observe(
  document, {childList: true, subtree: true, attributes: true, characterData: true});
"""
# What only a drawn report puts there.
DRAWN = ("&quot;codes&quot;", '"codes"', "by chance, the same", "chosen by chance", 'id="body"')


def rendered(page: Page) -> str:
    texts: list[str] = page.evaluate("window.rendered")
    assert texts
    return "\n".join(texts)


def drawn_parts(page: Page) -> list[str]:
    everything = rendered(page)
    return [part for part in DRAWN if part in everything]


def test_the_report_is_never_shown_before_the_request_has_left(
    context: BrowserContext, surveyed: Collector
) -> None:
    context.add_init_script(RECORD)
    page = opened(context, surveyed.url)
    held: list[Any] = []
    page.route("**/reports", lambda route: held.append(route))
    answer(page, ANSWERS)
    proceed(page)
    page.get_by_role("button", name="Back to my answers").click()
    page.wait_for_selector("#questions")
    proceed(page)
    with page.expect_request("**/reports") as sent:
        page.locator("#send").click()
    body = json.loads(sent.value.post_data or "")
    # It is on its way and not acknowledged, so it could still be held back.
    assert drawn_parts(page) == []
    assert body["id"] not in rendered(page)
    held[0].continue_()
    page.wait_for_selector(".done")
    assert json.loads(page.locator("#body").inner_text()) == body
    assert set(drawn_parts(page)) >= {'id="body"'}  # the record would have seen it


def test_nor_is_a_report_that_did_not_arrive(context: BrowserContext, surveyed: Collector) -> None:
    context.add_init_script(RECORD)
    page = opened(context, surveyed.url)
    page.route("**/reports", lambda r: r.fulfill(status=403, json={"error": "no invitation"}))
    answer(page, ANSWERS)
    proceed(page)
    page.locator("#send").click()
    page.wait_for_selector("[role=alert]:not([hidden])")
    assert drawn_parts(page) == []
    page.reload()
    page.wait_for_selector("#questions")
    assert drawn_parts(page) == []


@pytest.mark.parametrize("language", ["en", "de", "es", "fr"])
def test_a_study_may_show_the_report_first_and_the_page_warns(
    context: BrowserContext, surveyed: Collector, language: str
) -> None:
    warnings = {
        "en": "Please do not decide by what you see here",
        "de": "Bitte entscheiden Sie nicht nach dem",
        "es": "no decida según lo que ve aquí",
        "fr": "ce que vous voyez ici",
    }
    page = context.new_page()
    text = BEFORE.replace('language = "en"', f'language = "{language}"')
    text = text.replace("translations.de", "translations.nl")
    bodies = with_study(page, Study.from_toml(text).to_json())
    page.goto(surveyed.url)
    if language != "en":
        page.locator("#language").select_option(language)
    page.wait_for_selector("#questions")
    answer(page, ANSWERS)
    shown = review(page)
    assert bodies == []
    assert warnings[language] in page.locator(".review .alert").inner_text()
    # To and fro: the report of an answer does not change, so nobody can choose a nicer one.
    page.locator("main button.plain").click()
    page.wait_for_selector("#questions")
    again = review(page)
    assert json.loads(again)["codes"] == json.loads(shown)["codes"]
    assert send(page) == again
    assert bodies == [again]
