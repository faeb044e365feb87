"""A person at the survey page, in a real browser against a real collector."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser.studies import SURVEY
from tests.browser.taking_part import (
    ANSWERS,
    OTHERS,
    answer,
    opened,
    proceed,
    send,
    with_given,
    with_text,
)
from tests.browser.wire import Request, Wiretap

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

    from tests.collecting import Collector

Start = Callable[..., "Collector"]

# What a browser says to any website, whoever uses it.
EVERY_WEBSITE = {
    "accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-length",
    "content-type", "host", "origin", "pragma", "upgrade-insecure-requests", "user-agent",
}  # fmt: skip


# -- what leaves -----------------------------------------------------------------------------------


def survey_through(
    browser: Browser, collector: Collector, answers: dict[str, int]
) -> tuple[str, list[Request]]:
    """Take part with some answers: the text shown afterwards, and all that was sent."""
    context = browser.new_context(locale="en-US")
    elsewhere: list[str] = []
    try:
        with Wiretap(collector.url) as wire:
            context.on(
                "request",
                lambda r: None if r.url.startswith(wire.url + "/") else elsewhere.append(r.url),
            )
            page = opened(context, f"{wire.url}/")
            before = [r for r in wire.requests() if r.method != "GET"]
            answer(page, answers)
            proceed(page)
            assert before == [r for r in wire.requests() if r.method != "GET"] == []
            shown = send(page)
            assert elsewhere == []
            return shown, wire.requests()
    finally:
        context.close()


def test_nothing_leaves_but_what_was_shown(whole_browser: Browser, collector: Start) -> None:
    running = collector(SURVEY)
    shown, requests = survey_through(whole_browser, running, ANSWERS)
    posts = [request for request in requests if request.method != "GET"]
    assert [(post.method, post.path) for post in posts] == [("POST", "/reports")]
    (post,) = posts
    assert post.body.decode() == shown
    report = json.loads(post.body)
    assert list(report) == ["id", "study", "codes"]
    assert re.fullmatch("[A-Za-z0-9_-]{21}[AQgw]", report["id"])
    assert report["study"] == running.study.digest
    widths = [block.channel.outputs for block in running.study.design.blocks]
    assert [0 <= code < width for code, width in zip(report["codes"], widths, strict=True)] == [
        True
    ] * 4
    assert running.codes() == [tuple(report["codes"])]
    for request in requests:
        told = {name for name in request.headers if not name.startswith("sec-")}
        assert told <= EVERY_WEBSITE, told - EVERY_WEBSITE
        assert "?" not in request.path
        assert request.method == "POST" or not request.body


def test_answers_change_the_codes_and_nothing_else(
    whole_browser: Browser, surveyed: Collector
) -> None:
    def masked(answers: dict[str, int]) -> list[Any]:
        _, requests = survey_through(whole_browser, surveyed, answers)
        seen = []
        for request in requests:
            body = request.body.decode()
            body = re.sub(r'"id":"[A-Za-z0-9_-]{22}"', '"id":"*"', body)
            body = re.sub(r'"codes":\[[0-8],[0-8],[0-8],[0-8]\]', '"codes":*', body)
            headers = {k: v for k, v in request.headers.items() if k not in {"host", "origin"}}
            seen.append((request.method, request.path, sorted(headers.items()), body))
        return sorted(seen)

    assert masked(ANSWERS) == masked(OTHERS)


def test_the_page_shows_what_the_codes_say(context: BrowserContext, surveyed: Collector) -> None:
    page = opened(context, surveyed.url)
    answer(page, ANSWERS)
    proceed(page)
    codes = json.loads(send(page))["codes"]
    rows = page.locator(".review tbody tr")
    for place, attribute in enumerate(surveyed.study.schema):
        cells = rows.nth(place).locator("th, td > span:last-child")
        own = attribute.values[ANSWERS[attribute.name]]
        sent = attribute.values[codes[place]]
        note = "by chance, the same" if own == sent else "chosen by chance"
        right = surveyed.study.design.blocks[place].channel.best_guess
        others = int(100 - 100 * right)
        told = f"Of 100 people who send this, the true answer of {others} is another one."
        question, answered, left = cells.all_inner_texts()
        assert (question, answered) == (attribute.question, own)
        box = cells.nth(1).bounding_box()
        assert box is not None
        assert box["width"] > 20  # a word is not broken into letters
        assert box["height"] < 40
        assert left.split("\n") == [sent, note, told]


def test_inline_code_is_blocked(context: BrowserContext, surveyed: Collector) -> None:
    page = opened(context, surveyed.url)
    ran = page.evaluate(
        """async () => {
          const violated = new Promise((resolve) => addEventListener(
            "securitypolicyviolation", (event) => resolve(event.effectiveDirective)));
          const script = document.createElement("script");
          try { script.text = "window.inline = true"; } catch { return ["types", window.inline]; }
          document.body.append(script);
          return [await violated, window.inline];
        }"""
    )
    assert ran in (["types", None], ["script-src-elem", None])
    headers = context.request.get(page.url).headers
    assert "script-src 'self'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]


def test_who_has_taken_part_is_told_that_the_report_stands(
    context: BrowserContext, collector: Start
) -> None:
    running = collector(SURVEY)
    page = opened(context, running.url)
    answer(page, ANSWERS)
    proceed(page)
    assert "privacy loss (epsilon) of 4.00" in page.locator(".confirm").inner_text()
    shown = send(page)
    page.close()
    for _ in range(2):
        page = opened(context, running.url, "main h2")
        told = page.locator("main").inner_text()
        assert "already taken part" in told
        assert "It stands until the study ends" in told
        assert page.locator("main button, form").count() == 0
        # What was sent can be looked at again; what was answered is not known any more.
        page.locator("summary").click()
        assert page.locator("#body").inner_text() == shown
        assert page.locator(".review thead th").all_inner_texts() == ["Question", "What was sent"]
        assert "Privacy loss (epsilon): 4.00" in page.locator("footer").inner_text()
        page.close()
    assert running.codes() == [tuple(json.loads(shown)["codes"])]


def test_of_two_tabs_the_first_report_stands_and_the_other_says_so(
    context: BrowserContext, collector: Start
) -> None:
    running = collector(SURVEY)
    first, second = (opened(context, running.url) for _ in range(2))
    answer(first, ANSWERS)
    answer(second, OTHERS)
    proceed(first)
    proceed(second)
    shown = send(first)
    second.locator("#send").click()
    second.get_by_role("heading", name="You have already taken part").wait_for()
    # What is shown now is the report that stands, and not what it would have made of OTHERS.
    second.locator("summary").click()
    assert second.locator("#body").inner_text() == shown
    assert second.locator(".review thead th").count() == 2
    assert running.codes() == [tuple(json.loads(shown)["codes"])]


def test_what_several_studies_cost_adds_up(context: BrowserContext, surveyed: Collector) -> None:
    from castell import Study

    page = opened(context, surveyed.url)
    answer(page, ANSWERS)
    proceed(page)
    send(page)
    page.close()
    changed = Study.from_toml(SURVEY.replace("epsilon = 4.0", "epsilon = 7.5")).to_json()
    page = context.new_page()
    with_text(page, changed)
    page.route("**/reports", lambda r: r.fulfill(status=201, json={"status": "stored"}))
    page.goto(surveyed.url)
    page.get_by_role("button", name="I have understood").click()
    page.wait_for_selector("form#questions")
    answer(page, ANSWERS)
    proceed(page)
    send(page)
    rows = page.locator("footer li").all_inner_texts()
    assert {row.rpartition(" ")[2] for row in rows} == {"4.00", "7.50", "11.50"}
    assert rows[-1].startswith("In all")


def test_the_page_is_few_files_and_few_bytes(whole_browser: Browser, surveyed: Collector) -> None:
    """A slow line waits for each; docs/browser.md has the times."""
    context = whole_browser.new_context(locale="en-US")
    page = context.new_page()
    tap = context.new_cdp_session(page)
    tap.send("Network.enable")
    sizes: list[int] = []
    tap.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto(surveyed.url)
    page.wait_for_selector("#questions")
    for _ in range(100):  # a busy machine fetches the picture late
        if len(sizes) >= 4:
            break
        page.wait_for_timeout(100)
    page.wait_for_timeout(300)
    # The page with the study in it, its script, its style and its picture.
    assert len(sizes) == 4
    # 44.8 kB since questions can be skipped; at 50 kB a second that is 0.9 s.
    assert sum(sizes) < 45_000
    context.close()


# -- other ways to take part -----------------------------------------------------------------------


def test_languages_come_from_the_study_and_choosing_one_sends_nothing(
    browser: Browser, surveyed: Collector
) -> None:
    from playwright.sync_api import expect

    context = browser.new_context(locale="de-AT")
    page = opened(context, surveyed.url)
    assert page.locator("h1").inner_text() == "Wie geht es Ihnen wirklich?"
    assert page.evaluate("document.documentElement.lang") == "de"
    answer(page, ANSWERS)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.locator("#language").select_option("en")
    expect(page.locator("h1")).to_have_text("How are you, really?")
    assert page.locator("#q1 input:checked").get_attribute("value") == "2"
    assert page.locator("#q3 select").input_value() == "5"
    assert requests == []
    proceed(page)
    page.locator("#language").select_option("de")
    expect(page.locator("main h2")).to_have_text("Was beim Senden geschieht")
    shown = send(page)
    page.locator("#language").select_option("en")
    expect(page.locator("main h2").last).to_have_text("This left your device")
    assert page.locator("#body").inner_text() == shown
    context.close()


def test_invitations(browser: Browser, collector: Start) -> None:
    first = collector(SURVEY)
    program = str(Path(sys.executable).with_name("castell"))
    invite = [program, "invite", str(first.store.with_suffix(".toml")), "2"]
    made = subprocess.run(invite, capture_output=True, text=True, check=True)
    code, another = made.stdout.split()
    running = collector(SURVEY, "--store", str(first.store))
    context = browser.new_context(locale="en-US")
    page = opened(context, running.url)
    # It is asked for before the questions.
    assert page.locator(".question").first.get_attribute("id") == "invited"
    answer(page, ANSWERS)
    page.locator("#questions button[type=submit]").click()
    assert "Invitation code" in page.locator("#missing").inner_text()
    page.locator("#invitation").fill(code.upper())
    proceed(page)
    report = json.loads(send(page))
    assert list(report) == ["id", "study", "codes", "invitation"]
    assert report["invitation"] == code
    context.close()
    # Used up: on another device the same code is refused before a report leaves with it.
    context = browser.new_context(locale="en-US")
    page = opened(context, f"{running.url}/#invitation={code}")
    posts: list[str] = []
    page.on("request", lambda r: posts.append(r.url) if r.method == "POST" else None)
    assert page.locator(".question").last.get_attribute("id") == "invited"
    answer(page, OTHERS)
    proceed(page)
    page.locator("#send").click()
    page.wait_for_selector("#invited.open")
    assert "Nothing was sent and nothing is spent" in page.locator("#invited").inner_text()
    assert page.evaluate("document.activeElement.id") == "invitation"
    assert [url.rpartition("/")[2] for url in posts] == ["invitations"]
    assert "Nothing." in page.locator("footer").inner_text()
    # It can be corrected there, and the answers are still ticked.
    page.locator("#invitation").fill(another)
    proceed(page)
    assert json.loads(send(page))["invitation"] == another
    assert len(running.codes()) == 2
    context.close()


def test_invitations_that_are_made_while_the_page_is_open(
    browser: Browser, collector: Start
) -> None:
    """The page learns of it when it asks, before a report leaves: nothing is spent."""
    running = collector(SURVEY)
    context = browser.new_context(locale="en-US")
    page = opened(context, running.url)
    posts: list[str] = []
    page.on("request", lambda r: posts.append(r.url) if r.method == "POST" else None)
    answer(page, ANSWERS)
    proceed(page)
    program = str(Path(sys.executable).with_name("castell"))
    invite = [program, "invite", str(running.store.with_suffix(".toml")), "1"]
    code = subprocess.run(invite, capture_output=True, text=True, check=True).stdout.strip()
    page.locator("#send").click()
    page.wait_for_selector("#invited")
    assert page.evaluate("document.activeElement.id") == "invitation"
    assert page.locator("#invitation-error").inner_text() == ""  # no code was given, none refused
    assert posts == []
    assert "Nothing." in page.locator("footer").inner_text()
    page.locator("#invitation").fill(code)
    proceed(page)
    assert json.loads(send(page))["invitation"] == code
    assert len(running.codes()) == 1
    context.close()


def test_a_report_that_was_refused_with_its_invitation_stands(
    browser: Browser, surveyed: Collector
) -> None:
    """Two devices may use a code at once: the question before is a courtesy, the store decides."""
    context = browser.new_context(locale="en-US")
    page = context.new_page()
    bodies: list[str] = []

    def refuse(route: Any) -> None:
        bodies.append(route.request.post_data)
        route.fulfill(status=403, json={"error": "the invitation was used already"})

    with_given(page, lambda given: given["collector"].update(invitations=True))
    page.route("**/invitations", lambda r: r.fulfill(json={"status": "good"}))
    page.route("**/reports", refuse)
    for letter in "ab":
        page.goto(f"{surveyed.url}/#invitation={letter * 20}")
        page.reload()
        page.wait_for_selector("#questions")
        answer(page, ANSWERS if letter == "a" else OTHERS)
        proceed(page)
        stands = "That report stands" in page.locator(".confirm").inner_text()
        assert stands == (letter == "b")
        page.locator("#send").click()
        page.wait_for_selector("[role=alert]:not([hidden])")
        assert "used already" in page.get_by_role("alert").inner_text()
    one, two = map(json.loads, bodies)
    assert two == {**one, "invitation": "b" * 20}
    context.close()
