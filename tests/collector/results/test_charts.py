"""Charts: valid Vega-Lite of the numbers asked for, by every kind and width."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import vl_convert

from castell import Attribute, CastellError, JointEstimate, Schema, Study, estimate, methods_for
from castell.collector.results import charts
from castell.collector.results.charts import MOST_BARS, kinds, timeline
from castell.collector.results.mosaic import SHADES, departures, tiles
from castell.results.chart_data import ChartData
from tests.collector.results.stores import STUDY, reports_of

NAMES = ("age", "smokes", "health", "region")
REPORTS = reports_of(3000)


def _joint(width: int, method: str = "castell") -> JointEstimate:
    return estimate(REPORTS, NAMES[:width], method)


def draw(joint: JointEstimate, level: float, kind: str) -> tuple[str, dict[str, Any]]:
    return charts.draw(ChartData.of(joint, level), kind, joint)


def _values(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of a chart, wherever it keeps them."""
    data = next(
        part["data"] for part in [spec, *spec.get("layer", [])] if "values" in part.get("data", {})
    )
    records: list[dict[str, Any]] = data["values"]
    return records


@pytest.mark.parametrize(("width", "kind"), [(w, k) for w in (1, 2, 3, 4) for k in kinds(w)])
def test_every_kind_compiles_to_vega(width: int, kind: str) -> None:
    drawn, spec = draw(_joint(width), 0.95, kind)
    assert drawn == kind
    assert "marks" in vl_convert.vegalite_to_vega(json.dumps(spec))


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_auto_is_the_first_kind(width: int) -> None:
    assert draw(_joint(width), 0.95, "auto")[0] == kinds(width)[0]


def test_large_tables_are_shown_by_their_largest_cells() -> None:
    schema = Schema([Attribute(n, [f"{n}{k}" for k in range(30)]) for n in ("a", "b")])
    codes = {n: np.arange(900) // d % 30 for n, d in (("a", 1), ("b", 30))}
    answers = {n: np.array(schema[n].values, dtype=object)[c] for n, c in codes.items()}
    reports = Study(schema, epsilon=12.0).randomize(answers, seed=1)
    kind, spec = draw(estimate(reports, ["a", "b"], "castell"), 0.95, "auto")
    assert kind == "bars"
    assert "40 largest of 900" in spec["title"]["text"]
    many = Study(Schema([Attribute("c", [str(k) for k in range(60)])]), epsilon=6.0)
    alone = many.randomize({"c": np.array([str(k % 60) for k in range(600)])}, seed=1)
    kind, spec = draw(estimate(alone, "c", "castell"), 0.95, "auto")
    assert kind == "bars"
    assert "40 largest of 60" in spec["title"]["text"]


def test_a_kind_that_does_not_fit_is_refused() -> None:
    with pytest.raises(CastellError, match="no mosaic chart of 4 attributes: take bars"):
        draw(_joint(4), 0.95, "mosaic")


def test_bars_hold_the_numbers_and_no_more_than_can_be_read() -> None:
    joint = _joint(2)
    _, spec = draw(joint, 0.9, "bars")
    bars = [r for layer in spec["layer"] for r in layer.get("data", {}).get("values", ())]
    bars = [r for r in bars if "probability" in r]
    low, high = joint.conf_int(0.9)
    assert [r["probability"] for r in bars[:12]] == joint.probabilities.ravel().tolist()
    assert [r["lower"] for r in bars[:12]] == low.ravel().tolist()
    assert [r["upper"] for r in bars[:12]] == high.ravel().tolist()
    _, wide = draw(_joint(4), 0.95, "bars")
    cells = {r["cell"] for layer in wide["layer"] for r in layer["data"]["values"] if "cell" in r}
    assert len(cells) == MOST_BARS
    assert "40 largest of 192" in wide["title"]["text"]


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
    _, spec = draw(estimate(reports, ["a", "b"], "castell"), 0.95, "mosaic")
    shades = [r["shade"] for r in _values(spec) if "shade" in r]
    fewer, _, more = SHADES
    assert shades == [more, fewer, fewer, more]


@pytest.mark.parametrize("method", methods_for(STUDY))
def test_every_method_can_be_drawn_in_every_kind(method: str) -> None:
    joint = _joint(2, method)
    assert [draw(joint, 0.95, kind)[0] for kind in kinds(2)] == ["heat", "bars", "mosaic"]


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
