"""The survey page for everybody: by keyboard, by screen reader, on a phone; and its pictures."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from castell import Attribute, Schema, Study
from tests.browser.conftest import ROOT
from tests.browser.states import STATES
from tests.browser.taking_part import ANSWERS, answer, opened, proceed, send, with_text
from tests.collecting import Collector

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


def published(name: str) -> str:
    """The published text of one of the studies in vectors/."""
    studies = json.loads((ROOT / "vectors" / "studies.json").read_text())
    text: str = next(study["text"] for study in studies if study["name"] == name)
    return text


def with_study(page: Page, text: str) -> list[str]:
    """Put another study in the collector's place; the bodies that are sent."""
    bodies: list[str] = []

    def store(route: Any) -> None:
        bodies.append(route.request.post_data)
        route.fulfill(status=201, body='{"status":"stored"}', content_type="application/json")

    with_text(page, text)
    page.route("**/reports", store)
    return bodies


# -- by keyboard -----------------------------------------------------------------------------------


def press_until(page: Page, key: str, condition: str) -> None:
    for _ in range(60):
        page.keyboard.press(key)
        if page.evaluate(f"(() => {{ const at = document.activeElement; return {condition}; }})()"):
            return
    raise AssertionError(f"{key} never reached {condition}")


def test_the_whole_survey_by_keyboard(browser: Browser, surveyed: Collector) -> None:
    context = browser.new_context(locale="en-US")
    page = opened(context, surveyed.url)
    before = len(surveyed.codes())
    wanted = {"age": 2, "smokes": 1, "exercise": 0}
    for place, code in enumerate(wanted.values()):
        press_until(page, "Tab", f"at.name === 'q{place}'")
        page.keyboard.press("Space")
        for _ in range(code):
            page.keyboard.press("ArrowDown")
        # What has the focus can be seen.
        assert (
            page.evaluate(
                "getComputedStyle(document.activeElement.closest('.choice')).outlineWidth"
            )
            == "3px"
        )
    press_until(page, "Tab", "at.name === 'q3'")
    page.keyboard.type("south-e")
    press_until(page, "Tab", "at.type === 'submit'")
    page.keyboard.press("Enter")
    page.wait_for_selector(".confirm")
    assert page.evaluate("document.activeElement.textContent") == "What happens when you send"
    answers = page.locator(".confirm tbody td:nth-child(2) > span:last-child").all_inner_texts()
    assert answers == ["45-59", "before", "rarely", "south-east"]
    press_until(page, "Tab", "at.id === 'send'")
    page.keyboard.press("Enter")
    page.wait_for_selector(".done")
    assert page.evaluate("document.activeElement.tagName") == "H2"
    assert page.locator("#status").inner_text().startswith("Thank you")
    assert len(surveyed.codes()) == before + 1
    context.close()


# -- by screen reader ------------------------------------------------------------------------------


def test_what_a_screen_reader_hears(browser: Browser, surveyed: Collector) -> None:
    context = browser.new_context(locale="en-US")
    page = opened(context, surveyed.url)
    group = page.get_by_role("group", name="Do you smoke?")
    assert group.get_by_role("radio").count() == 3
    assert group.get_by_role("radio", name="before").count() == 1
    assert page.get_by_role("combobox", name="Where do you live?").count() == 1
    page.locator("summary").click()
    pictures = [p.get_attribute("aria-label") or "" for p in page.get_by_role("img").all()]
    assert [label[:23] for label in pictures] == [
        "Of 100 people who send ",
        "A wheel of chance: 57.6",
        "33.3 of 100 guesses rig",
    ]
    assert [page.get_by_role(role).count() for role in ("banner", "main", "contentinfo")] == [1] * 3
    levels = page.eval_on_selector_all("h1, h2, h3", "all => all.map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    context.close()


def test_the_check_of_accessibility_sees_what_it_should(
    browser: Browser, surveyed: Collector
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context()
    page = opened(context, surveyed.url)
    page.evaluate("document.documentElement.style.setProperty('--soft', '#bbb')")
    page.evaluate("document.querySelector('#q3 select').removeAttribute('aria-labelledby')")
    found = {rule["id"] for rule in axe.Axe().run(page).response["violations"]}
    assert {"color-contrast", "select-name"} <= found
    context.close()


@pytest.mark.parametrize("state", ["ask", "missing", "confirm", "review", "sent", "already"])
def test_the_narrowest_phone_need_not_scroll_sideways(
    browser: Browser, surveyed: Collector, state: str
) -> None:
    context = browser.new_context(locale="en-US", viewport={"width": 320, "height": 700})
    page = context.new_page()
    STATES[state](page, surveyed.url)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    small = page.eval_on_selector_all(
        "button, .choice, select",
        "all => all.map(e => e.getBoundingClientRect().height).filter(h => h && h < 40)",
    )
    assert small == []
    context.close()


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_first_question_is_on_the_first_screen_of_a_phone(
    browser: Browser, surveyed: Collector, language: str
) -> None:
    context = browser.new_context(locale=language, viewport=PHONE)  # type: ignore[arg-type]
    page = opened(context, surveyed.url)
    ends = page.eval_on_selector_all(
        "#q0 legend, #q0 .choice", "all => all.map(e => e.getBoundingClientRect().bottom)"
    )
    assert sum(end <= PHONE["height"] for end in ends) >= 2  # the question and a choice
    # All of the rest is folded, and what is protected is said in a sentence and a number.
    told = page.locator(".protect").inner_text()
    assert told.count("57") == 0
    assert told.count("42") == 1
    context.close()


def test_the_wheel_stands_still_for_who_asks_for_that(
    browser: Browser, surveyed: Collector
) -> None:
    for motion, name in (("reduce", "none"), ("no-preference", "turn")):
        context = browser.new_context(locale="en-US", reduced_motion=motion)  # type: ignore[arg-type]
        page = opened(context, surveyed.url)
        page.locator("summary").click()
        hand = page.locator(".wheel .hand")
        assert hand.evaluate("e => getComputedStyle(e).animationName") == name
        context.close()


# -- other designs ---------------------------------------------------------------------------------


def test_a_drawn_design_asks_only_what_was_drawn(browser: Browser, surveyed: Collector) -> None:
    text = published("drawn, with overlaps")
    study = json.loads(text)
    for _ in range(4):  # that all are drawn alike is tested in test_modules.py
        context = browser.new_context(locale="en-US")
        page = context.new_page()
        bodies = with_study(page, text)
        page.goto(surveyed.url)
        page.wait_for_selector("#questions")
        asked = tuple(page.locator(".asked").all_inner_texts())
        blocks = [
            tuple(a["question"] for a in study["attributes"] if a["name"] in block["attributes"])
            for block in study["blocks"]
        ]
        index = blocks.index(asked)
        assert "Chance has picked 2 of 3 questions" in page.locator(".protect").inner_text()
        for field in page.locator("fieldset").all():
            field.locator("label").first.click()
        proceed(page)
        shown = send(page)
        (code,) = json.loads(shown)["codes"]
        assert "the questions that chance has picked" in page.locator(".review dl").inner_text()
        rows = page.locator(".review tbody tr").all_inner_texts()
        assert len(rows) == 2
        circle = study["blocks"][index]["channel"]["kind"] == "cyclic"
        assert [f"Code {code}, which fits" in row for row in rows] == [circle, circle]
        assert bodies == [shown]
        starts = [0, 6, 19, 27]
        assert starts[index] <= code < starts[index + 1]
        context.close()


@pytest.mark.parametrize("epsilon", [4.0, 12.0])
def test_weak_protection_is_called_weak(
    browser: Browser, surveyed: Collector, epsilon: float
) -> None:
    study = Study(Schema([Attribute("a", ["x", "y"]), Attribute("b", ["x", "y"])]), epsilon)
    context = browser.new_context(locale="en-US")
    page = context.new_page()
    with_study(page, study.to_json())
    page.goto(surveyed.url)
    page.wait_for_selector("#questions")
    page.locator("summary").click()
    told = page.locator(".protect").inner_text()
    # At 2 each the guess is wrong more than once in ten times, at 6 each far less.
    assert ("This is weak protection" in told) == (epsilon > 4)
    assert ("Nobody can know for sure" in told) == (epsilon == 4)
    assert ("hardly hides" in told) == (epsilon > 4)
    exposure = study.statement().exposures[0]
    assert f"right in {100 * exposure.best_guess:.1f} of 100 cases" in told
    numbers = page.locator("details").inner_text()
    assert f"Privacy loss (epsilon): {epsilon:.2f} in all" in numbers
    assert f"{100 * exposure.best_guess:.1f} of 100" in numbers
    context.close()


def test_codes_that_are_no_answers_are_explained(browser: Browser, surveyed: Collector) -> None:
    context = browser.new_context(locale="en-US")
    page = context.new_page()
    with_study(page, published("a circle"))
    page.goto(surveyed.url)
    page.wait_for_selector("#questions")
    page.locator("fieldset label").nth(1).click()
    proceed(page)
    (code,) = json.loads(send(page))["codes"]
    values = ["poor", "fair", "good", "excellent"]
    fits = [value for x, value in enumerate(values) if (code - x) % 7 in {0, 1, 3}]
    told = page.locator(".review td:last-child").inner_text()
    # Weights are 11 for the answers that a code fits and 4 for the others.
    others = 4 * (4 - len(fits)) / (11 * len(fits) + 4 * (4 - len(fits)))
    assert not fits or f"the true answer of {int(100 * others)} is another one" in told
    assert f"Code {code}, which fits: {', '.join(fits or values)}" in told
    context.close()


# -- pictures for the documents --------------------------------------------------------------------


@pytest.mark.parametrize(("name", "size"), [("1280", DESKTOP), ("390", PHONE)])
def test_pictures(
    browser: Browser, surveyed: Collector, screens: Path, name: str, size: Any
) -> None:
    context = browser.new_context(locale="en-US", viewport=size, device_scale_factor=1)
    page = opened(context, surveyed.url)
    answer(page, ANSWERS)
    page.locator("h1").click()  # nothing has the focus or the mouse
    for screen in ("ask", "confirm", "sent"):
        if screen == "confirm":
            proceed(page)
        if screen == "sent":
            send(page)
        path = screens / f"survey-{screen}-{name}.png"
        page.screenshot(path=path, full_page=True)
        assert path.stat().st_size > 10_000
    context.close()
