"""A public attribute on the page: sent as it is, and said to be, before and after."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from castell import Attribute, Schema, Study
from castell.collector.page_words import built_in
from tests.browser.taking_part import answer, proceed, send
from tests.browser.test_access import with_study
from tests.collecting import Collector

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STUDY = Study(
    Schema(
        [
            Attribute("region", ["north", "south", "west"], "Where do you live?", public=True),
            Attribute("sick", ["no", "yes", "prefer not to say"], "Were you ill this year?"),
        ]
    ),
    1.0,
    name="public",
)
WORDS = built_in()["en"]


def test_it_is_sent_as_it_is_and_said_to_be(browser: Browser, surveyed: Collector) -> None:
    page = browser.new_context(locale="en").new_page()
    page.set_default_timeout(15_000)
    bodies = with_study(page, STUDY.to_json())
    page.goto(surveyed.url)
    page.wait_for_selector("#questions")
    told = WORDS["publicNote"].format(questions="“Where do you live?”")
    assert told in page.locator(".protect").inner_text()
    # Beside its question and no other; no chance of guessing it is told.
    assert WORDS["publicSent"] in page.locator("#q0").inner_text()
    assert WORDS["publicSent"] not in page.locator("#q1").inner_text()
    page.locator("summary").click()
    assert "Where do you live?" not in page.locator("details table").first.inner_text()
    assert "Were you ill this year?" in page.locator("details table").first.inner_text()
    answer(page, {"region": 2, "sick": 0})
    proceed(page)
    rows = page.locator(".confirm tbody tr").all_inner_texts()
    assert [WORDS["publicSent"] in row for row in rows] == [True, False]
    body = send(page)
    assert json.loads(body)["codes"][0] == 2
    assert json.loads(bodies[0])["codes"][0] == 2
    rows = page.locator("tbody tr").all_inner_texts()
    assert WORDS["publicSent"] in rows[0]
    assert WORDS["publicSent"] not in rows[1]
    page.context.close()
