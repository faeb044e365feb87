"""Pictures hold few lines, and no panel of nothing but yardsticks."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest

from experiments import catalogue, groups, harness, lines, page, store


@pytest.mark.parametrize("name", catalogue.names())
def test_no_picture_of_the_page_has_more_lines_than_can_be_told_apart(name: str) -> None:
    module, drawn = catalogue.experiment(name), list[list[str]]()

    class Drawn(ModuleType):
        ROWS = getattr(module, "ROWS", False)

        @staticmethod
        def draw(result: Any) -> None:
            drawn.append(sorted({r["scheme"] for r in result["records"] if r["mean"] is not None}))

    for result in page.kept_results(store.ROOT / "docs", module).values():
        if result.get("records") and "scheme" in result["records"][0] and not Drawn.ROWS:
            groups.pictures(Drawn(name), result)
    assert all(len(labels) <= groups.MOST for labels in drawn)


def test_a_panel_of_yardsticks_is_left_out_of_the_rivals_picture() -> None:
    def records(data: str, labels: Any) -> list[dict[str, Any]]:
        return [{"data": data, "scheme": x, "x": 1, "mean": 0.1, "error": None} for x in labels]

    everywhere = ("castell", *harness.REFERENCES, "independent", "hybrid", "truncated")
    result: dict[str, Any] = {"about": {}}
    result["records"] = records("adult", (*everywhere, "lopub", "locop", "em", "auto"))
    result["records"] += records("large", everywhere)

    class Drawn(ModuleType):
        @staticmethod
        def draw(some: Any) -> set[str]:
            return {r["data"] for r in some["records"]}

    drawn = groups.pictures(Drawn("drawn"), result)
    assert drawn == {"paper": {"adult", "large"}, "rivals": {"adult"}, "ours": {"adult"}}


def test_a_band_that_comes_near_zero_is_shown_upwards_only() -> None:
    record = {"data": "adult", "scheme": "castell", "x": 1, "mean": 0.1, "error": None}
    band = lines._record({**record, "sigma": 0.05}, 1e-6, True)
    assert (band["bottom"], band["top"]) == pytest.approx((0.05, 0.15))
    band = lines._record({**record, "sigma": 0.099}, 1e-6, True)
    assert (band["bottom"], band["top"]) == pytest.approx((0.1, 0.199))


def test_a_picture_tells_of_the_lines_it_shows_only() -> None:
    """Labels hold commas: 'lopub, as published' is no 'lopub'."""
    said = [
        "auto, lopub, lopub, as published: 3 of 5 repeats",
        "dpfedwae: 2 of 5 repeats",
        "the stand-in once, 4 sets, by castell, independent alone",
    ]
    result = {"about": {"n": 5, "left out": said}}
    labels = ["auto", "castell", "lopub", "lopub, as published", "dpfedwae"]

    def told(*shown: str) -> list[str]:
        return list(groups._about(result, labels, shown)["left out"])

    assert told("castell") == said[2:]
    assert told("auto", "castell") == ["auto: 3 of 5 repeats", said[2]]
    assert told("lopub, as published") == ["lopub, as published: 3 of 5 repeats", said[2]]
    assert told("lopub", "dpfedwae") == ["lopub: 3 of 5 repeats", *said[1:]]


def test_print_that_is_no_lines_is_drawn_in_its_own_panels() -> None:
    records = [
        {"data": data, "scheme": "em", "x": x, "mean": 0.1 * x, "error": None, "sigma": None}
        for data in ("adult, 1", "nursery, 1")
        for x in (1, 2)
    ]
    result = {"about": {"noise": "real", "quick": False, "seed": 0}, "records": records}

    def marks(**more: Any) -> int:
        chart = lines.lines(result, "", x="w", printed={lines.ANY_LINE: {1: 0.3, 2: 0.4}}, **more)
        return json.dumps(chart.to_dict()).count('"print": 0.3')

    assert (marks(), marks(printed_of="adult"), marks(printed_of="census")) == (2, 1, 0)
