"""A person at the survey page, in a real browser against a real collector."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.browser.studies import SURVEY
from tests.browser.taking_part import ANSWERS, OTHERS, answer, opened, review, send
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
    """Take part with some answers: the text shown before sending, and all that was sent."""
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
            shown = review(page)
            assert before == [r for r in wire.requests() if r.method != "GET"] == []
            send(page)
            assert elsewhere == []
            return shown, wire.requests()
    finally:
        context.close()


def test_nothing_leaves_but_what_was_shown(browser: Browser, collector: Start) -> None:
    running = collector(SURVEY)
    shown, requests = survey_through(browser, running, ANSWERS)
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


def test_answers_change_the_codes_and_nothing_else(browser: Browser, collector: Start) -> None:
    running = collector(SURVEY)

    def masked(answers: dict[str, int]) -> list[Any]:
        _, requests = survey_through(browser, running, answers)
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
    codes = json.loads(review(page))["codes"]
    rows = page.locator(".review tbody tr")
    for place, attribute in enumerate(surveyed.study.schema):
        cells = rows.nth(place).locator("th, td > span:last-child")
        own = attribute.values[ANSWERS[attribute.name]]
        sent = attribute.values[codes[place]]
        note = "by chance, the same" if own == sent else "chosen by chance"
        texts = [text.replace("\n", "") for text in cells.all_inner_texts()]
        assert texts == [attribute.question, own, sent + note]
    # To and fro: the report of an answer does not change, so nobody can choose a nicer one.
    page.get_by_role("button", name="Back to my answers").click()
    assert json.loads(review(page))["codes"] == codes


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


def test_answering_again_says_the_same_and_the_ledger_says_what_it_cost(
    context: BrowserContext, collector: Start
) -> None:
    running = collector(SURVEY)
    bodies = []
    for turn in range(4):
        page = opened(context, running.url, "main button")
        if turn:
            assert "already taken part" in page.locator("main").inner_text()
            page.get_by_role("button", name="Answer again").click()
        answer(page, ANSWERS)
        bodies.append(json.loads(review(page)))
        told = page.locator(".review").inner_text()
        assert ("costs nothing more" if turn else "privacy loss (epsilon) of 4.00") in told
        send(page)
        page.close()
    assert len({body["id"] for body in bodies}) == 4
    assert running.codes() == [tuple(bodies[0]["codes"])] * 4
    page = opened(context, running.url, "main button")
    spent = page.locator("footer").inner_text()
    assert "Reports: 4" in spent
    # Four reports: at most 4 of 4 ages, 3 of 3 smokers, 3 of 3 exercises, 4 of 9 regions.
    assert "4.00 if the answers were the same, at most 14.00" in spent


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
    codes = json.loads(review(page))["codes"]
    page.locator("#language").select_option("de")
    expect(page.locator("main h2")).to_have_text("Das würde Ihr Gerät verlassen")
    assert json.loads(page.locator("#body").inner_text())["codes"] == codes
    context.close()


def test_invitations(context: BrowserContext, collector: Start) -> None:
    import subprocess
    import sys
    from pathlib import Path

    first = collector(SURVEY)
    program = str(Path(sys.executable).with_name("castell"))
    study = first.store.with_suffix(".toml")
    code = subprocess.run(
        [program, "invite", str(study), "1"], capture_output=True, text=True, check=True
    ).stdout.strip()
    running = collector(SURVEY, "--store", str(first.store))
    page = opened(context, running.url)
    answer(page, ANSWERS)
    page.locator("#questions button[type=submit]").click()
    assert "Invitation code" in page.locator("#missing").inner_text()
    page.locator("#invitation").fill(code.upper())
    report = json.loads(review(page))
    assert list(report) == ["id", "study", "codes", "invitation"]
    assert report["invitation"] == code
    send(page)
    # Used up: a second report with the same code is refused, and the page says why.
    page = opened(context, f"{running.url}/#invitation={code}", "main button")
    page.get_by_role("button", name="Answer again").click()
    answer(page, OTHERS)
    review(page)
    page.locator("#send").click()
    assert "used already" in page.get_by_role("alert").inner_text()
    assert len(running.codes()) == 1
