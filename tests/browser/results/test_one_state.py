"""The table shown is always that of the question selected, whatever goes wrong in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from castell import Attribute, Schema, Study
from castell.cli.study_file import to_toml
from castell.population import health_survey
from tests.browser.results.analyst import (
    PAIR,
    TEXT,
    Analyst,
    attribute,
    heading,
    link,
    numbers,
    serving,
    texts,
    wait_for_answer,
)
from tests.collecting import TOKEN, Collector, collecting
from tests.collector.results.stores import fill_store, spread

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request, Route

ESTIMATE = "**/results/api/estimate?*"
API = "**/results/api/*"

# Looks at the page after every change of it: columns of a table that are not the attributes picked.
WATCH = """
window.wrong = [];
const picked = () => [...document.querySelectorAll("#attributes .pick")]
  .map((pick) => [".pick-order", ".pick-name"].map((part) => pick.querySelector(part).textContent))
  .filter(([order]) => order).sort(([a], [b]) => a - b).map(([, name]) => name).join();
const shown = () => [...document.querySelectorAll("#table thead th:not(.number)")]
  .map((head) => head.textContent).join();
addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
  if (shown() && shown() !== picked()) window.wrong.push(`${shown()} under ${picked()}`);
}).observe(document.body, { subtree: true, childList: true, attributes: true }));
"""
# A browser that cannot let go of a request: every answer comes, however late.
STUBBORN = "const real = fetch; window.fetch = (url, { signal, ...rest }) => real(url, rest);"


@pytest.fixture
def page(analyst: Analyst, health: Collector) -> Iterator[Page]:
    """A page that is watched for a wrong table."""
    opened = analyst.look(health, before=[STUBBORN, WATCH])
    yield opened
    assert opened.evaluate("window.wrong") == []


def _names(request: Request) -> list[str]:
    return parse_qs(urlsplit(request.url).query)["attributes"]


def _columns(page: Page) -> list[str]:
    return page.locator("#table thead th:not(.number)").all_inner_texts()


def test_an_answer_that_is_overtaken_by_a_later_question_is_dropped(page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if _names(route.request) == ["smokes", "health", "age"]:
            held.append(route)
        else:
            route.continue_()

    page.route(ESTIMATE, hold)
    attribute(page, "age").check()
    page.get_by_text("Working it out.").wait_for()
    # Asked and not answered: there is no table, rather than the one of another question.
    assert numbers(page) == []
    attribute(page, "health").uncheck()
    heading(page, "smokes", "age").wait_for()
    wait_for_answer(page)
    assert len(held) == 1
    with page.expect_response(ESTIMATE) as late:
        held[0].continue_()
    late.value.finished()
    page.wait_for_timeout(300)  # time for the page to do the wrong thing
    assert _columns(page) == texts(*["smokes", "age"])
    assert heading(page, "smokes", "age").is_visible()


def test_a_chart_that_is_overtaken_is_dropped_too(page: Page) -> None:
    # Charts are drawn one beside the other; the one that is wanted stays.
    for kind in ("Bars", "Mosaic", "Bars", "Heat map"):
        page.get_by_role("radio", name=kind).check()
    wait_for_answer(page)
    page.get_by_role("img", name=f"heat of {' by '.join(texts(*PAIR))}").wait_for()
    page.wait_for_timeout(500)
    assert page.locator("#chart svg").count() == 1
    assert (page.locator("#chart").get_attribute("aria-label") or "").startswith("heat of")


def test_an_expired_token_leaves_no_table_and_the_question_is_asked_after_signing_in(
    analyst: Analyst, page: Page
) -> None:
    analyst.expected.append("401")

    def refuse(route: Route) -> None:
        body = '{"error": "this token is not good here", "remedy": "sign in again"}'
        route.fulfill(status=401, body=body, content_type="application/json")

    page.route(ESTIMATE, refuse)
    attribute(page, "age").check()
    page.get_by_label("Token").wait_for()
    assert page.get_by_role("alert").inner_text().startswith("This token is not good here.")
    assert numbers(page) == []
    assert page.locator("#chart svg").count() == 0
    assert page.locator("#signals > li").count() == 0
    assert page.evaluate("sessionStorage.length") == 0
    page.unroute(ESTIMATE)
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    heading(page, "smokes", "health", "age").wait_for()
    wait_for_answer(page)
    assert _columns(page) == texts(*["smokes", "health", "age"])


def test_a_network_failure_leaves_no_table_and_is_made_good_by_itself(
    analyst: Analyst, page: Page
) -> None:
    analyst.expected.append("ERR_FAILED")
    page.route(API, lambda route: route.abort())
    attribute(page, "age").check()
    page.get_by_role("alert").get_by_text("The collector cannot be reached.").wait_for()
    assert numbers(page) == []
    assert page.locator("#answered").is_hidden()
    page.unroute(API)
    # Nobody touches the page.
    heading(page, "smokes", "health", "age").wait_for()
    wait_for_answer(page)
    assert _columns(page) == texts(*["smokes", "health", "age"])
    assert page.get_by_role("alert").count() == 0


def test_a_refusal_of_one_question_is_gone_with_the_next(analyst: Analyst, page: Page) -> None:
    analyst.expected.append("400")

    def refuse(route: Route) -> None:
        if "age" in _names(route.request):
            body = '{"error": "not this", "remedy": "ask for something else"}'
            route.fulfill(status=400, body=body, content_type="application/json")
        else:
            route.continue_()

    page.route(ESTIMATE, refuse)
    attribute(page, "age").check()
    page.get_by_role("alert").get_by_text("Not this. Ask for something else.").wait_for()
    assert numbers(page) == []
    attribute(page, "age").uncheck()
    wait_for_answer(page)
    assert len(numbers(page)) == 12
    assert page.get_by_role("alert").count() == 0


# -- a collector that is stopped and started again -------------------------------------------------


def _watched(analyst: Analyst, collector: Collector) -> Page:
    return analyst.look(collector, before=[WATCH])


def _port(collector: Collector) -> str:
    return str(urlsplit(collector.url).port)


def test_a_restarted_collector_answers_the_question_selected_meanwhile(
    analyst: Analyst, tmp_path: Path
) -> None:
    analyst.expected.append("ERR_CONNECTION_REFUSED")
    reports = Study.from_toml(TEXT).randomize(health_survey(2000))
    with serving(tmp_path, TEXT, reports) as collector:
        page = _watched(analyst, collector)
    attribute(page, "age").check()
    page.get_by_role("alert").get_by_text("The collector cannot be reached.").wait_for()
    assert numbers(page) == []
    again = ("--store", str(tmp_path / "reports.sqlite"), "--port", _port(collector))
    with collecting(TEXT, tmp_path, *again):
        heading(page, "smokes", "health", "age").wait_for()
        wait_for_answer(page)
        assert _columns(page) == texts(*["smokes", "health", "age"])
        assert page.evaluate("window.wrong") == []
        page.close()


def test_a_collector_restarted_with_another_token_or_study_shows_nothing_of_the_old_one(
    analyst: Analyst, tmp_path: Path
) -> None:
    analyst.expected += ["ERR_CONNECTION_REFUSED", "401"]
    reports = Study.from_toml(TEXT).randomize(health_survey(2000))
    with serving(tmp_path, TEXT, reports) as collector:
        page = _watched(analyst, collector)
    schema = Schema([Attribute("colour", ["red", "green"]), Attribute("age", ["young", "old"])])
    text = to_toml(schema, name="other", epsilon=4.0)
    other = Study.from_toml(text)
    answers = {"colour": ["red", "green"] * 200, "age": ["young", "old"] * 200}
    store = tmp_path / "other.sqlite"
    fill_store(store, other.randomize(answers), spread(400, 1)).close()
    options = ("--store", str(store), "--port", _port(collector))
    with collecting(text, tmp_path, *options, "--token", "a-token-of-another-collector"):
        page.get_by_label("Token").wait_for()
        assert numbers(page) == []
    page.get_by_label("Token").fill(TOKEN)
    with collecting(text, tmp_path, *options):
        page.get_by_role("button", name="Show results").click()
        # The address still names attributes of the first study; what the second knows is asked.
        page.locator("#chart-title", has_text="colour").wait_for()
        wait_for_answer(page)
        assert _columns(page) == ["colour", "age"]
        assert page.evaluate("window.wrong") == []
        page.close()


def test_a_link_to_another_study_asks_what_this_one_knows(
    analyst: Analyst, health: Collector
) -> None:
    page = analyst.open(link(health, ("colour", "age"), method="magic", chart="pie"))
    heading(page, "age").wait_for()
    wait_for_answer(page)
    assert page.get_by_label("Method").input_value() == "auto"
