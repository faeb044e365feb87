"""A public attribute on the page: sent as it is, and said to be, before and after."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from castell import Attribute, Schema, Study
from castell.collector.page_words import built_in
from tests.browser.patience import PATIENCE
from tests.browser.taking_part import answer, proceed, send
from tests.browser.test_access import with_study
from tests.collecting import Collector

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

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


DRAWN = Study(
    Schema(
        [
            Attribute("region", ["north", "south", "west"], "Where do you live?", public=True),
            Attribute("sick", ["no", "yes", "prefer not to say"], "Were you ill this year?"),
            Attribute("rich", ["no", "yes"], "Are you rich?"),
        ]
    ),
    3.0,
    "singles",
    name="drawn public",
)
SKIPPED = Study(
    Schema(
        [
            Attribute("sick", ["no", "yes"], "Were you ill this year?", missing="skip"),
            Attribute("rich", ["no", "yes"], "Are you rich?", missing="skip"),
        ]
    ),
    2.0,
    name="skipped",
)


def _page(browser: Browser, surveyed: Collector, study: Study) -> tuple[Page, list[str]]:
    page = browser.new_context(locale="en").new_page()
    page.set_default_timeout(PATIENCE)
    bodies = with_study(page, study.to_json())
    page.goto(surveyed.url)
    page.wait_for_selector("#questions")
    return page, bodies


def test_beside_a_draw_it_is_asked_of_everybody(browser: Browser, surveyed: Collector) -> None:
    page, bodies = _page(browser, surveyed, DRAWN)
    named = "“Where do you live?”"
    assert WORDS["publicNote"].format(questions=named) in page.locator(".protect").inner_text()
    assert WORDS["drawnNote"].format(asked=2, count=3) in page.locator(".protect").inner_text()
    page.locator("summary").click()
    page.wait_for_selector(".later table")  # made when the part is opened
    # Two sets are drawn from; what is public is no set.
    assert WORDS["drawLead"].format(sets=2) in page.locator(".protect").inner_text()
    asked = page.locator("fieldset.question").all_inner_texts()
    assert len(asked) == 2
    rich = any("Are you rich?" in text for text in asked)
    for place in (0, 2 if rich else 1):
        page.locator(f"#q{place} input[value='1']").check()
    proceed(page)
    assert f"what you answered to {named} as it is" in page.locator(".confirm").inner_text()
    body = json.loads(send(page))
    assert body == json.loads(bodies[0])
    code, region = body["codes"]
    assert region == 1
    assert (code >= 3) is rich
    shown = page.locator("main").inner_text()
    assert WORDS["plainLeft"].format(questions=named) in shown
    assert WORDS["plainMade"].format(questions=named) in shown
    assert WORDS["sentLead"] not in shown
    assert WORDS["leftLead"] not in shown
    assert WORDS["columnAnswer"] not in shown  # others know it, too
    page.context.close()


def test_who_skips_is_told_that_it_shows(browser: Browser, surveyed: Collector) -> None:
    page, bodies = _page(browser, surveyed, SKIPPED)
    told = WORDS["skipNote"].format(value="no answer")
    assert all(told in text for text in page.locator("fieldset.question").all_inner_texts())
    answer(page, {"sick": 2, "rich": 0})
    proceed(page)
    rows = page.locator(".confirm tbody tr").all_inner_texts()
    assert [WORDS["skipSent"] in row for row in rows] == [True, False]
    assert "“Were you ill this year?” as it is" in page.locator(".confirm").inner_text()
    codes = json.loads(send(page))["codes"]
    assert codes == json.loads(bodies[0])["codes"]
    assert codes[0] == 2
    assert codes[1] < 2
    shown = page.locator("main").inner_text()
    assert WORDS["plainLeft"].format(questions="“Were you ill this year?”") in shown
    rows = page.locator("tbody tr").all_inner_texts()
    assert [WORDS["skipSent"] in row for row in rows] == [True, False]
    page.context.close()


def test_who_answers_what_may_be_skipped_is_hidden(browser: Browser, surveyed: Collector) -> None:
    page, _ = _page(browser, surveyed, SKIPPED)
    answer(page, {"sick": 0, "rich": 0})
    proceed(page)
    assert WORDS["skipSent"] not in page.locator(".confirm").inner_text()
    assert max(json.loads(send(page))["codes"]) < 2
    shown = page.locator("main").inner_text()
    assert WORDS["sentLead"] in shown
    assert WORDS["skipSent"] not in shown
    page.context.close()


def test_it_is_sent_as_it_is_and_said_to_be(browser: Browser, surveyed: Collector) -> None:
    page = browser.new_context(locale="en").new_page()
    page.set_default_timeout(PATIENCE)
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
