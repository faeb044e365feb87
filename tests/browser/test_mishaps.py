"""What goes wrong at the survey page: lost answers, changed and damaged studies, poor browsers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.studies import SURVEY
from tests.browser.taking_part import ANSWERS, answer, opened, proceed, send, with_text

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

    from tests.collecting import Collector

Start = Callable[..., "Collector"]


def test_a_lost_acknowledgement_counts_once(context: BrowserContext, collector: Start) -> None:
    running = collector(SURVEY)
    page = opened(context, running.url)
    bodies: list[str] = []

    def lose_the_first_answer(route: Any) -> None:
        bodies.append(route.request.post_data)
        if len(bodies) == 1:
            route.fetch()  # it arrives, but the browser never hears of it
            route.abort()
        else:
            route.continue_()

    page.route("**/reports", lose_the_first_answer)
    answer(page, ANSWERS)
    proceed(page)
    shown = send(page)
    assert bodies == [shown, shown]
    assert len(running.codes()) == 1


def test_a_report_that_may_not_have_arrived_is_sent_again_as_it_was(
    context: BrowserContext, collector: Start
) -> None:
    running = collector(SURVEY)
    page = opened(context, running.url)
    page.route("**/reports", lambda route: (route.fetch(), route.abort()))
    answer(page, ANSWERS)
    proceed(page)
    with page.expect_request("**/reports") as first:
        page.locator("#send").click()
    page.wait_for_timeout(300)
    page.close()  # before anything was acknowledged

    page = opened(context, running.url, "main button")
    assert "may not have arrived" in page.locator("main").inner_text()
    with page.expect_request("**/reports") as sent:
        page.get_by_role("button", name="Send it again").click()
    assert sent.value.post_data == first.value.post_data
    page.wait_for_selector(".done")
    assert page.locator("#body").inner_text() == sent.value.post_data
    assert len(running.codes()) == 1
    assert "Privacy loss (epsilon): 4.00" in page.locator("footer").inner_text()


def test_an_unreachable_collector_is_told_and_tried_again(
    context: BrowserContext, collector: Start
) -> None:
    running = collector(SURVEY)
    page = opened(context, running.url)
    page.clock.install()  # the pauses between attempts pass in no time
    page.route("**/reports", lambda route: route.abort())
    answer(page, ANSWERS)
    proceed(page)
    with page.expect_request("**/reports") as first:
        page.locator("#send").click()
    for _ in range(100):
        page.clock.run_for(20_000)
        if page.get_by_role("alert").count():
            break
    assert "cannot be reached" in page.get_by_role("alert").inner_text()
    assert running.codes() == []
    page.unroute("**/reports")
    shown = send(page)
    assert shown == first.value.post_data
    assert running.codes() == [tuple(json.loads(shown)["codes"])]


def test_there_is_no_way_back_once_a_report_may_have_arrived(
    context: BrowserContext, collector: Start
) -> None:
    running = collector(SURVEY)
    page = opened(context, running.url)
    page.clock.install()
    page.route("**/reports", lambda route: (route.fetch(), route.abort()))  # it does arrive
    answer(page, ANSWERS)
    proceed(page)
    page.locator("#send").click()
    back = page.get_by_role("button", name="Back to my answers")
    assert back.count() == 0
    for _ in range(100):
        page.clock.run_for(20_000)
        if page.get_by_role("alert").count():
            break
    # Another report now would have to wait for this one, and this one already counts.
    assert back.count() == 0
    page.go_back()
    assert page.locator(".confirm").count() == 1
    page.unroute("**/reports")
    shown = send(page)
    assert running.codes() == [tuple(json.loads(shown)["codes"])]


def test_the_browsers_way_back_leads_to_the_questions(
    context: BrowserContext, surveyed: Collector
) -> None:
    page = opened(context, surveyed.url)
    answer(page, ANSWERS)
    proceed(page)
    page.go_back()
    page.wait_for_selector("form#questions")
    assert page.locator("#q0 input:checked").input_value() == str(ANSWERS["age"])
    proceed(page)
    page.get_by_role("button", name="Back to my answers").click()
    page.wait_for_selector("form#questions")
    proceed(page)
    send(page)
    page.go_back()
    assert page.locator(".done").count() == 1


def test_a_changed_study_is_refused_until_accepted(
    context: BrowserContext, collector: Start
) -> None:
    from castell import Study

    running = collector(SURVEY)
    opened(context, running.url).close()
    weaker = Study.from_toml(SURVEY.replace("epsilon = 4.0", "epsilon = 7.5")).to_json()
    page = context.new_page()
    with_text(page, weaker)
    posts: list[str] = []
    page.on("request", lambda r: posts.append(r.url) if r.method == "POST" else None)
    page.goto(running.url)
    page.wait_for_selector("main button")
    assert "This study was changed" in page.locator("main").inner_text()
    assert page.locator("form#questions").count() == 0
    page.get_by_role("button", name="I have understood").click()
    page.wait_for_selector("form#questions")
    # The collector itself still has the old study, and does not take a report of another.
    answer(page, ANSWERS)
    proceed(page)
    page.locator("#send").click()
    assert "changed in the meantime" in page.get_by_role("alert").inner_text()
    assert running.codes() == []
    assert len(posts) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"same":2918732888', '"same":9918732888'),
        ("Do you smoke?", "Do you drink?"),
        ('"castell":1', '"castell":2'),
    ],
)
def test_a_damaged_study_is_not_asked(
    context: BrowserContext, surveyed: Collector, old: str, new: str
) -> None:
    text = surveyed.study.to_json()
    assert old in text
    page = context.new_page()
    with_text(page, text.replace(old, new))
    page.goto(surveyed.url)
    page.wait_for_selector("[role=alert]")
    assert "cannot be answered" in page.locator("main").inner_text()
    assert page.locator("form").count() == 0


def test_without_storage_the_page_says_so_and_works(browser: Browser, collector: Start) -> None:
    running = collector(SURVEY)
    context = browser.new_context(locale="en-US")
    context.add_init_script("Object.defineProperty(window, 'indexedDB', {value: undefined})")
    page = opened(context, running.url)
    assert "does not let the page remember" in page.locator(".protect").inner_text()
    assert "keeps no record" in page.locator("footer").inner_text()
    answer(page, ANSWERS)
    proceed(page)
    codes = json.loads(send(page))["codes"]
    assert running.codes() == [tuple(codes)]
    context.close()


def test_unanswered_questions_are_named(context: BrowserContext, surveyed: Collector) -> None:
    page = opened(context, surveyed.url)
    page.locator("#q0 label.choice").first.click()
    page.locator("#questions button[type=submit]").click()
    missing = page.locator("#missing")
    assert missing.locator("a").all_inner_texts() == [
        "Do you smoke?",
        "How often do you exercise?",
        "Where do you live?",
    ]
    assert page.evaluate("document.activeElement.id") == "missing"
    assert page.locator("#q0 .error").inner_text() == ""
    assert page.locator("#q1 .error").inner_text() == "Please choose an answer."
    missing.locator("a").nth(2).click()
    assert page.evaluate("document.activeElement.name") == "q3"
    assert page.locator("#body").count() == 0


def test_without_https_nothing_is_asked(browser: Browser, surveyed: Collector) -> None:
    from tests.browser import chromium

    port = surveyed.url.rpartition(":")[2]
    plain = browser.browser_type.launch(
        executable_path=chromium.find(),
        args=["--no-sandbox", "--host-resolver-rules=MAP survey.test 127.0.0.1"],
    )
    page = plain.new_page(locale="en-US")
    page.goto(f"http://survey.test:{port}/")
    page.wait_for_selector("[role=alert]")
    assert "must be opened by https" in page.locator("main").inner_text()
    assert page.locator("form").count() == 0
    plain.close()


def test_a_browser_without_scripts_is_told_why(browser: Browser, surveyed: Collector) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(surveyed.url)
    assert page.get_by_role("heading", name="This page needs JavaScript").is_visible()
    context.close()


def test_a_device_forgets_when_it_is_told_to(context: BrowserContext, surveyed: Collector) -> None:
    page = opened(context, surveyed.url)
    answer(page, ANSWERS)
    proceed(page)
    send(page)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget this on this device").click()
    page.wait_for_selector("form#questions")
    assert "Nothing." in page.locator("footer").inner_text()
