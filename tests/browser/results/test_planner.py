"""The planner page in a real browser: sliders move, and the numbers are those of castell.plan."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import castell
from castell.planning.likely_estimate import decode_estimate, likely_table
from castell.planning.plan_text import table_rows
from tests.browser.results.analyst import Analyst
from tests.collecting import TOKEN, Collector, collecting

if TYPE_CHECKING:
    from playwright.sync_api import Page

SMALL = """
title = "Smoking & health"
name = "small"
epsilon = 1.6

[[attribute]]
name = "smokes"
values = ["never", "before", "now"]

[[attribute]]
name = "health"
values = ["poor", "fair", "good"]

[[attribute]]
name = "sex"
values = ["female", "male"]
"""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A collector before the first report."""
    with collecting(SMALL, tmp_path_factory.mktemp("planner")) as collector:
        yield collector


def settled(page: Page) -> None:
    page.locator("#answer:not([aria-busy]) #chart svg").wait_for()


def told(page: Page) -> list[list[str]]:
    rows = page.locator("#table tbody tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def planned(study: castell.Study, n: int, epsilon: float) -> list[list[str]]:
    return table_rows(castell.plan(study, n, epsilon=epsilon))[1:]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_sliders_move_the_numbers_of_the_plan(
    analyst: Analyst, empty: Collector, screens: Path, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = analyst.open(f"{empty.url}/plan#token={TOKEN}", width, color_scheme=scheme)
    settled(page)
    assert TOKEN not in page.url
    assert page.get_by_role("heading", level=1).inner_text() == "Smoking & health"
    assert page.locator("#people-told").inner_text() == "3,000"
    assert page.locator("#budget-told").inner_text() == "1.6"
    assert page.get_by_text("What this study has.").is_visible()
    assert told(page) == planned(empty.study, 3000, 1.6)
    # By keyboard: one step up in people, then one down in epsilon; each asks again.
    page.get_by_role("slider", name="People").focus()
    with page.expect_response("**/results/api/plan?n=5000"):
        page.keyboard.press("ArrowRight")
    settled(page)
    page.get_by_role("slider", name="Epsilon in all").focus()
    with page.expect_response("**/results/api/plan?n=5000&epsilon=1.5"):
        page.keyboard.press("ArrowLeft")
    page.get_by_text("This study has 1.6.").wait_for()
    settled(page)
    assert told(page) == planned(empty.study, 5000, 1.5)
    assert page.locator("#command").inner_text() == (
        "castell plan study.toml -n 5000 --epsilon 1.5 --write"
    )
    assert page.get_by_role("slider", name="People").get_attribute("aria-valuetext") == (
        "5,000 people"
    )
    found = axe.Axe().run(page).response
    assert len(found["passes"]) > 10
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    beyond = "card => card.scrollWidth - card.clientWidth"
    assert page.locator("#sliders").evaluate(beyond) <= 0
    # What keeps the point's label apart from the lines behind it is as light as the card.
    halo = page.locator('#chart text[stroke="white"]')
    dark = halo.evaluate("text => getComputedStyle(text).stroke") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")
    page.screenshot(path=screens / f"plan-{width}.png", full_page=True)
    # The address holds where the sliders stand, and the token is the results page's too.
    page.reload()
    settled(page)
    assert page.locator("#people-told").inner_text() == "5,000"
    page.get_by_role("link", name="Results").click()
    page.get_by_text("of the 100 reports needed are in").wait_for()
    page.get_by_role("link", name="Planner").click()
    settled(page)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").wait_for()
    assert page.locator("#planner").is_hidden()
    assert page.locator("#table").inner_text() == ""


def test_a_wrong_token_shows_nothing(analyst: Analyst, empty: Collector) -> None:
    analyst.expected.append("401")
    page = analyst.open(f"{empty.url}/plan")
    page.get_by_label("Token").fill("not-the-token-at-all")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("This token is not good here").wait_for()
    assert page.locator("#planner").is_hidden()
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    settled(page)
    assert page.get_by_role("alert").is_hidden()


def test_an_earlier_estimate_says_what_is_likely(
    analyst: Analyst, empty: Collector, tmp_path: Path, screens: Path
) -> None:
    analyst.expected.append("409")
    page = analyst.open(f"{empty.url}/plan#token={TOKEN}", 390)
    settled(page)
    shares = [0.9, 0.06, 0.04]
    document = {"attributes": ["smokes"], "values": [["never", "before", "now"]]}
    path = tmp_path / "estimate.json"
    path.write_text(json.dumps({**document, "probabilities": shares}), encoding="utf-8")
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.get_by_label("Likely answers").set_input_files(path)
    page.get_by_text("Planned with estimate.json.").wait_for()
    settled(page)
    like = likely_table(empty.study.schema, decode_estimate(path.read_bytes()))
    assert told(page) == table_rows(castell.plan(empty.study, 3000, like=like))[1:]
    assert told(page) != planned(empty.study, 3000, 1.6)
    assert "--like estimate.json" in page.locator("#command").inner_text()
    # All columns are in sight on a phone, without scrolling.
    ends = "cells => cells.map((cell) => cell.getBoundingClientRect().right)"
    room = page.locator("#table").bounding_box()
    assert room is not None
    assert max(page.locator("#table th, #table td").evaluate_all(ends)) <= room["x"] + room["width"]
    page.screenshot(path=screens / "plan-like-390.png", full_page=True)
    path.write_text(json.dumps({**document, "probabilities": [1, 1, 1]}), encoding="utf-8")
    page.get_by_label("Likely answers").set_input_files(path)
    page.get_by_role("alert").get_by_text("shares do not sum to one").wait_for()
    # What is shown is the plan of the file before, and says so.
    assert page.get_by_text("Planned with estimate.json.").is_visible()
    with page.expect_response("**/results/api/plan?n=3000"):
        page.get_by_role("button", name="Plan without it").click()
    page.get_by_role("alert").wait_for(state="hidden")
    settled(page)
    assert page.get_by_text("Planned with").is_hidden()
    assert told(page) == planned(empty.study, 3000, 1.6)


@pytest.mark.parametrize("width", [1000, 390])
def test_the_page_for_a_board_fits_its_reader(analyst: Analyst, width: int) -> None:
    """Tables and references with long addresses too: nothing goes over the side."""
    study = castell.Study.from_toml(SMALL)
    plan = castell.plan(study, 3000, attributes=["smokes", "health"], where={"sex": "male"})
    page = analyst.open("about:blank", width)
    page.set_content(plan.to_html())
    page.get_by_role("heading", name="References").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
