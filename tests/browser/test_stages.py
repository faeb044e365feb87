"""Stages in a real browser: the page trusts no stage, and a staged collection survives a kill."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from castell.collector.store import open_store
from castell.collector.wire import new_id
from tests.browser.patience import PATIENCE
from tests.browser.taking_part import opened, proceed, send, with_text
from tests.collecting import TOKEN, collecting
from tests.staged_studies import FIRST, PLANNED, SECOND, STAGED, forged, rows_of, worse

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

LATER = "Which sets of questions there are depends on earlier reports"
FILE = PLANNED.replace("[300, 3000]", "[200, 3000]")


def answer(page: Page) -> None:
    for field in page.locator("fieldset.question").all():
        field.locator("label.choice").first.click()


def take_part(page: Page) -> dict[str, Any]:
    answer(page)
    proceed(page)
    sent: dict[str, Any] = json.loads(send(page))
    return sent


def visit(context: BrowserContext, url: str, text: str, screen: str) -> str:
    """What a page says to whom the server gives this study."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    with_text(page, text)
    page.goto(url)
    page.wait_for_selector(screen)
    said = page.locator("main").inner_text()
    assert (page.locator("form#questions").count() > 0) == (screen == "form#questions")
    page.close()
    return said


def test_a_server_that_lies_about_a_stage_is_refused(browser: Browser, tmp_path: Path) -> None:
    """By a browser that has seen the first stage; a worse channel by every browser."""
    seen, new = (browser.new_context(locale="en-US") for _ in range(2))
    with collecting(STAGED, tmp_path) as running:
        page = opened(seen, running.url)
        assert "will depend on the reports so far" in page.locator(".protect").inner_text()
        page.close()
        # The same stage with a block that tells more than was promised, be it by a trifle.
        for epsilon in (2.1, 2.0000001):
            for context in (seen, new):
                said = visit(context, running.url, worse(epsilon), "[role=alert]")
                assert "gives away more than the study promises (epsilon 2)" in said
        # A larger promise, other words, other values: another study than the one seen here.
        lies = [
            forged(stages={"epsilon": "9", "after": [FIRST.digest]}),
            forged(name="another"),
            forged(consent="I agree to everything."),
        ]
        for text in lies:
            assert "This study was changed" in visit(seen, running.url, text, "main button.main")
        # An honest stage is the study that was seen, and is asked at once.
        said = visit(seen, running.url, SECOND.to_json(), "form#questions")
        assert LATER in said
        assert running.codes() == []
    seen.close()
    new.close()


def methods_of(page: Page) -> list[str]:
    """The methods of all requests that a page makes from now on."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.method))
    return found


def ask(url: str, token: bool = False) -> str:
    headers = {"authorization": f"Bearer {TOKEN}"} if token else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return str(answer.read().decode())


def until(good: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not good():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def send_many(url: str, digest: str, rows: list[tuple[int, ...]]) -> list[str]:
    ids = [new_id() for _ in rows]
    reports = [{"id": id, "codes": codes} for id, codes in zip(ids, rows, strict=True)]
    body = json.dumps({"study": digest, "reports": reports}).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{url}reports/bulk", body, headers)  # noqa: S310
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        assert json.load(answer) == {"stored": len(rows), "repeated": 0}
    return ids


def test_a_staged_collection_with_a_kill_during_the_switch(
    browser: Browser, tmp_path: Path, screens: Path
) -> None:
    done, slow, seen, new = (browser.new_context(locale="en-US") for _ in range(4))
    with collecting(FILE, tmp_path) as running:
        first, url = running.study, f"{running.url.rstrip('/')}/"
        port = running.url.rpartition(":")[2]
        # One has sent, one has the page open and answered, one has only looked.
        sent = [take_part(opened(done, url))]
        page = opened(slow, url)
        answer(page)
        opened(seen, url).close()
        send_many(url, first.digest, rows_of(first, 220, 1))
        # The stage is full. The collector is killed while the next one is planned.
        until(lambda: "castell_stage_planning 1" in ask(f"{url}metrics", token=True))
        assert json.loads(ask(f"{url}study.json"))["digest"] == first.digest
        os.kill(running.pid, signal.SIGKILL)
    with pytest.raises(urllib.error.URLError):
        ask(f"{url}study.json")
    with collecting(FILE, tmp_path, "--port", port) as running:
        until(lambda: json.loads(ask(f"{url}study.json"))["digest"] != first.digest)
        stage = json.loads(ask(f"{url}study.json"))
        assert stage["stages"] == {"epsilon": "1", "after": [first.digest]}
        assert ask(f"{url}studies/{first.digest}.json") == first.to_json()
        # The page that was open finishes under the stage that it loaded.
        proceed(page)
        sent.append(json.loads(send(page)))
        assert sent[-1]["study"] == first.digest
        # Who has seen the first stage, and who comes now, are asked as the second one does.
        for context in (seen, new):
            page = opened(context, url)
            assert LATER in page.locator(".protect").inner_text()
            if context is new:
                page.screenshot(path=screens / "survey-stage.png", full_page=True)
            sent.append(take_part(page))
            assert sent[-1]["study"] == stage["digest"]
        # Nobody is asked a second time; each sees the report of their own stage.
        for context, report in zip((done, slow, seen, new), sent, strict=True):
            page = context.new_page()
            methods = methods_of(page)
            page.goto(url)
            page.wait_for_selector("main .review")
            assert "already taken part" in page.locator("main").inner_text()
            page.locator("main details summary").first.click()
            assert json.loads(page.locator("#body").inner_text()) == report
            assert set(methods) == {"GET"}
            page.close()
        metrics = ask(f"{url}metrics", token=True)
        assert "castell_stages 2" in metrics
        overview = json.loads(ask(f"{url}results/api/overview", token=True))
        assert [one["stage"] for one in overview["stages"]] == [1, 2]
    with closing(open_store(running.store)) as store:
        # Nothing is lost and nobody is counted twice, in two stages and no more.
        assert len(store.stages) == 2
        found = Counter(
            batch.stage.digest for batch in store.dated_batches() for _ in range(len(batch.hours))
        )
        assert found == {first.digest: 222, stage["digest"]: 2}
        assert store.plans() == {200: "published"}
    for context in (done, slow, seen, new):
        context.close()


def test_two_tabs_in_two_stages_send_one_report(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(locale="en-US")
    with collecting(STAGED, tmp_path) as running:
        early = opened(context, running.url)
        answer(early)
        proceed(early)
        with closing(open_store(running.store)) as store:
            store.publish(SECOND)
        until(lambda: SECOND.digest in ask(running.url))
        late = opened(context, running.url)
        body = take_part(late)
        assert body["study"] == SECOND.digest
        # The other tab has nothing to send any more, and shows what the first has sent.
        early.locator("#send").click()
        early.wait_for_selector("main .review")
        assert "already taken part" in early.locator("main").inner_text()
        with closing(open_store(running.store)) as store:
            assert store.count() == 1
    context.close()
