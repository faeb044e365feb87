"""Every state of the results page, and how a browser gets there."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browser.results.analyst import PAIR, Analyst, attribute, heading, link, wait_for_answer
from tests.collecting import TOKEN, Collector

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

ESTIMATE = "**/results/api/estimate?*"
BLOCKED = """
for (const name of ["sessionStorage", "localStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });
"""


@dataclass(frozen=True)
class Walk:
    """An analyst, the window they look through, and collectors in three conditions."""

    analyst: Analyst
    width: int
    scheme: str
    health: Collector
    forged: Collector
    few: Collector

    def open(self, address: str, **options: Any) -> Page:
        return self.analyst.open(address, self.width, color_scheme=self.scheme, **options)

    def look(self, names: tuple[str, ...] = PAIR, **more: str) -> Page:
        page = self.open(link(self.health, names, **more))
        page.locator("#chart svg").wait_for()
        wait_for_answer(page)
        return page

    def look_with_form(self, names: tuple[str, ...] = PAIR) -> Page:
        """The form is folded away on a phone."""
        page = self.look(names, method="castell")
        if self.width < 900:
            page.get_by_text("What to show").click()
        return page


def no_token(walk: Walk) -> Page:
    page = walk.open(f"{walk.health.url}/results")
    page.get_by_label("Token").wait_for()
    return page


def wrong_token(walk: Walk) -> Page:
    page = no_token(walk)
    page.get_by_label("Token").fill("not-the-token-at-all")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("This token is not good here").wait_for()
    return page


def expired_token(walk: Walk) -> Page:
    page = walk.look_with_form()
    body = '{"error": "this token is not good here", "remedy": "sign in again"}'
    page.route(
        "**/results/api/*",
        lambda route: route.fulfill(status=401, body=body, content_type="application/json"),
    )
    attribute(page, "age").check()
    page.get_by_label("Token").wait_for()
    return page


def without_storage(walk: Walk) -> Page:
    page = walk.open(f"{walk.health.url}/results", before=[BLOCKED])
    page.get_by_text("This browser keeps nothing for pages").wait_for()
    return page


def signed_in_without_storage(walk: Walk) -> Page:
    page = without_storage(walk)
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.locator("#chart svg").wait_for()
    wait_for_answer(page)
    return page


def too_few(walk: Walk) -> Page:
    page = walk.open(link(walk.few))
    page.get_by_text("of the 100 reports needed are in").wait_for()
    return page


def over(walk: Walk, collector: Collector) -> Page:
    """A study that has ended, with releases each day."""

    def told(route: Route) -> None:
        document = {**route.fetch().json(), "over": True, "release_hours": 24}
        route.fulfill(body=json.dumps(document), content_type="application/json")

    page = walk.open(link(collector, PAIR, method="castell"))
    page.route("**/results/api/overview", told)  # it looks again every few seconds
    return page


def over_with_results(walk: Walk) -> Page:
    page = over(walk, walk.health)
    page.get_by_text("left out if they are fewer than 100").wait_for()
    page.locator("#chart svg").wait_for()
    wait_for_answer(page)
    return page


def over_with_too_few(walk: Walk) -> Page:
    page = over(walk, walk.few)
    page.get_by_text("So few reports are not shown here").wait_for()
    return page


def never(route: Route) -> None:
    """No answer ever."""
    del route


def loading(walk: Walk) -> Page:
    page = walk.look_with_form()
    page.route(ESTIMATE, never)
    attribute(page, "age").check()
    page.get_by_text("Working it out.").wait_for()
    return page


def progress(walk: Walk) -> Page:
    page = walk.look_with_form()
    told = json.dumps({"ahead": 1, "seconds": 4.1, "usual": 8.2})
    page.route(ESTIMATE, never)
    page.route(
        "**/results/api/progress?*",
        lambda route: route.fulfill(body=told, content_type="application/json"),
    )
    attribute(page, "age").check()
    page.get_by_text("4 seconds so far; the last took 8; 1 question is before this one").wait_for()
    return page


def _refusal(status: int, document: dict[str, str]) -> Callable[[Route], None]:
    body = json.dumps(document)
    return lambda route: route.fulfill(status=status, body=body, content_type="application/json")


def refused(walk: Walk) -> Page:
    page = walk.look_with_form()
    said = {"error": "this is too much to work out here", "remedy": "ask for fewer attributes"}
    page.route(ESTIMATE, _refusal(400, said))
    attribute(page, "age").check()
    page.get_by_role("alert").get_by_text("This is too much to work out here.").wait_for()
    return page


def failed(walk: Walk) -> Page:
    """An error that nobody foresaw: no words of the collector's."""
    page = walk.look_with_form()
    page.route(ESTIMATE, lambda route: route.fulfill(status=500, body="Internal Server Error"))
    attribute(page, "age").check()
    page.get_by_role("alert").get_by_text("The collector could not answer this.").wait_for()
    return page


def unreachable(walk: Walk) -> Page:
    page = walk.look_with_form()
    page.route("**/results/api/*", lambda route: route.abort())
    attribute(page, "age").check()
    page.get_by_role("alert").get_by_text("The collector cannot be reached.").wait_for()
    return page


def model_process_dies(walk: Walk) -> Page:
    """The process that fits models is killed: it is started again, and the question answered."""
    page = walk.look_with_form()
    for child in model_processes(walk.health.pid):
        os.kill(child, signal.SIGKILL)
    attribute(page, "region").check()
    heading(page, "smokes", "health", "region").wait_for()
    wait_for_answer(page)
    page.locator("#chart svg").wait_for()
    return page


def model_processes(collector: int) -> list[int]:
    """The processes that a collector fits models in, by their ids."""
    children = [
        int(child)
        for tasks in Path(f"/proc/{collector}/task").glob("*/children")
        for child in tasks.read_text().split()
    ]
    return [c for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]


def doubtful(walk: Walk) -> Page:
    page = walk.open(link(walk.forged, PAIR, chart="mosaic"))
    page.locator("#verdict").wait_for()
    page.locator("#chart svg").wait_for()
    return page


def merged_and_filtered(walk: Walk) -> Page:
    page = walk.open(
        f"{link(walk.health, PAIR, method='castell')}&merge=health%3Dpoor&merge=health%3Dfair"
        "&given=age%3D60%2B"
    )
    page.locator("#chart svg").wait_for()
    wait_for_answer(page)
    if walk.width < 900:
        page.get_by_text("What to show").click()
    page.get_by_text("Merge values or filter").click()
    page.locator("#values summary").first.click()
    return page


def back_and_forward(walk: Walk) -> Page:
    page = walk.look_with_form()
    attribute(page, "age").check()
    heading(page, "smokes", "health", "age").wait_for()
    page.go_back()
    heading(page, "smokes", "health").wait_for()
    page.go_forward()
    heading(page, "smokes", "health", "age").wait_for()
    wait_for_answer(page)
    page.locator("#chart svg").wait_for()
    return page


def deep_link(walk: Walk) -> Page:
    return walk.look(("age",), method="independent", level="0.9", sort="share")


def printed(walk: Walk) -> Page:
    page = walk.look()
    page.emulate_media(media="print")
    return page


STATES: dict[str, Callable[[Walk], Page]] = {
    "no token": no_token,
    "wrong token": wrong_token,
    "expired token": expired_token,
    "storage blocked": without_storage,
    "storage blocked, signed in": signed_in_without_storage,
    "too few reports": too_few,
    "over": over_with_results,
    "over, too few reports": over_with_too_few,
    "loading": loading,
    "progress": progress,
    "one attribute": lambda walk: walk.look(("age",), method="castell"),
    "two attributes": lambda walk: walk.look(PAIR, method="castell"),
    "two, as bars": lambda walk: walk.look(PAIR, method="castell", chart="bars"),
    "two, as a mosaic": lambda walk: walk.look(PAIR, method="castell", chart="mosaic"),
    "three attributes": lambda walk: walk.look(("age", *PAIR), method="castell"),
    "three, as a mosaic": lambda walk: walk.look(("age", *PAIR), method="castell", chart="mosaic"),
    "four attributes": lambda walk: walk.look(("age", "region", *PAIR), method="castell"),
    "shares within": lambda walk: walk.look(PAIR, method="castell", within="smokes"),
    "merged and filtered": merged_and_filtered,
    "refused": refused,
    "failed": failed,
    "unreachable": unreachable,
    "model process dies": model_process_dies,
    "doubtful": doubtful,
    "deep link": deep_link,
    "back and forward": back_and_forward,
    "printed": printed,
}
EXPECTED = ("401", "400", "500", "ERR_FAILED")
