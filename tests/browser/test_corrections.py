"""A study whose words were corrected: who has sent is not asked again, the others are shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from castell import Study
from castell.collector import correct_command
from castell.study.canonical import canonical, digest_of
from tests.browser.studies import SURVEY
from tests.browser.taking_part import ANSWERS, answer, opened, proceed, send, with_given
from tests.collecting import collecting

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WRONG = SURVEY.replace("Do you smoke?", "Do you smoek?").replace('"abroad"', '"abrod"')
FIXED = SURVEY
SHOWN = ["Do you smoek?", "Do you smoke?", "abrod", "abroad"]


def words(page: Page) -> list[str]:
    return [text.strip() for text in page.locator("main del, main ins").all_inner_texts()]


def test_a_correction_as_three_people_see_it(
    browser: Browser, tmp_path: Path, screens: Path
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    people = [browser.new_context(locale="en-US") for _ in range(3)]
    done, seen, new = people
    with collecting(WRONG, tmp_path) as running:
        port = running.url.rpartition(":")[2]
        page = opened(done, running.url)
        answer(page, ANSWERS)
        proceed(page)
        first = send(page)
        opened(seen, running.url)
    file = tmp_path / "study.toml"
    file.write_text(FIXED, encoding="utf-8")
    made, changes = correct_command.correct(file, str(running.store), lambda _: True)
    assert len(changes) == 2
    with collecting(file.read_text(), tmp_path, "--port", port) as running:
        # Sent under the old words: nothing is asked, and nothing leaves.
        page = done.new_page()
        left: list[str] = []
        page.on("request", lambda request: left.append(request.method))
        page.goto(running.url)
        page.wait_for_selector("main .review")
        assert "already" in page.locator("main").inner_text()
        assert page.locator("form#questions").count() == 0
        page.locator("main details summary").first.click()
        assert page.locator("#body").inner_text() == first
        assert set(left) == {"GET"}
        assert json.loads(first)["study"] == made.origin
        # Seen but not sent: the words before and after, then the questions.
        page = opened(seen, running.url, "main button.main")
        assert "corrected" in page.locator("main h2").inner_text()
        assert page.locator("form#questions").count() == 0
        assert words(page) == SHOWN
        assert axe.Axe().run(page).response["violations"] == []
        page.set_viewport_size({"width": 390, "height": 800})
        page.screenshot(path=screens / "survey-corrected-390.png", full_page=True)
        page.locator("main button.main").click()
        page.wait_for_selector("form#questions")
        answer(page, ANSWERS)
        proceed(page)
        assert json.loads(send(page))["study"] == made.digest
        # A newcomer is asked at once, and can see that there was another text.
        page = opened(new, running.url)
        page.locator("main > details summary").last.click()
        assert words(page) == SHOWN
        page.screenshot(path=tmp_path / "new.png", full_page=True)
        assert len(running.codes()) == 2
    for person in people:
        person.close()


def test_a_page_that_is_open_while_words_are_corrected_sends_under_its_own(
    browser: Browser, tmp_path: Path
) -> None:
    """The collector runs on; who comes a moment later has the new words."""
    context, later = (browser.new_context(locale="en-US") for _ in range(2))
    with collecting(WRONG, tmp_path) as running:
        page = opened(context, running.url)
        answer(page, ANSWERS)
        file = tmp_path / "study.toml"
        file.write_text(FIXED, encoding="utf-8")
        made, _ = correct_command.correct(file, str(running.store), lambda _: True)
        # A device that saw the old words is told of the new ones first; this one has seen none.
        address = f"{running.url.rstrip('/')}/study.json"
        for _ in range(100):
            if later.request.get(address).json()["digest"] == made.digest:
                break
            page.wait_for_timeout(300)
        other = opened(later, running.url)
        assert "Do you smoke?" in other.locator("main").inner_text()
        answer(other, ANSWERS)
        proceed(other)
        assert json.loads(send(other))["study"] == made.digest
        assert "Do you smoek?" in page.locator("main").inner_text()
        proceed(page)
        assert json.loads(send(page))["study"] == made.origin
    context.close()
    later.close()


def test_a_study_that_only_claims_to_be_corrected_is_not_asked(
    browser: Browser, tmp_path: Path
) -> None:
    """The collector's word is not enough: with the words put back the digest must fit."""
    made = Study.from_toml(WRONG).corrected(Study.from_toml(FIXED), "2026-11-16")
    content = json.loads(made.to_json())
    del content["digest"]
    content["blocks"][0]["channel"]["same"] += 1
    forged = canonical({**content, "digest": digest_of(content)})
    context = browser.new_context(locale="en-US")
    with collecting(WRONG, tmp_path) as running:
        page = context.new_page()
        with_given(page, lambda given: given.update(study=forged))
        page.goto(running.url)
        page.wait_for_selector("[role=alert]")
        assert "the digest does not fit the study" in page.locator("main").inner_text()
    context.close()
