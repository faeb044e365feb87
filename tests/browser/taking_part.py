"""A person at the survey page: the steps that the tests take."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from castell.collector.page_words import built_in
from tests.browser.patience import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Route

ANSWERS = {"age": 1, "smokes": 2, "exercise": 0, "region": 5}
OTHERS = {"age": 3, "smokes": 0, "exercise": 2, "region": 8}


def opened(context: BrowserContext, url: str, screen: str = "form#questions") -> Page:
    """The survey in a page that takes any error or breach of its policy as a failure."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda line: problems.append(line.text) if "Content Security Policy" in line.text else None,
    )
    page.goto(url)
    page.wait_for_selector(screen)
    assert problems == []
    return page


def with_given(page: Page, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what the survey page comes with, as if the collector had sent it so."""

    def document(route: Route) -> None:
        answered = route.fetch()
        block = re.compile(r'(<script type="application/json" id="given">)(.*?)(</script>)', re.S)
        found = block.search(answered.text())
        assert found is not None
        given = json.loads(found[2])
        change(given)
        data = json.dumps(given).replace("<", "\\u003c")
        body = answered.text().replace(found[0], found[1] + data + found[3])
        route.fulfill(status=200, body=body, content_type="text/html")

    page.route(lambda url: urlsplit(url).path == "/", document)


def with_text(page: Page, text: str) -> None:
    """Put another published study in the place of the collector's, with words for any language."""
    with_given(page, lambda given: given.update(study=text, words=built_in()))


def answer(page: Page, answers: dict[str, int]) -> None:
    for place, code in enumerate(answers.values()):
        field = page.locator(f"#q{place}")
        if field.locator("select").count():
            field.locator("select").select_option(str(code))
        else:
            field.locator("label.choice").nth(code).click()


def proceed(page: Page) -> None:
    """Go to the last screen before sending: what will happen, without the report."""
    page.locator("#questions button[type=submit]").click()
    page.wait_for_selector(".confirm")


def review(page: Page) -> str:
    """The same in a study with review = "before": the exact text that would be sent."""
    page.locator("#questions button[type=submit]").click()
    return page.locator("#body").inner_text()


def send(page: Page) -> str:
    """Send, and read the exact text that is shown as sent."""
    page.locator("#send").click()
    page.wait_for_selector(".done")
    return page.locator("#body").inner_text()
