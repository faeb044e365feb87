"""Percentages, filters, merged values, sorting, and questions instead of names, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest

from castell import Study
from tests.browser.results.analyst import Analyst, numbers, serving, wait_for_answer, words
from tests.browser.studies import SURVEY
from tests.collecting import Collector

if TYPE_CHECKING:
    from playwright.sync_api import Page

SMOKE, SPORT, AGE = "Do you smoke?", "How often do you exercise?", "How old are you?"


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A survey whose attributes have questions."""
    study = Study.from_toml(SURVEY)
    rng = np.random.default_rng(5)
    answers = {
        a.name: np.array(a.values, dtype=object)[rng.integers(a.size, size=5000)]
        for a in study.schema
    }
    with serving(tmp_path_factory.mktemp("asked"), SURVEY, study.randomize(answers)) as collector:
        yield collector


def _look(analyst: Analyst, asked: Collector) -> Page:
    return analyst.look(asked, ("smokes", "exercise"), method="castell")


def _pick(page: Page, question: str, *values: str) -> None:
    """Pick values where they are merged or filtered."""
    part = page.locator("#values > details", has_text=question)
    if not part.is_visible():
        page.get_by_text("Merge values or filter").click()
    part.locator("summary").click()
    for value in values:
        part.get_by_label(value, exact=True).check()
        wait_for_answer(page)


def _shares(page: Page) -> list[float]:
    texts = page.locator("#table tbody td:nth-of-type(1)").all_inner_texts()
    return [float(text.rstrip("%")) for text in texts]


def test_questions_stand_where_names_would(analyst: Analyst, asked: Collector) -> None:
    page = _look(analyst, asked)
    both = f"{SMOKE} × {SPORT}"  # noqa: RUF001
    assert page.get_by_role("heading", name=both).is_visible()
    assert page.get_by_role("columnheader", name=SMOKE).is_visible()
    assert page.get_by_role("checkbox", name=AGE).is_visible()
    assert SMOKE in words(page)
    assert SPORT in words(page)
    assert f"{SMOKE} by {SPORT}" in (page.locator("#chart").get_attribute("aria-label") or "")


def test_merged_values_are_one_row_and_stay_in_the_address(
    analyst: Analyst, asked: Collector
) -> None:
    page = _look(analyst, asked)
    _pick(page, SPORT, "weekly", "daily")
    page.get_by_role("rowheader", name="weekly or daily").first.wait_for()
    assert len(numbers(page)) == 6
    assert "2 values as one" in page.locator("#values").inner_text()
    assert page.get_by_role("radio", name="Mosaic").is_disabled()
    assert page.get_by_label("Negative cells").is_disabled()
    merged = numbers(page)
    page.reload()
    page.get_by_role("rowheader", name="weekly or daily").first.wait_for()
    assert numbers(page) == merged
    # All values together would be everybody: the last one is not taken.
    page.get_by_text("Merge values or filter").click()
    part = page.locator("#values > details", has_text=SPORT)
    part.locator("summary").click()
    part.get_by_label("rarely", exact=True).click()
    assert not part.get_by_label("rarely", exact=True).is_checked()


def test_a_filter_looks_at_some_respondents_only(analyst: Analyst, asked: Collector) -> None:
    page = _look(analyst, asked)
    before = numbers(page)
    _pick(page, AGE, "60+", "45-59")
    page.get_by_text("Shares of those with 45-59 or 60+.").wait_for()
    assert len(numbers(page)) == 9
    assert numbers(page) != before
    # A filter that is shown as well is no filter any more.
    page.get_by_role("checkbox", name=AGE).check()
    page.get_by_role("heading", name=AGE).wait_for()
    wait_for_answer(page)
    assert "given=" not in page.url
    assert len(numbers(page)) == 36


def test_percentages_within_rows_and_columns_and_the_way_back(
    analyst: Analyst, asked: Collector
) -> None:
    page = _look(analyst, asked)
    joint = numbers(page)
    page.get_by_label("Shares").select_option("smokes")
    page.get_by_text(f"Shares of those with each value of “{SMOKE}”.").wait_for()
    # Beside the chart and beside the numbers.
    assert page.get_by_text("need not add up to 100%").count() == 2
    rows = _shares(page)
    assert [sum(rows[k : k + 3]) for k in (0, 3, 6)] == pytest.approx([100] * 3, abs=0.2)
    page.get_by_label("Shares").select_option("exercise")
    page.get_by_text(f"Shares of those with each value of “{SPORT}”.").wait_for()
    rows = _shares(page)
    assert [sum(rows[k::3]) for k in range(3)] == pytest.approx([100] * 3, abs=0.2)
    page.go_back()
    page.get_by_text(f"Shares of those with each value of “{SMOKE}”.").wait_for()
    assert page.get_by_label("Shares").input_value() == "smokes"
    page.go_back()
    page.get_by_text("Shares of those").wait_for(state="hidden")
    wait_for_answer(page)
    assert page.get_by_text("need not add up to 100%").count() == 0
    assert numbers(page) == joint
    page.go_forward()
    page.get_by_text(f"Shares of those with each value of “{SMOKE}”.").wait_for()


def test_the_table_is_sorted_by_share_without_asking_again(
    analyst: Analyst, asked: Collector
) -> None:
    page = _look(analyst, asked)
    natural = numbers(page)
    many = len([url for url in analyst.requests if "/estimate?" in url])
    page.get_by_role("button", name="share", exact=True).click()
    assert _shares(page) == sorted(_shares(page), reverse=True)
    assert sorted(numbers(page)) == sorted(natural)
    assert page.locator("th[aria-sort=descending]").count() == 1
    assert "sort=share" in page.url
    page.keyboard.press("Enter")  # the button keeps the focus
    assert numbers(page) == natural
    assert len([url for url in analyst.requests if "/estimate?" in url]) == many


def test_one_sentence_stands_above_the_signals(
    analyst: Analyst, health: Collector, forged: Collector
) -> None:
    page = analyst.look(health, method="castell")
    looks = page.locator("#signals > li.look").count()
    said = page.locator("#sentence").inner_text()
    assert said.startswith("Use with care" if looks else "Nothing speaks against this table")
    page = analyst.look(forged)
    assert page.locator("#sentence").inner_text().startswith("Do not rely on this table")
