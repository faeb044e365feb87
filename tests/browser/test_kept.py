"""Answers that are not sent yet outlive a reload, in their tab only, and no longer than that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.browser.taking_part import ANSWERS, answer, opened, proceed, send, with_given

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

    from tests.collecting import Collector


# Everything that a script can find on the device, keys of IndexedDB included.
EVERYTHING = """async () => {
  const found = [{ ...sessionStorage }, { ...localStorage }, document.cookie];
  for (const { name, version } of await indexedDB.databases()) {
    const database = await new Promise((resolve) => {
      const opening = indexedDB.open(name, version);
      opening.onsuccess = () => resolve(opening.result);
    });
    for (const table of database.objectStoreNames) {
      for (const ask of ["getAll", "getAllKeys"]) {
        found.push(await new Promise((resolve) => {
          const asked = database.transaction(table).objectStore(table)[ask]();
          asked.onsuccess = () => resolve(asked.result);
        }));
      }
    }
    database.close();
  }
  return JSON.stringify(found);
}"""
VALUES = ("30-44", "now", "rarely", "south-west")


def ticked(page: Page) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        "#questions :checked", "all => all.map(e => e.value)"
    )
    return found


def test_a_reload_keeps_what_was_answered(context: BrowserContext, surveyed: Collector) -> None:
    page = opened(context, surveyed.url)
    assert "this tab remembers your answers" in page.locator("#questions .actions").inner_text()
    answer(page, ANSWERS)
    before = ticked(page)
    assert len(before) == 4
    page.reload()
    page.wait_for_selector("#questions")
    assert ticked(page) == before
    proceed(page)
    page.reload()  # the last look is a step back, not a loss
    page.wait_for_selector("#questions")
    assert ticked(page) == before


def test_another_tab_knows_nothing_of_it(context: BrowserContext, surveyed: Collector) -> None:
    page = opened(context, surveyed.url)
    answer(page, ANSWERS)
    other = opened(context, surveyed.url)
    assert ticked(other) == [""]  # the list that is not chosen from
    assert not any(value in other.evaluate(EVERYTHING) for value in VALUES)
    # Only the tab's own storage has it.
    assert list(json.loads(page.evaluate("JSON.stringify({...sessionStorage})"))) == [
        f"castell answers {surveyed.study.digest}"
    ]
    assert all(value in page.evaluate(EVERYTHING) for value in VALUES)
    page.evaluate("sessionStorage.clear()")
    assert not any(value in page.evaluate(EVERYTHING) for value in VALUES)


def test_nothing_is_left_once_it_was_sent(context: BrowserContext, surveyed: Collector) -> None:
    page = opened(context, surveyed.url)
    answer(page, ANSWERS)
    proceed(page)
    send(page)
    assert page.evaluate("sessionStorage.length") == 0
    assert not any(value in page.evaluate(EVERYTHING) for value in VALUES)
    page.reload()
    page.get_by_role("heading", name="You have already taken part").wait_for()
    assert page.evaluate("sessionStorage.length") == 0


def test_nothing_is_left_of_a_report_that_may_have_arrived(
    context: BrowserContext, surveyed: Collector
) -> None:
    """It stands, so its answers are needed for nothing any more."""
    page = opened(context, surveyed.url)
    page.route("**/reports", lambda route: route.abort())
    answer(page, ANSWERS)
    proceed(page)
    page.locator("#send").click()
    page.wait_for_timeout(300)
    assert page.evaluate("sessionStorage.length") == 0


def test_a_refused_invitation_costs_no_answers(
    context: BrowserContext, surveyed: Collector
) -> None:
    page = context.new_page()
    with_given(page, lambda given: given["collector"].update(invitations=True))
    page.route("**/invitations", lambda r: r.fulfill(status=403, json={"error": "not known"}))
    page.goto(f"{surveyed.url}/#invitation={'a' * 20}")
    page.wait_for_selector("#questions")
    answer(page, ANSWERS)
    before = ticked(page)
    proceed(page)
    page.locator("#send").click()
    page.wait_for_selector("#invited.open")
    page.reload()
    page.wait_for_selector("#questions")
    assert ticked(page) == before


def test_a_tab_that_may_keep_nothing_works(context: BrowserContext, surveyed: Collector) -> None:
    context.add_init_script(
        "Object.defineProperty(window, 'sessionStorage', {get() { throw new Error('no'); }})"
    )
    page = opened(context, surveyed.url)
    answer(page, ANSWERS)
    page.reload()
    page.wait_for_selector("#questions")
    assert ticked(page) == [""]


def test_what_is_kept_is_only_taken_as_an_answer(
    context: BrowserContext, surveyed: Collector
) -> None:
    page = opened(context, surveyed.url)
    kept = {"age": "18-29", "smokes": "<b>", "region": 3, "else": "x", "__proto__": "y"}
    page.evaluate(
        "([key, text]) => sessionStorage.setItem(key, text)",
        [f"castell answers {surveyed.study.digest}", json.dumps(kept)],
    )
    page.reload()
    page.wait_for_selector("#questions")
    assert ticked(page) == ["0", ""]
