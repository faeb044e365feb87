"""Long labels, both directions and thirty values, as the browser's own font draws them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.results.analyst import Analyst, serving
from tests.collecting import Collector
from tests.collector.results.hard_labels import TABLES, TEXT, hard_reports

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Words that stick out of the chart, are smaller than can be read, or lie on each other.
FAULTS = """() => {
  const chart = document.querySelector("#chart svg");
  const frame = chart.getBoundingClientRect();
  const shrunk = frame.width / Number(chart.getAttribute("width"));
  const words = [...chart.querySelectorAll("text")].filter((text) => text.textContent.trim());
  const places = words.map((text) => text.getBoundingClientRect());
  const found = [];
  words.forEach((text, i) => {
    const one = places[i];
    const size = parseFloat(getComputedStyle(text).fontSize) * shrunk;
    const across = one.left < frame.left - 1 || one.right > frame.right + 1;
    const down = one.top < frame.top - 1 || one.bottom > frame.bottom + 1;
    if (across || down) found.push(`out: ${text.textContent}`);
    if (size < 10.99) found.push(`small: ${text.textContent}`);
    for (let j = i + 1; j < words.length; j += 1) {
      const two = places[j];
      const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
      if (wide > 1 && high > 4) found.push(`${text.textContent} on ${words[j].textContent}`);
    }
  });
  return found;
}"""
KINDS = {1: ("bars",), 2: ("heat", "bars", "mosaic"), 3: ("heat", "bars", "mosaic")}


@pytest.fixture(scope="session")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    with serving(tmp_path_factory.mktemp("hard"), TEXT, hard_reports()) as collector:
        yield collector


def _look(analyst: Analyst, hard: Collector, names: tuple[str, ...], width: int, kind: str) -> Page:
    return analyst.look(hard, names, width, method="castell", chart=kind)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("names", TABLES, ids="-".join)
def test_nothing_is_cut_small_or_on_top_of_another(
    analyst: Analyst, hard: Collector, names: tuple[str, ...], width: int
) -> None:
    for kind in KINDS[len(names)]:
        page = _look(analyst, hard, names, width, kind)
        assert page.evaluate(FAULTS) == [], kind
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_shares_and_intervals_are_seen_without_scrolling(
    analyst: Analyst, hard: Collector, width: int
) -> None:
    page = _look(analyst, hard, ("agree", "work", "tongue"), width, "auto")
    table = page.locator("#table")
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")
    inside = table.bounding_box()
    share = page.get_by_role("columnheader", name="share").bounding_box()
    assert inside is not None
    assert share is not None
    assert share["x"] + share["width"] <= inside["x"] + inside["width"]
    assert len(page.get_by_role("rowheader").all()) == 3 * 100
    page.emulate_media(media="print")
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")
