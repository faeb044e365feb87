"""Survey and results behind the proxies of deploy/, at the root of a host and below a path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

from tests.browser.studies import SURVEY
from tests.browser.taking_part import ANSWERS, answer, opened, proceed, send
from tests.collecting import TOKEN, collecting
from tests.deploy.proxies import EXAMPLES, proxied

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser(whole_browser: Browser) -> Browser:
    """What a browser asks for by itself, a page's picture for one, matters here too."""
    return whole_browser


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_the_pages_work_wherever_a_proxy_puts_them(
    browser: Browser, example: str, tmp_path: Path
) -> None:
    options = ("--proxy", "127.0.0.1", "--minimum", "1")
    with (
        collecting(SURVEY, tmp_path, *options) as running,
        proxied(example, running.url, tmp_path / "proxy") as proxy,
    ):
        context = browser.new_context(locale="en-US", ignore_https_errors=True)
        failed: list[str] = []
        asked: list[str] = []

        def note(url: str, status: int) -> None:
            asked.append(url)
            if status >= 400:
                failed.append(f"{status} {url}")

        context.on("response", lambda answer: note(answer.url, answer.status))
        page = opened(context, proxy.url)
        answer(page, ANSWERS)
        proceed(page)
        sent = json.loads(send(page))
        assert sent["study"] == running.study.digest
        assert running.codes() == [tuple(sent["codes"])]
        page.goto(f"{proxy.url}results#token={TOKEN}")
        page.wait_for_selector("#table table")
        page.wait_for_selector("#chart svg")
        with page.expect_download() as download:
            page.locator("#downloads [data-format=csv]").click()
        assert download.value.path().stat().st_size > 0
        # A link to what is shown leads there again.
        page.reload()
        page.wait_for_selector("#table table")
        context.close()
        assert failed == []
        assert [url for url in asked if not url.startswith((proxy.url, "blob:"))] == []
        described = json.loads(proxy.ask("openapi.json")[1])
        (place,) = described["servers"]
        below = urljoin(f"{proxy.url}openapi.json", f"{place['url']}/study.json")
        assert below == f"{proxy.url}study.json"
