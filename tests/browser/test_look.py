"""The owner's logo and colour, and the preview, in a real browser."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from castell import Study
from castell.collector.colours import contrast
from tests.browser.studies import SURVEY
from tests.browser.taking_part import ANSWERS, answer, opened, proceed, send
from tests.browser.test_access import DESKTOP, PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

LOGO = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 250 48">
<circle cx="24" cy="24" r="20" fill="#a3195b"/><path d="M14 30V18h4v8h12v-8h4v12z" fill="#fff"/>
<text x="54" y="30" font-family="sans-serif" font-size="18">University of Example</text>
<script>document.documentElement.setAttribute("ran", "yes"); fetch("/ran")</script></svg>"""
PAGE = '[page]\nlogo = "logo.svg"\nlogo_alt = "University of Example"\naccent = "#a3195b"\n'


@contextlib.contextmanager
def previewing(folder: Path, study: str, *options: str) -> Iterator[str]:
    """`castell preview` on a study file's text, until the block is left: its address."""
    file = folder / "study.toml"
    file.write_text(study, encoding="utf-8")
    (folder / "logo.svg").write_text(LOGO, encoding="utf-8")
    program = Path(sys.executable).with_name("castell")
    command = [str(program), "preview", str(file), "--no-open", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["address"]
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def browser(whole_browser: Browser) -> Browser:
    """What a browser asks for by itself, a page's picture for one, matters here too."""
    return whole_browser


@pytest.fixture
def previewed(tmp_path: Path) -> Iterator[str]:
    with previewing(tmp_path, SURVEY + PAGE) as address:
        yield address


def rgb(text: str) -> str:
    red, green, blue = (int(part) for part in text[4:-1].split(","))
    return f"#{red:02x}{green:02x}{blue:02x}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1280", "390"])
def test_the_owners_page_is_legible(
    browser: Browser, previewed: str, screens: Path, size: Any, scheme: Any
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(locale="en-US", viewport=size, color_scheme=scheme)
    page = opened(context, previewed)
    logo = page.get_by_role("img", name="University of Example")
    assert logo.evaluate("e => [e.complete, e.naturalWidth > 0]") == [True, True]
    page.screenshot(path=screens / f"survey-owner-{scheme}-{size['width']}.png")
    page.locator("summary").click()
    colours = page.locator("main button.main").evaluate(
        "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    )
    assert contrast(rgb(colours[0]), rgb(colours[1])) >= 4.5
    assert (rgb(colours[1]) == "#a3195b") == (scheme == "light")
    assert axe.Axe().run(page).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    context.close()


def test_a_script_in_a_logo_never_runs(context: BrowserContext, previewed: str) -> None:
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = opened(context, previewed)
    page.wait_for_timeout(300)
    page.goto(f"{previewed}logo")  # by itself it is a document
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.getAttribute('ran')") is None
    assert not any(url.endswith("/ran") for url in asked)


def test_a_preview_sends_and_keeps_nothing(context: BrowserContext, previewed: str) -> None:
    page = opened(context, previewed)
    assert "Preview: nothing is sent or kept." in page.locator(".preview").inner_text()
    assert "This device sends one report" in page.locator("details").text_content()  # type: ignore[operator]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    answer(page, ANSWERS)
    proceed(page)
    send(page)
    page.wait_for_timeout(1500)
    assert {line.split(" ")[0] for line in asked} <= {"GET"}
    assert all(line.endswith("preview.json") for line in asked)
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0
    page.reload()
    page.wait_for_selector("#questions")  # and one may look again
    assert page.locator("#q0 input:checked").count() == 0


def test_a_preview_forgets_answers_on_a_reload(context: BrowserContext, previewed: str) -> None:
    page = opened(context, previewed)
    # The words are those of the page as it will be.
    assert "this tab remembers your answers" in page.locator("#questions .actions").inner_text()
    answer(page, ANSWERS)
    assert page.locator("#questions :checked").count() == 4
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0
    page.reload()
    page.wait_for_selector("#questions")
    assert page.locator("#questions input:checked").count() == 0


def test_a_preview_follows_its_file(context: BrowserContext, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    with previewing(tmp_path, SURVEY + PAGE) as address:
        page = opened(context, address)
        answer(page, ANSWERS)
        page.wait_for_timeout(1500)  # it has asked once
        file = tmp_path / "study.toml"
        file.write_text((SURVEY + PAGE).replace("epsilon = 4.0", "epsilon = "), encoding="utf-8")
        expect(page.locator("#preview-problem")).to_contain_text("not valid TOML")
        assert page.locator("#q0 input:checked").count() == 1
        file.write_text((SURVEY + PAGE).replace("really?", "today?"), encoding="utf-8")
        expect(page.locator("h1")).to_have_text("How are you, today?")
        expect(page.locator("#preview-problem")).to_have_text("")


def test_a_logo_and_a_colour_are_no_part_of_the_study(
    context: BrowserContext, collector: Callable[..., Any]
) -> None:
    """Who has taken part is not asked again because of a new colour."""
    page_only = '[page]\naccent = "#a3195b"\n'
    assert Study.from_toml(SURVEY + page_only).digest == Study.from_toml(SURVEY).digest
    running = collector(SURVEY + page_only)
    page = opened(context, running.url)
    button = page.locator("main button.main")
    assert rgb(button.evaluate("e => getComputedStyle(e).backgroundColor")) == "#a3195b"
    answer(page, ANSWERS)
    proceed(page)
    assert json.loads(send(page))["study"] == Study.from_toml(SURVEY).digest
