"""An analyst at the results page, in a real browser against a real collector."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import numpy as np
import pytest
from pyarrow import csv

from castell import Attribute, Schema, Study
from castell.cli.study_file import to_toml
from castell.device.report import make_report
from castell.population import health_survey
from tests.browser.results.analyst import (
    PEOPLE,
    TEXT,
    Analyst,
    attribute,
    heading,
    link,
    numbers,
    serving,
    wait_for_answer,
    words,
)
from tests.collecting import TOKEN, Collector

if TYPE_CHECKING:
    from playwright.sync_api import Page


# -- signing in ----------------------------------------------------------------------------------


def test_signing_in_with_a_wrong_and_the_right_token(analyst: Analyst, health: Collector) -> None:
    page = analyst.open(f"{health.url}/results")
    analyst.expected.append("401")
    page.get_by_label("Token").fill("not-the-token-at-all")
    page.get_by_role("button", name="Show results").click()
    page.get_by_role("alert").get_by_text("This token is not good here").wait_for()
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.locator("#chart svg").wait_for()
    assert page.get_by_role("alert").is_hidden()
    # It is kept for this tab, and nowhere else.
    assert page.evaluate("Object.values(sessionStorage)") == [TOKEN]
    assert page.evaluate("localStorage.length") == 0
    assert page.context.cookies() == []
    assert TOKEN not in page.url
    page.reload()
    page.locator("#chart svg").wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").wait_for()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_link_brings_the_token_and_the_question_and_loses_the_token(
    analyst: Analyst, health: Collector
) -> None:
    page = analyst.look(health, ("age", "region"), method="independent", level="0.9")
    assert TOKEN not in page.url
    assert "attributes=age&attributes=region&method=independent&level=0.9" in page.url
    assert heading(page, "age", "region").is_visible()
    assert page.get_by_label("Method").input_value() == "independent"
    assert page.get_by_role("columnheader", name="90% interval").is_visible()


# -- asking and seeing ---------------------------------------------------------------------------


def test_the_page_shows_reports_chart_table_and_signals(
    analyst: Analyst, health: Collector
) -> None:
    page = analyst.look(health)
    assert page.get_by_role("heading", name="Health and habits").is_visible()
    assert page.locator("#n").inner_text() == f"{PEOPLE:,}"
    assert page.locator("#epsilon").inner_text() == "9"
    assert page.locator("#spent").inner_text() == "3"
    assert len(numbers(page)) == 12
    first = numbers(page)[0].split()
    assert first[0:2] == ["never", "poor"]
    # What the table says stands in the chart too.
    assert first[2] in words(page)
    assert page.locator("#signals > li").count() == 6
    assert not page.locator("#verdict").is_visible()
    drift = page.locator("#signals > li[data-key=drift]")
    drift.get_by_text("How").click()
    assert "Pearson's chi-square" in drift.inner_text()
    assert "3 periods" in drift.inner_text()
    assert page.locator("#timeline svg path[aria-roledescription=bar]").count() > 48


def test_other_attributes_give_another_chart(analyst: Analyst, health: Collector) -> None:
    page = analyst.look(health)
    before, table = words(page), numbers(page)
    attribute(page, "age").check()
    heading(page, "smokes", "health", "age").wait_for()
    wait_for_answer(page)
    assert len(numbers(page)) == 48
    assert words(page) != before
    attribute(page, "age").uncheck()
    attribute(page, "smokes").uncheck()
    heading(page, "health").wait_for()
    wait_for_answer(page)
    assert len(numbers(page)) == 4
    # The last one stays: a table has at least one attribute.
    attribute(page, "health").click()
    wait_for_answer(page)
    assert attribute(page, "health").is_checked()
    attribute(page, "smokes").check()
    heading(page, "health", "smokes").wait_for()
    wait_for_answer(page)
    swapped = {tuple(sorted(row.split()[:3])) for row in numbers(page)}
    assert swapped == {tuple(sorted(row.split()[:3])) for row in table}


def test_methods_kinds_of_charts_and_levels(analyst: Analyst, health: Collector) -> None:
    page = analyst.look(health)
    raw = numbers(page)
    page.get_by_label("Method").select_option("independent")
    page.locator("#chart-sub", has_text="Method independent").wait_for()
    wait_for_answer(page)
    assert numbers(page) != raw
    page.get_by_label("Intervals", exact=True).select_option("0.99")
    page.get_by_role("columnheader", name="99% interval").wait_for()
    for kind, drawn in (("Bars", "bars"), ("Mosaic", "mosaic"), ("Heat map", "heat")):
        page.get_by_role("radio", name=kind).check()
        wait_for_answer(page)
        page.get_by_role("img", name=f"{drawn} of").wait_for()
        assert page.get_by_role("radio", name=kind).is_checked()
    # One attribute has bars only.
    attribute(page, "health").uncheck()
    wait_for_answer(page)
    assert page.get_by_role("radio", name="Mosaic").is_disabled()
    assert page.get_by_role("radio", name="Auto").is_checked()


def test_a_tooltip_gives_the_numbers(analyst: Analyst, health: Collector) -> None:
    page = analyst.look(health)
    # Also where a number is written.
    page.locator("#chart svg .mark-rect path").last.hover()
    tip = page.locator("#vg-tooltip-element")
    tip.get_by_text("excellent").wait_for()
    assert tip.evaluate("e => getComputedStyle(e).position") == "fixed"


def test_a_refusal_is_shown_with_its_remedy_and_no_table(analyst: Analyst, tmp_path: Path) -> None:
    # Values that would be markup, were they not always text.
    schema = Schema([Attribute(n, [f"<img src=/{n}{k}>" for k in range(80)]) for n in ("a", "b")])
    text = to_toml(schema, name="wide", epsilon=8.0)
    rng = np.random.default_rng(1)
    answers = {
        n: np.array(schema[n].values, dtype=object)[rng.integers(80, size=400)] for n in "ab"
    }
    with serving(tmp_path, text, Study.from_toml(text).randomize(answers)) as collector:
        page = analyst.look(collector, ("a",))
        assert numbers(page)[0].startswith("<img src=/a0>")
        assert "The 40 largest of 80 cells" in page.locator("#said").inner_text()
        page.locator("#chart svg .mark-rect path").last.hover()
        page.locator("#vg-tooltip-element").get_by_text("<img src=/a").wait_for()
        assert page.locator("#main img, #vg-tooltip-element img").count() == 0
        analyst.expected.append("400")
        attribute(page, "b").check()
        alert = page.get_by_role("alert")
        alert.get_by_text("6,400 cells, the limit is 5,000").wait_for()
        assert "Ask for fewer attributes" in alert.inner_text()
        assert page.locator("#answered").is_hidden()
        assert numbers(page) == []
        attribute(page, "a").uncheck()
        heading(page, "b").wait_for()
        wait_for_answer(page)
        assert alert.count() == 0
        page.close()  # before its collector goes


# -- while reports come in -----------------------------------------------------------------------


def send(collector: Collector, people: int, seed: int) -> None:
    answers = health_survey(people, seed)
    keys = np.random.default_rng(seed)  # a device each
    rows = [dict(zip(answers, one, strict=True)) for one in zip(*answers.values(), strict=True)]
    reports = [make_report(collector.study, row, keys.bytes(32)) for row in rows]
    body = {
        "study": collector.study.digest,
        "reports": [{"id": r.id, "codes": r.codes} for r in reports],
    }
    httpx.post(f"{collector.url}/reports/bulk", json=body, trust_env=False).raise_for_status()


def test_the_page_waits_for_enough_reports_and_follows_new_ones(
    analyst: Analyst, collector: Callable[..., Collector]
) -> None:
    started = collector(TEXT)
    send(started, 57, 1)
    page = analyst.open(link(started))
    page.get_by_text("About 50 of the 100 reports needed are in.").wait_for()
    assert page.locator("#results").is_hidden()
    assert TOKEN not in page.url
    send(started, 63, 2)
    # Nobody touches the page.
    page.locator("#chart svg").wait_for()
    assert page.locator("#n").inner_text() == "120"
    before = numbers(page)
    send(started, 500, 3)
    page.locator("#n").get_by_text("620").wait_for()
    wait_for_answer(page)
    assert numbers(page) != before
    assert page.get_by_text("All reports came within one hour").is_visible()


# -- taking it away ------------------------------------------------------------------------------


def take(page: Page, name: str) -> tuple[str, bytes]:
    with page.expect_download() as offered:
        page.get_by_role("button", name=name).click()
    return offered.value.suggested_filename, offered.value.path().read_bytes()


def test_downloads_hold_what_is_shown_and_repeat_it(
    analyst: Analyst, health: Collector, tmp_path: Path
) -> None:
    page = analyst.look(health, method="em")
    name, table = take(page, "CSV")
    assert name == "smokes-health.csv"
    shown = csv.read_csv(io.BytesIO(table)).to_pydict()
    assert [f"{100 * p:.1f}%" for p in shown["probability"]] == [
        row.split()[2] for row in numbers(page)
    ]
    _, document = take(page, "JSON")
    assert json.loads(document)["n"] == PEOPLE
    name, picture = take(page, "PNG picture")
    assert name == "smokes-health.png"
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(picture[16:20], "big") > 600
    _, book = take(page, "Notebook")
    assert json.loads(book)["nbformat"] == 4
    script, code = take(page, "Python script")
    reports, rows = take(page, "Reports (Parquet)")
    (tmp_path / script).write_bytes(code)
    (tmp_path / reports).write_bytes(rows)
    # In a fresh process, from the reports alone.
    done = subprocess.run(
        [sys.executable, script, reports], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    again = csv.read_csv(tmp_path / "smokes-health.csv").to_pydict()
    assert again["smokes"] == shown["smokes"]
    for column in ("probability", "standard_error", "lower", "upper"):
        assert again[column] == pytest.approx(shown[column], abs=1e-12)
