"""Two studies in one process, behind a proxy with a path of its own: everything works there."""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from castell import Study
from castell.collector.store import open_store
from castell.collector.store.tokens import Role, Token, new_token, token_hash
from castell.population import health_survey
from tests.browser.results.analyst import PAIR, TEXT, Analyst, attribute, heading, wait_for_answer
from tests.browser.studies import SURVEY
from tests.browser.taking_part import ANSWERS, answer, opened, proceed, send
from tests.collecting import TOKEN
from tests.collector.results.stores import fill_store, spread

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

PREFIX = "/outer/path"


@pytest.fixture(scope="session")
def browser(whole_browser: Browser) -> Browser:
    """What a browser asks for by itself, a page's picture for one, matters here too."""
    return whole_browser


@dataclass(frozen=True)
class Served:
    """The address behind the proxy, and the folder with the stores."""

    url: str
    folder: Path


@contextlib.contextmanager
def proxied(port: int) -> Iterator[str]:
    """A reverse proxy that takes its own path off, as `proxy_pass http://.../;` does."""

    class Handler(BaseHTTPRequestHandler):
        def _pass_on(self) -> None:
            if not self.path.startswith(f"{PREFIX}/"):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            link = http.client.HTTPConnection("127.0.0.1", port)
            with contextlib.closing(link):
                link.request(
                    self.command, self.path.removeprefix(PREFIX), body, dict(self.headers.items())
                )
                answer = link.getresponse()
                content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "date"):
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _pass_on

        def log_message(self, *args: object) -> None:
            del args

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}{PREFIX}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("studies")
    habits = TEXT.replace('name = "health"', 'name = "habits"', 1)
    (folder / "habits.toml").write_text(habits, encoding="utf-8")
    (folder / "health.toml").write_text(SURVEY, encoding="utf-8")
    reports = Study.from_toml(habits).randomize(health_survey(3000))
    fill_store(folder / "habits.sqlite", reports, spread(3000, 2)).close()
    program = Path(sys.executable).with_name("castell")
    command = [str(program), "serve", str(folder), "--port", "0", "--json", "--token", TOKEN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            with proxied(int(told["address"].rpartition(":")[2])) as url:
                yield Served(url, folder)
        finally:
            process.terminate()


def test_answering_under_a_prefix(context: BrowserContext, served: Served) -> None:
    # Without the slash, as people type it.
    page = opened(context, f"{served.url}/health")
    assert page.url == f"{served.url}/health/"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    answer(page, ANSWERS)
    proceed(page)
    body = json.loads(send(page))
    assert f"{served.url}/health/reports" in asked
    assert all(url.startswith(f"{served.url}/health/") for url in asked)
    with contextlib.closing(open_store(served.folder / "health.sqlite")) as store:
        assert store.count() == 1
        assert store.study.digest == body["study"]
    assert context.cookies() == []


def test_reading_results_under_a_prefix(analyst: Analyst, served: Served) -> None:
    page = analyst.open(f"{served.url}/habits/results#token={TOKEN}&attributes=smokes")
    page.locator("#chart svg").wait_for()
    wait_for_answer(page)
    attribute(page, "health").check()
    heading(page, *PAIR).wait_for()
    wait_for_answer(page)
    with page.expect_download() as downloading:
        page.get_by_role("button", name="CSV").click()
    assert downloading.value.suggested_filename == "smokes-health.csv"
    page.go_back()
    heading(page, "smokes").wait_for()
    page.reload()
    page.locator("#chart svg").wait_for()
    assert {
        u for u in analyst.requests if not u.startswith(("blob:", f"{served.url}/habits/"))
    } == set()


def test_the_token_of_one_study_is_not_that_of_another(analyst: Analyst, served: Served) -> None:
    """In one tab as well: each study's page keeps its own."""
    page = analyst.open(f"{served.url}/habits/results#token={TOKEN}")
    page.locator("#chart svg").wait_for()
    page.goto(f"{served.url}/health/results")
    page.get_by_label("Token").wait_for()


def test_an_analyst_sees_results_but_takes_no_reports(analyst: Analyst, served: Served) -> None:
    secret = new_token()
    with contextlib.closing(open_store(served.folder / "habits.sqlite")) as store:
        store.add_token(Token("anna", Role.ANALYST, token_hash(secret)))
        page = analyst.open(f"{served.url}/habits/results#token={secret}&attributes=smokes")
        page.locator("#chart svg").wait_for()
        wait_for_answer(page)
        assert page.get_by_role("button", name="CSV").is_visible()
        assert page.locator("[data-format=reports]").is_hidden()
        owner = analyst.open(f"{served.url}/habits/results#token={TOKEN}&attributes=smokes")
        owner.locator("#chart svg").wait_for()
        assert owner.locator("[data-format=reports]").is_visible()
        # Revoked, without a restart: the page goes back to its token screen and shows nothing more.
        analyst.expected.append("401")
        store.revoke_token("anna")
    page.get_by_label("Token").wait_for()
    assert page.get_by_role("alert").inner_text() == (
        "This token is not good here. Take an analyst's or an owner's token of this study; whoever "
        "runs the collector makes one: castell token add STORE --name NAME --role analyst."
    )
    assert page.locator("#results").is_hidden()
    assert page.locator("#table").inner_text() == ""
