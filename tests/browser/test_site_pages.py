"""The documentation in a browser: accessible, readable on a phone, and its demo at work.

One test, since the site is built for it: that it builds without a warning is tested elsewhere.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_access import DESKTOP, PHONE
from tests.built_site import build

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# A page of each kind: cards, steps, folded lines, equations, what a notebook shows, generated
# tables, signatures, pictures, a form, what the theme makes by itself.
KINDS = (
    "index",
    "tutorials/sensitive-survey",
    "howto/weights",
    "explanations/five-pictures",
    "methods",
    "results",
    "reference/command-line",
    "reference/http",
    "reference/library/results",
    "gallery",
    "demo",
    "search",
    "genindex",
)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder over HTTP: a browser loads no modules from files."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def violations(page: Page) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    return [rule["id"] for rule in axe.Axe().run(page).response["violations"]]


def test_the_site_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    assert build(tmp_path).returncode == 0
    folder = tmp_path / "site"
    with served(folder) as address:
        _pages_are_accessible(browser, address)
        _no_page_is_wider_than_a_phone(browser, folder, address)
        _a_search_finds_the_page_first(browser, address)
        _the_demo_estimates(browser, address)


def _pages_are_accessible(browser: Browser, address: str) -> None:
    for size, scheme in ((PHONE, "light"), (DESKTOP, "dark")):
        context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
        context.set_default_timeout(120_000)
        page = context.new_page()
        found = {}
        for kind in KINDS:
            page.goto(f"{address}/{kind}.html")
            if found_here := violations(page):
                found[kind] = found_here
        assert found == {}
        page.evaluate("document.documentElement.removeAttribute('lang')")
        assert "html-has-lang" in violations(page)  # it sees what it should
        context.close()


def _no_page_is_wider_than_a_phone(browser: Browser, folder: Path, address: str) -> None:
    context = browser.new_context(viewport=PHONE)  # type: ignore[arg-type]
    page = context.new_page()
    wider = []
    for path in sorted(folder.rglob("*.html")):
        page.goto(f"{address}/{path.relative_to(folder).as_posix()}")
        if page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            wider.append(path.name)
    assert wider == []
    context.close()


def _a_search_finds_the_page_first(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE)  # type: ignore[arg-type]
    page = context.new_page()
    for words, title in (("epsilon", "Choosing epsilon"), ("weights", "How do I use weights?")):
        page.goto(f"{address}/search.html?q={words}")
        page.locator("ul.search li").get_by_role("link", name=title, exact=True).wait_for()
        page.wait_for_selector(".search-summary:not(:empty)")
        found = page.locator("ul.search li > a").all_inner_texts()
        # The library has attributes of these names, too.
        assert title in found[:5]
    context.close()


def _the_demo_estimates(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=PHONE, locale="en-US")  # type: ignore[arg-type]
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/demo.html")
    page.wait_for_selector("[data-status]:not(:empty)")
    before = page.locator("[data-results]").inner_text()
    page.select_option("[name=epsilon]", "8")
    page.get_by_role("button", name="Ask 5,000 people").click()
    page.wait_for_function(
        "t => document.querySelector('[data-results]').innerText !== t", arg=before
    )
    rows = page.locator("[data-results] tr").all_inner_texts()
    numbers = [[float(n) for n in re.findall(r"-?\d+\.\d", row)] for row in rows]
    assert len(numbers) == 12
    # The inverse keeps the sum. An estimate is six standard errors off less than once in 10^8.
    assert sum(estimate for _, estimate, _, _ in numbers) == pytest.approx(100, abs=0.61)
    for _, estimate, half, truth in numbers:
        assert abs(estimate - truth) < 6 * half / 1.96 + 0.3
    page.get_by_role("button", name="Randomise my answers").click()
    page.wait_for_selector("[data-own]:not(:empty)")
    assert "What would leave this device: " in page.locator("[data-own]").inner_text()
    # Of the table nothing is cut off.
    table = page.locator("#demo table").bounding_box()
    assert table is not None
    assert table["x"] + table["width"] <= PHONE["width"]
    assert [url for url in asked if not url.startswith(address)] == []
    context.close()
