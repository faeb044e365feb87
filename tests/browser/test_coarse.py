"""A study that asks coarsely, on the page: it names the group of answers that was sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from castell import Study
from castell.channels import PartitionResponse
from castell.collector.page_words import built_in
from castell.study.texts import StudyText
from tests.browser.patience import PATIENCE
from tests.browser.studies import COARSE
from tests.browser.taking_part import answer, opened, proceed, send
from tests.browser.test_access import with_study
from tests.coarse_studies import coarse_studies
from tests.collecting import Collector
from tests.populations import schema

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

Start = Callable[..., Collector]
OWN = 1  # the second value, whatever is asked


# All words of the device are one number, so what chance does is known.
WORDS = "SubtleCrypto.prototype.sign = async () => new BigUint64Array(4).fill({word}n).buffer"


def sent_page(
    browser: Browser, url: str, study: Study, language: str, word: int
) -> tuple[Page, list[int]]:
    """What is shown once a report has left, and its codes."""
    page = browser.new_context(locale=language).new_page()
    page.add_init_script(WORDS.replace("{word}", str(word)))
    page.set_default_timeout(PATIENCE)
    bodies = with_study(page, study.to_json())
    page.goto(url)
    page.wait_for_selector("#questions")
    for field in page.locator("fieldset.question").all():
        field.locator("label.choice").nth(OWN).click()
    proceed(page)
    send(page)
    return page, json.loads(bodies[0])["codes"]


def shown(page: Page) -> list[list[str]]:
    """Question, answer and what was sent, in the table of what left."""
    lines = page.locator("main table tbody tr").all()
    return [line.locator("th, td > span:last-child").all_inner_texts() for line in lines]


@pytest.mark.parametrize("leaf", [1, 3, 4])
@pytest.mark.parametrize("language", ["en", "de", "es", "fr"])
def test_the_group_that_was_sent_is_named(
    browser: Browser, surveyed: Collector, language: str, leaf: int
) -> None:
    words = built_in()[language]
    base = Study.from_toml(COARSE)
    study = Study(base.schema, design=base.design, text=StudyText(language=language))
    channel = study.design.blocks[0].channel
    assert isinstance(channel, PartitionResponse)
    page, codes = sent_page(browser, surveyed.url, study, language, 4 * leaf)
    assert codes == [leaf]
    for attribute, inside, line in zip(
        study.schema, channel.leaves[leaf], shown(page), strict=True
    ):
        values = [attribute.values[value] for value in inside]
        told = line[2].splitlines()
        if len(inside) == attribute.size:
            assert told == [words["sentAny"]]
        elif len(inside) == 1:
            note = "sentSame" if inside == (OWN,) else "sentOther"
            assert told[:2] == [values[0], words[note]]
        else:
            note = "sentAmong" if OWN in inside else "sentOther"
            assert told[0] == words["sentGroup"].replace("{values}", ", ".join(values))
            assert told[1] == words[note]
        assert "{" not in " ".join(line)
    page.context.close()


def test_the_page_says_that_a_group_is_sent(browser: Browser, surveyed: Collector) -> None:
    page = browser.new_context(locale="en-US").new_page()
    with_study(page, Study.from_toml(COARSE).to_json())
    page.goto(surveyed.url)
    page.wait_for_selector("#questions")
    told = page.locator(".protect").inner_text()
    assert "What you answer belongs to one of 5 groups of answers." in told
    assert "whether that group or another one is sent" in told
    assert "whether a true answer" not in told
    page.context.close()


def test_a_report_that_only_fits_groups_is_a_code(browser: Browser, surveyed: Collector) -> None:
    """Of a circle: several groups fit a report, so it names none."""
    study = coarse_studies(schema((2, 3, 4)))["twice the same questions"]
    for word in (0, 1):  # draws the first block, which names groups, and the second
        page, (code,) = sent_page(browser, surveyed.url, study, "en-US", word)
        told = [line[2] for line in shown(page)]
        assert (code >= study.design.starts[1]) == bool(word)
        assert all(text.startswith(f"Code {code}, which fits:") for text in told) == bool(word)
        page.context.close()


def test_a_coarse_study_through_a_collector(context: BrowserContext, collector: Start) -> None:
    running = collector(COARSE)
    page = opened(context, running.url)
    answer(page, {"age": 1, "smokes": 0, "exercise": 2})
    proceed(page)
    send(page)
    ((code,),) = running.codes()
    assert 0 <= code < 5
    assert f'"codes":[{code}]' in page.locator("#body").inner_text()
