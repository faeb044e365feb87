"""Mean, quartiles and missing answers beside the table of an attribute, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import pytest

from castell import Reports, Study, fit
from tests.browser.results.analyst import Analyst, attribute, serving, wait_for_answer
from tests.collecting import Collector
from tests.collector.results.people import TEXT, people

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

REPORTS = Study.from_toml(TEXT).randomize(people(6000), seed=5)


@pytest.fixture(scope="session")
def numeric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """A survey of numbers that some did not answer."""
    # As a device makes them, so that the page does not warn of the seed.
    secure = Reports(REPORTS.study, REPORTS.columns, secure=True)
    with serving(tmp_path_factory.mktemp("numeric"), TEXT, secure) as collector:
        yield collector


def _rows(page: Page, place: str) -> list[str]:
    return page.locator(f"#{place} tbody tr").all_inner_texts()


def test_the_pages_numbers_are_the_librarys(analyst: Analyst, numeric: Collector) -> None:
    page = analyst.look(numeric, ("age",), method="castell")
    model = fit(REPORTS.sorted(), "castell")
    mean, median = model.mean("age"), model.quantile("age")
    first, _, middle, _ = (row.split("\t") for row in _rows(page, "numbers"))
    assert first[0] == "Mean"
    assert float(first[1].removesuffix(" years")) == pytest.approx(mean.value, rel=1e-3)
    assert [float(end) for end in first[2].split(" to ")] == pytest.approx(
        list(mean.conf_int()), rel=1e-3
    )
    assert middle[0] == "Median"
    assert float(middle[1].removesuffix(" years")) == pytest.approx(float(median.value), rel=1e-3)
    assert "middle of their bin" in page.locator("#numbers-about").inner_text()
    answered, missing = model.answered("age"), model.probability(age="no answer")
    told = page.locator("#no-answer").inner_text()
    assert told.startswith(f"{100 * missing.value:.1f}% gave no answer (95% interval ")
    rows = [row.split("\t") for row in _rows(page, "answered-table")]
    assert [row[0] for row in rows] == list(answered.values)
    assert [row[1] for row in rows] == [f"{100 * p:.1f}%" for p in answered.probabilities]


def test_other_tables_have_no_numbers_beside_them(analyst: Analyst, numeric: Collector) -> None:
    page = analyst.look(numeric, ("age",), method="castell")
    assert page.locator("#numbers-card").is_visible()
    attribute(page, "Which region?").check()
    page.get_by_role("heading", name="Which region?").wait_for()
    wait_for_answer(page)
    assert page.locator("#numbers-card, #answered-card").evaluate_all(
        "cards => cards.every((card) => card.hidden)"
    )
    # Within each region there are means again, a row for each.
    page.get_by_label("Shares").select_option("region")
    page.locator("#numbers-card").wait_for()
    rows = [row.split("\t") for row in _rows(page, "numbers")]
    assert [row[0] for row in rows if row[1] == "Mean"] == ["north", "south"]
    assert page.locator("#no-answer li").count() == 2


def test_what_is_not_summarized_is_said(analyst: Analyst, numeric: Collector) -> None:
    page = analyst.look(numeric, ("age",), method="castell")
    assert page.locator("#numbers-left-out").inner_text() == ""

    def with_too_many(route: Route) -> None:
        answer = route.fetch()
        told = answer.json() | {"summaries": [], "summaries_left_out": "101 values: ask elsewhere"}
        route.fulfill(response=answer, json=told)

    page.route("**/results/api/estimate*", with_too_many)
    attribute(page, "Which region?").check()
    page.get_by_role("heading", name="Which region?").wait_for()
    wait_for_answer(page)
    assert page.locator("#numbers-left-out").inner_text() == "101 values: ask elsewhere"
    assert page.locator("#numbers tbody").count() == 0


def test_an_open_bin_has_no_mean_and_says_so(analyst: Analyst, numeric: Collector) -> None:
    page = analyst.look(numeric, ("income",), method="castell")
    assert [row.split("\t")[0] for row in _rows(page, "numbers")] == [
        "Lower quartile", "Median", "Upper quartile",
    ]  # fmt: skip
    assert "has no end, so there is no mean." in page.locator("#numbers-about").inner_text()
    assert page.locator("#answered-card").is_hidden()


@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_and_can_be_read(analyst: Analyst, numeric: Collector, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for names, within in ((("age",), ""), (("age", "region"), "region")):
        page = analyst.look(numeric, names, width, method="castell", within=within)
        schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            assert axe.Axe().run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for place in ("numbers", "answered-table"):
            found = page.locator(f"#{place}")
            assert found.evaluate("e => e.scrollWidth <= e.clientWidth"), (place, width)
        page.close()


DEBT = """
name = "debt"
epsilon = 8.0

[[attribute]]
name = "debt"
question = "How much debt do you have?"
bins = [0, 50, 100]
rounding = "unbiased"
unit = "thousand"
none = "no debt"
missing = "category"

[[attribute]]
name = "region"
values = ["north", "south"]
"""


def test_who_has_any_stands_above_the_mean_of_those(
    analyst: Analyst, tmp_path_factory: pytest.TempPathFactory
) -> None:
    study = Study.from_toml(DEBT)
    said = {
        "debt": ["no debt", "no debt", "20", "90", ""] * 800,
        "region": ["north", "south"] * 2000,
    }
    made = study.randomize(said, seed=3)
    secure = Reports(study, made.columns, secure=True)
    with serving(tmp_path_factory.mktemp("debt"), DEBT, secure) as collector:
        page = analyst.look(collector, ("debt",), method="castell")
        any_, mean = (row.split("\t") for row in _rows(page, "numbers"))
        model = fit(made.sorted(), "castell")
        having = model.having("debt")
        assert any_[:2] == ["Have any", f"{100 * having.probabilities[0]:.1f}%"]
        low, high = having.conf_int()
        assert any_[2] == f"{100 * low[0]:.1f} to {100 * high[0]:.1f}%"
        assert mean[0] == "Mean"
        told = float(mean[1].removesuffix(" thousand"))
        assert told == pytest.approx(model.mean("debt").value, rel=1e-3)
        assert "numbers are of those who have any" in page.locator("#numbers-of").inner_text()
        assert page.locator("#no-answer li").count() == 1
