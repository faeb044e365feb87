"""While no reports are taken, people are told so before they answer anything, and spend nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from castell.collector.store import open_store
from tests.browser.studies import SURVEY
from tests.browser.taking_part import ANSWERS, answer, opened, proceed, send
from tests.browser.test_access import DESKTOP, PHONE
from tests.collecting import Collector, collecting

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

Start = Callable[..., Collector]

TEXT = SURVEY + '\n[translations.es]\ntitle = "Salud"\n\n[translations.fr]\ntitle = "Santé"\n'
FUTURE, PAST = "2999-12-01T08:00:00+01:00", "2020-12-01T08:00:00+01:00"
TITLES = {
    "not_open_yet": {
        "en": "This survey is not open yet",
        "de": "Diese Umfrage ist noch nicht offen",
        "es": "Esta encuesta aún no está abierta",
        "fr": "Cette enquête n\N{RIGHT SINGLE QUOTATION MARK}est pas encore ouverte",
    },
    "paused": {
        "en": "This survey is paused",
        "de": "Diese Umfrage macht eine Pause",
        "es": "Esta encuesta está en pausa",
        "fr": "Cette enquête est en pause",
    },
    "closed": {
        "en": "This survey has ended",
        "de": "Diese Umfrage ist beendet",
        "es": "Esta encuesta ha terminado",
        "fr": "Cette enquête est terminée",
    },
}


def pause(running: Collector, paused: bool = True) -> None:
    with contextlib.closing(open_store(running.store)) as store:
        store.pause(paused)


@pytest.fixture(scope="module")
def phases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Collector]]:
    """A collector that is not open yet, one that is paused, and one that is over."""
    options = {"not_open_yet": ("--opens", FUTURE), "paused": (), "closed": ("--closes", PAST)}
    with contextlib.ExitStack() as stack:
        found = {
            phase: stack.enter_context(collecting(TEXT, tmp_path_factory.mktemp(phase), *given))
            for phase, given in options.items()
        }
        pause(found["paused"])
        yield found


@pytest.mark.parametrize("phase", TITLES)
def test_people_are_told_in_their_language(
    browser: Browser, phases: dict[str, Collector], phase: str
) -> None:
    for language, title in TITLES[phase].items():
        context = browser.new_context(locale=language, timezone_id="Europe/Berlin")
        page = opened(context, phases[phase].url, ".closed")
        assert page.locator(".closed h2").inner_text() == title
        assert page.locator("form, input").count() == 0
        if phase == "not_open_yet":
            said = page.locator(".closed p").first.inner_text()
            assert "2999" in said
            assert "8:00" in said
        context.close()
    assert phases[phase].codes() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_closed_page_is_for_everybody(
    browser: Browser, phases: dict[str, Collector], screens: Path, size: dict[str, int], scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for phase, running in phases.items():
        context = browser.new_context(
            locale="en-US",
            viewport=size,  # type: ignore[arg-type]
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        page = opened(context, running.url, ".closed")
        page.screenshot(path=screens / f"survey-{phase}-{size['width']}-{scheme}.png")
        found = axe.Axe().run(page).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        context.close()


def test_after_the_pause_the_questions_come(context: BrowserContext, collector: Start) -> None:
    running = collector(SURVEY)
    pause(running)
    page = opened(context, running.url, ".closed")
    page.get_by_role("button", name="Look again").click()
    page.wait_for_selector(".closed")
    pause(running, False)
    page.get_by_role("button", name="Look again").click()
    page.wait_for_selector("#questions")
    answer(page, ANSWERS)
    proceed(page)
    send(page)
    assert len(running.codes()) == 1


def test_a_pause_before_sending_costs_nothing(context: BrowserContext, collector: Start) -> None:
    """It began while somebody was answering: no report leaves, and the ledger is empty."""
    running = collector(SURVEY)
    page = opened(context, running.url)
    answer(page, ANSWERS)
    proceed(page)
    pause(running)
    posts: list[str] = []
    page.on("request", lambda r: posts.append(r.url) if r.method == "POST" else None)
    page.locator("#send").click()
    page.wait_for_selector(".closed[data-phase=paused]")
    assert page.evaluate("document.activeElement.textContent") == "This survey is paused"
    assert posts == []
    assert ledger(page) == []
    assert running.codes() == []


def test_a_pause_while_a_report_is_on_its_way_loses_nothing(
    context: BrowserContext, collector: Start
) -> None:
    """The collector looked open and was not: the report stands, and arrives once."""
    running = collector(SURVEY)
    page = opened(context, running.url)
    answer(page, ANSWERS)
    proceed(page)
    pause(running)
    asked: list[str] = []

    def first_open(route: Any) -> None:
        asked.append("")
        if len(asked) == 1:
            route.fulfill(json={"state": "open", "invitations": False})
        else:
            route.continue_()

    page.route("**/collector.json", first_open)
    page.locator("#send").click()
    page.wait_for_selector(".closed[data-phase=paused]")
    assert "kept on this device" in page.locator(".closed").inner_text()
    assert [entry["state"] for entry in ledger(page)] == ["waiting"]
    # Still paused: it is told again, without a wait.
    page.get_by_role("button", name="Send it again").click()
    page.wait_for_selector(".closed[data-phase=paused] button:text('Send it again')")
    page.reload()
    page.wait_for_selector(".closed[data-phase=paused]")
    pause(running, False)
    page.get_by_role("button", name="Send it again").click()
    page.wait_for_selector(".done")
    (entry,) = ledger(page)
    assert entry["state"] == "arrived"
    assert running.codes() == [tuple(entry["report"]["codes"])]


def ledger(page: Page) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = page.evaluate(
        """async () => {
          const { readLedger } = await import("/static/client/ledger.js");
          const { openStore } = await import("/static/client/store.js");
          return readLedger(await openStore());
        }"""
    )
    return entries
