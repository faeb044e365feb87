"""How long a phone on a slow line waits for the survey page: 400 ms to an answer, 50 kB a second.

A real collector and a real Chromium whose network is throttled by its own emulation, a browser
without a cache for each visit. "First words" is the first text that is painted, "questions" the
moment at which the form stands in the page. Times depend on the machine: compare two states of the
project on the same machine, at the same load.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks._population import DataMissingError
from benchmarks._text import grid
from tests.browser import chromium
from tests.browser.studies import SURVEY
from tests.collecting import collecting

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VISITS = 5
LINE = {
    "offline": False,
    "latency": 400,
    "downloadThroughput": 50_000,
    "uploadThroughput": 50_000,
}
# The page's own clock starts with the navigation.
WATCH = """
new MutationObserver((_, watch) => {
  if (!document.querySelector("#questions")) return;
  window.questionsAt = performance.now();
  watch.disconnect();
}).observe(document, { childList: true, subtree: true });
"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def run(quick: bool) -> dict[str, Any]:
    program = chromium.find()
    if program is None:
        raise DataMissingError("there is no Chromium", "install it, or name it by CASTELL_CHROMIUM")
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory() as folder,
        collecting(SURVEY, Path(folder)) as collector,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        visits = [_visit(browser, collector.url) for _ in range(1 if quick else VISITS)]
        browser.close()
    return {"visits": visits}


def _visit(browser: Browser, url: str) -> dict[str, float]:
    context = browser.new_context(locale="en-US", viewport={"width": 390, "height": 844})
    context.add_init_script(WATCH)
    page = context.new_page()
    session = context.new_cdp_session(page)
    loaded: list[int] = []
    session.on("Network.loadingFinished", lambda done: loaded.append(done["encodedDataLength"]))
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", LINE)
    page.goto(url)
    page.wait_for_selector("#questions")
    page.wait_for_load_state("networkidle")
    times = page.evaluate(f"({{ words: {PAINTED}, questions: window.questionsAt }})")
    context.close()
    return {
        "requests": len(loaded),
        "bytes": sum(loaded),
        "first words": times["words"] / 1000,
        "questions": times["questions"] / 1000,
    }


def show(result: dict[str, Any]) -> str:
    visits = result["visits"]
    rows = []
    for name, pick in (("median", median), ("least", min), ("most", max)):
        found = {key: pick([visit[key] for visit in visits]) for key in visits[0]}
        seconds = [f"{found[key]:.2f} s" for key in ("first words", "questions")]
        rows.append([name, f"{found['requests']:.0f}", f"{found['bytes'] / 1000:.1f}", *seconds])
    return grid(["", "requests", "kB", "first words", "questions"], rows)
