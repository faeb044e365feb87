"""Charts: valid Vega-Lite of the numbers asked for, by every kind and width."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import vl_convert

from castell import Attribute, CastellError, JointEstimate, Schema, Study, estimate, methods_for
from castell.collector.results import charts
from castell.collector.results.charts import ROOMS, Picture, kinds, timeline
from castell.collector.results.mosaic import SHADES, departures, mosaic, tiles
from castell.results.bars import MOST_BARS, MOST_ON_A_PHONE
from castell.results.chart_data import ChartData
from tests.collector.results.stores import STUDY, reports_of

NAMES = ("age", "smokes", "health", "region")
REPORTS = reports_of(3000)


def _joint(width: int, method: str = "castell") -> JointEstimate:
    return estimate(REPORTS, NAMES[:width], method)


def draw(joint: JointEstimate, level: float, kind: str) -> Picture:
    """The chart for a wide page."""
    return charts.pictures(ChartData.of(joint, level), kind, joint)[0]


def _cells(picture: Picture) -> list[dict[str, Any]]:
    """The records of the cells in a chart, in the order they are drawn."""
    return [
        record
        for layer in picture.spec["layer"]
        for record in layer["data"]["values"]
        if "cell" in record
    ]


@pytest.mark.parametrize(("width", "kind"), [(w, k) for w in (1, 2, 3, 4) for k in kinds(w)])
def test_every_kind_compiles_to_vega(width: int, kind: str) -> None:
    joint = _joint(width)
    pictures = charts.pictures(ChartData.of(joint, 0.95), kind, joint)
    assert [picture.room for picture in pictures] == list(ROOMS)
    assert pictures[0].kind == kind
    for picture in pictures:
        assert "marks" in vl_convert.vegalite_to_vega(json.dumps(picture.spec))


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_auto_is_the_first_kind(width: int) -> None:
    assert draw(_joint(width), 0.95, "auto").kind == kinds(width)[0]


def test_large_tables_are_shown_by_their_largest_cells() -> None:
    schema = Schema([Attribute(n, [f"{n}{k}" for k in range(30)]) for n in ("a", "b")])
    codes = {n: np.arange(900) // d % 30 for n, d in (("a", 1), ("b", 30))}
    answers = {n: np.array(schema[n].values, dtype=object)[c] for n, c in codes.items()}
    reports = Study(schema, epsilon=12.0).randomize(answers, seed=1)
    table = estimate(reports, ["a", "b"], "castell")
    usual = draw(table, 0.95, "auto")
    assert usual.kind == "bars"
    assert usual.said == "The 40 largest of 900 cells; 860 smaller ones are left out."
    # What is said goes with the picture, too.
    assert usual.said in usual.spec["title"]["subtitle"]
    for kind, name in (("heat", "heat map"), ("mosaic", "mosaic")):
        asked = draw(table, 0.95, kind)
        assert asked.kind == "bars"
        assert asked.said.startswith(f"A {name} of these values could not be read in this width")
        assert "860 smaller" in asked.said
    many = Study(Schema([Attribute("c", [str(k) for k in range(60)])]), epsilon=6.0)
    alone = many.randomize({"c": np.array([str(k % 60) for k in range(600)])}, seed=1)
    assert "40 largest of 60" in draw(estimate(alone, "c", "castell"), 0.95, "auto").said


def test_a_kind_that_does_not_fit_is_refused() -> None:
    with pytest.raises(CastellError, match="no mosaic chart of 4 attributes: take bars"):
        draw(_joint(4), 0.95, "mosaic")


def test_bars_hold_the_numbers_and_no_more_than_can_be_read() -> None:
    joint = _joint(2)
    bars = _cells(draw(joint, 0.9, "bars"))
    low, high = joint.conf_int(0.9)
    assert [r["probability"] for r in bars] == joint.probabilities.ravel().tolist()
    assert [r["lower"] for r in bars] == low.ravel().tolist()
    assert [r["upper"] for r in bars] == high.ravel().tolist()
    four = _joint(4)
    wide, narrow = charts.pictures(ChartData.of(four, 0.95), "bars", four)
    assert len({r["cell"] for r in _cells(wide)}) == MOST_BARS
    assert "40 largest of 192" in wide.said
    assert len({r["cell"] for r in _cells(narrow)}) == MOST_ON_A_PHONE
    assert "20 largest of 192" in narrow.said


def test_a_tiles_area_is_its_share() -> None:
    table = np.random.default_rng(1).dirichlet(np.ones(12)).reshape(3, 4)
    left, right, bottom, top = tiles(table)
    assert (right - left) * (top - bottom) == pytest.approx(table)
    assert right[:-1, 0] == pytest.approx(left[1:, 0])
    assert bottom[:, :-1] == pytest.approx(top[:, 1:])
    assert (left[0, 0], right[-1, 0]) == pytest.approx((0.0, 1.0))
    assert top[:, 0] == pytest.approx(1.0)
    # A column that nobody is in has no width, and no tile of it any area.
    empty = tiles(np.array([[0.0, 0.0], [0.5, 0.5]]))
    assert ((empty[1] - empty[0]) * (empty[3] - empty[2]))[0] == pytest.approx(0.0)


def test_the_mosaic_shades_what_goes_together_and_nothing_else() -> None:
    schema = Schema([Attribute(n, ["x", "y"]) for n in ("a", "b", "c")])
    rng = np.random.default_rng(3)
    a, c = rng.integers(2, size=20_000), rng.integers(2, size=20_000)
    b = np.where(rng.random(20_000) < 0.2, 1 - a, a)
    codes = {"a": a, "b": b, "c": c}
    answers = {k: np.array(["x", "y"], dtype=object)[v] for k, v in codes.items()}
    reports = Study(schema, epsilon=12.0).randomize(answers, seed=4)
    related = departures(estimate(reports, ["a", "b"], "castell"))
    assert (related[[0, 1], [0, 1]] > 5).all()
    assert (related[[0, 1], [1, 0]] < -5).all()
    assert np.abs(departures(estimate(reports, ["a", "c"], "castell"))).max() < 5
    # Given c, a and b go together just as much.
    assert departures(estimate(reports, ["c", "a", "b"], "castell"))[:, 0, 0].min() > 5
    joint = estimate(reports, ["a", "b"], "castell")
    canvas = mosaic(joint, ChartData.of(joint, 0.95), 720)
    assert canvas is not None
    shades = {(box.cell["v0"], box.cell["v1"]): box.fill for box in canvas.boxes if box.cell}
    fewer, _, more = SHADES.values()
    same, differ = [("x", "x"), ("y", "y")], [("x", "y"), ("y", "x")]
    assert shades == dict.fromkeys(same, more) | dict.fromkeys(differ, fewer)


@pytest.mark.parametrize("method", methods_for(STUDY))
def test_every_method_can_be_drawn_in_every_kind(method: str) -> None:
    joint = _joint(2, method)
    assert [draw(joint, 0.95, kind).kind for kind in kinds(2)] == ["heat", "bars", "mosaic"]


def _hours(many: int) -> list[tuple[str, int]]:
    return [(f"2026-01-{1 + k // 24:02d}T{k % 24:02d}:00:00Z", k + 1) for k in range(many)]


def test_the_timeline_is_by_the_hour_and_for_long_collections_by_the_day() -> None:
    short = timeline(_hours(30))
    records = short["data"]["values"]
    assert [r["reports"] for r in records] == list(range(1, 31))
    assert records[0] == {
        "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T01:00:00Z", "reports": 1
    }  # fmt: skip
    assert "marks" in vl_convert.vegalite_to_vega(json.dumps(short))
    long = timeline(_hours(24 * 7))["data"]["values"]
    assert len(long) == 7
    assert long[0]["reports"] == sum(range(1, 25))
    assert long[6]["end"] == "2026-01-08T00:00:00Z"
