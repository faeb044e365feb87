"""An analyst with a real browser, and collectors with reports for them to look at."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from castell import Reports
from castell.cli.study_file import to_toml
from castell.population import SCHEMA
from tests.browser.patience import PATIENCE
from tests.collecting import TOKEN, Collector, collecting
from tests.collector.results.stores import fill_store, spread

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

PEOPLE = 20_000
PAIR = ("smokes", "health")
TEXT = 'title = "Health and habits"\n' + to_toml(SCHEMA, name="health", epsilon=9.0)


def waking(n: int, days: int) -> NDArray[np.int64]:
    """Hours of reports of people who sleep at night."""
    hours = spread(days * 24, days)
    weights = 1.1 - np.cos(np.arange(len(hours)) % 24 * np.pi / 12)
    ends = np.cumsum(weights) / weights.sum() * n
    places = np.searchsorted(ends, np.arange(n), side="right")
    return np.asarray(hours[np.minimum(places, len(hours) - 1)])


@contextlib.contextmanager
def serving(folder: Path, text: str, reports: Reports, days: int = 3) -> Iterator[Collector]:
    """A collector whose reports came over some days."""
    store = folder / "reports.sqlite"
    fill_store(store, reports, waking(len(reports), days)).close()
    with collecting(text, folder, "--store", str(store)) as collector:
        yield collector


@dataclass
class Analyst:
    """A browser whose every request and complaint is looked at when it is closed."""

    browser: Browser
    pages: list[Page] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def open(self, address: str, width: int = 1280, height: int = 900, **options: Any) -> Page:
        """A new page at an address; scripts to run `before` those of the page, and the browser's
        other options."""
        scripts = options.pop("before", ())
        page = self.browser.new_page(viewport={"width": width, "height": height}, **options)
        for script in scripts:
            page.add_init_script(script)
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda line: self.complaints.append(f"{line.type}: {line.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(address)
        self.pages.append(page)
        return page

    def look(
        self,
        collector: Collector,
        names: tuple[str, ...] = PAIR,
        width: int = 1280,
        *,
        before: Sequence[str] = (),
        color_scheme: str = "light",
        **more: str,
    ) -> Page:
        """Open results by a link, as the demo makes it, and wait for the charts."""
        address = link(collector, names, **more)
        page = self.open(address, width, before=before, color_scheme=color_scheme)
        page.locator("#chart svg").wait_for()
        page.locator("#timeline svg").wait_for()
        wait_for_answer(page)
        return page


def link(collector: Collector, names: tuple[str, ...] = PAIR, **more: str) -> str:
    asked = [("token", TOKEN), *(("attributes", name) for name in names), *more.items()]
    return f"{collector.url}/results#{urlencode(asked)}"


def wait_for_answer(page: Page) -> None:
    page.locator("#answer:not([aria-busy])").wait_for()


def numbers(page: Page) -> list[str]:
    return page.locator("#table tbody tr").all_inner_texts()


def attribute(page: Page, name: str) -> Locator:
    return page.get_by_role("checkbox", name=texts(name)[0], exact=True)


def heading(page: Page, *names: str) -> Locator:
    """The heading of the table of some attributes."""
    times = " \N{MULTIPLICATION SIGN} "
    return page.get_by_role("heading", name=times.join(texts(*names)), exact=True)


def texts(*names: str) -> list[str]:
    """What the page calls attributes: by their questions, where they have any."""
    return [SCHEMA[name].question if name in SCHEMA.names else name for name in names]


def words(page: Page) -> str:
    """All text in the chart."""
    return " ".join(page.locator("#chart svg text").all_text_contents())
