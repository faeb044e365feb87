"""The browser's client in a real browser: from its modules, or as a survey page serves it.

A page is loaded from its own address, and its script gets one line more, at the end, that names the
functions which make a report. Nothing is ever sent: whatever is no GET, or is of another origin, is
stopped before it leaves and told of.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from castell.auditing.devices import Answers, Codes
from castell.device.browser_client import CLIENT
from castell.errors import MissingExtraError, OptionError
from castell.study.study import Study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Names of this machine's own count as secure, so cryptography is there.
_HERE = "http://localhost"
_NAMED = "$client_respondent"
_TAKEN = (
    "\nglobalThis.castellAudited = { ...$client_study, ...$client_respondent, ...$client_store };\n"
)
_IMPORTED = """async () => {
  const parts = ["study", "respondent", "store"].map((name) => import(`/client/${name}.js`));
  globalThis.castellAudited = Object.assign({}, ...(await Promise.all(parts)));
}"""
_MAKE = """async ({ study, asked, people }) => {
  const { parseStudy, reportOf, memoryStore } = globalThis.castellAudited;
  const parsed = await parseStudy(study);
  const one = async () => {
    const store = memoryStore();
    const made = [];
    for (const answers of asked) made.push((await reportOf(store, parsed, answers)).codes);
    return made;
  };
  return Promise.all(Array.from({ length: people }, one));
}"""


@dataclass(frozen=True)
class BrowserDevice:
    """A page in a browser that makes reports and sends none."""

    page: Page
    name: str
    remembers: bool = True
    step: int = 1000
    sent: list[str] = field(default_factory=list)

    def reports(self, study: Study, asked: Sequence[Answers], people: int) -> Codes:
        from playwright.sync_api import Error

        given = {"study": study.to_json(), "asked": [dict(a) for a in asked], "people": people}
        try:
            made = self.page.evaluate(_MAKE, given)
        except Error as error:
            raise OptionError(
                f"the page makes no report ({error.message.splitlines()[0]})",
                "audit with --device frame or python what the survey page cannot ask",
            ) from None
        return np.array(made, dtype=np.int64)

    def read_study(self) -> Study:
        """The study of the page."""
        told: str = self.page.evaluate("async () => (await fetch('study.json')).text()")
        return Study.from_json(told)


@contextmanager
def browser_device(address: str | None) -> Iterator[BrowserDevice]:
    """A browser on the client's own modules, or on the survey page at an address."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise MissingExtraError(
            "an audit in a browser needs playwright", "pip install 'castell[audit]'"
        ) from None
    program = _program()
    with sync_playwright() as playwright:
        # In a container, as root, the sandbox cannot run.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            with device_in(browser, address) as device:
                yield device
        finally:
            browser.close()


@contextmanager
def device_in(
    browser: Browser, address: str | None = None, client: Path = CLIENT
) -> Iterator[BrowserDevice]:
    """A page without a past in a browser that runs already."""
    from playwright.sync_api import Error

    context = browser.new_context(service_workers="block")
    try:
        page = context.new_page()
        page.set_default_timeout(120_000)
        device = BrowserDevice(page, address or "browser")
        try:
            if address is None:
                _own_page(device, client)
            else:
                _served_page(device, address)
        except Error as error:
            raise OptionError(
                f"the page cannot be audited ({error.message.splitlines()[0]})",
                "give the address at which respondents open the survey",
            ) from None
        yield device
    finally:
        context.close()


def _program() -> str:
    named = os.environ.get("CASTELL_CHROMIUM")
    found = named or next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if found is None:
        raise OptionError(
            "there is no browser to audit in", "install chromium, or name one by CASTELL_CHROMIUM"
        )
    return found


def _own_page(device: BrowserDevice, client: Path) -> None:
    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path
        file = client / path.removeprefix("/client/")
        if _stop(route, _HERE, device.sent):
            return
        if path == "/":
            route.fulfill(body="<!doctype html><title>audit</title>", content_type="text/html")
        elif path.startswith("/client/") and file.resolve().is_relative_to(client.resolve()):
            route.fulfill(body=file.read_text("utf-8"), content_type="text/javascript")
        else:
            route.abort()

    device.page.route("**/*", answer)
    device.page.goto(f"{_HERE}/")
    device.page.evaluate(_IMPORTED)


def _served_page(device: BrowserDevice, address: str) -> None:
    parts = urlsplit(address)
    origin = f"{parts.scheme}://{parts.netloc}"

    def answer(route: Route) -> None:
        if _stop(route, origin, device.sent):
            return
        if route.request.resource_type != "script":
            route.continue_()
            return
        served = route.fetch()
        text = served.text()
        # The page's one script, to the letter, and the line that names its functions.
        route.fulfill(response=served, body=text + _TAKEN if f"const {_NAMED} =" in text else text)

    device.page.route("**/*", answer)
    device.page.goto(address, wait_until="load")
    if not device.page.evaluate("() => 'castellAudited' in globalThis"):
        raise OptionError(
            f"{address} is no survey page of castell's",
            "give the address at which respondents open the survey",
        )


def _stop(route: Route, origin: str, sent: list[str]) -> bool:
    request: Any = route.request
    parts = urlsplit(request.url)
    if request.method == "GET" and f"{parts.scheme}://{parts.netloc}" == origin:
        return False
    sent.append(f"{request.method} {request.url}")
    route.abort()
    return True
