"""Nothing cut, nothing on top of another: charts of a study that is hard to draw, in any room."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from castell import JointEstimate, fit
from castell.collector.results.charts import ROOMS
from castell.collector.results.mosaic import mosaic
from castell.collector.results.mosaic_values import Side
from castell.results.bars import bars
from castell.results.canvas import BOLD, ROLES, Canvas, Words, height_of
from castell.results.chart_data import ChartData, interval_text
from castell.results.heat_map import heat_map
from castell.results.model import Model
from castell.results.text_lines import break_lines, spread_out, width_of
from tests.collector.results.hard_labels import SCHEMA, TABLES, hard_reports

Rectangle = tuple[float, float, float, float]


@cache
def _model() -> Model:
    return fit(hard_reports(), "castell")


@cache
def _drawn(names: tuple[str, ...]) -> tuple[JointEstimate, ChartData]:
    joint = _model().estimate(list(names))
    labels = tuple(SCHEMA[name].question for name in names)
    return joint, replace(ChartData.of(joint, 0.95), labels=labels)


def _canvases(names: tuple[str, ...], room: float) -> list[Canvas]:
    joint, data = _drawn(names)
    if len(names) == 1:
        return [bars(data, room)]
    found = [bars(data, room), heat_map(data, room), mosaic(joint, data, room)]
    return [canvas for canvas in found if canvas is not None]


def _rectangles(words: Words) -> list[Rectangle]:
    """The place of each line: left, right, top and bottom."""
    size = ROLES[words.role][0]
    step = height_of(("",), words.role)
    found = []
    for k, line in enumerate(words.lines):
        wide = width_of(line, size) * (BOLD if words.role == "heading" else 1.0)
        left = words.x - {"left": 0.0, "center": wide / 2, "right": wide}[words.align]
        found.append((left, left + wide, words.y + k * step, words.y + k * step + size))
    return found


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return (
        min(one[1], other[1]) - max(one[0], other[0]) > 0.5
        and min(one[3], other[3]) - max(one[2], other[2]) > 0.5
    )


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("names", TABLES, ids="-".join)
def test_words_are_inside_and_apart(names: tuple[str, ...], room: int) -> None:
    for canvas in _canvases(names, room):
        lines = [
            (line, text)
            for w in canvas.words
            for line, text in zip(_rectangles(w), w.lines, strict=True)
        ]
        for (left, right, top, bottom), text in lines:
            assert left >= -0.5, (canvas.kind, text)
            assert right <= room + 0.5, (canvas.kind, text)
            assert top >= -20, (canvas.kind, text)  # an axis may stand above the first row
            assert bottom <= canvas.height + 0.5, (canvas.kind, text)
        on = [(a, b) for (r, a), (s, b) in combinations(lines, 2) if _overlap(r, s)]
        assert on == [], canvas.kind


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("names", TABLES, ids="-".join)
def test_whole_labels_stand_in_charts(names: tuple[str, ...], room: int) -> None:
    """Every value that has a place is written out, to the last letter."""
    for canvas in _canvases(names, room):
        written = {"".join(w.lines).replace(" ", "").replace("-", "") for w in canvas.words}
        for cell in [box.cell for box in canvas.boxes if box.cell]:
            values = [cell[f"v{k}"] for k in range(len(names))]
            wanted = [cell["cell"]] if canvas.kind == "bars" else values[-2:]
            for text in wanted:
                assert text.replace(" ", "").replace("-", "") in written, canvas.kind


def test_every_word_can_be_read() -> None:
    assert min(size for size, _ in ROLES.values()) >= 11


@pytest.mark.parametrize("room", ROOMS)
def test_intervals_and_units_are_in_every_chart(room: int) -> None:
    for names in TABLES:
        digits = _drawn(names)[1].digits
        for canvas in _canvases(names, room):
            text = " ".join(line for w in canvas.words for line in w.lines)
            if canvas.kind == "bars":
                cells = {box.cell["cell"] for box in canvas.boxes if box.cell}
                assert sum(line.width == 1.5 for line in canvas.over) == 3 * len(cells)
            else:
                drawn = {interval_text(box.cell, digits) for box in canvas.boxes if box.cell}
                written = {line for w in canvas.words if w.role == "small" for line in w.lines}
                assert written
                assert written <= drawn
            if canvas.kind != "mosaic":
                assert "share of respondents, with 95% intervals" in text
            assert "%" in text


def test_shares_that_are_not_known_are_drawn_as_that() -> None:
    _, data = _drawn(("vote", "tongue"))
    numbers = np.array(data.numbers)
    numbers[:, 0, 0] = np.nan
    holed = replace(data, numbers=numbers)
    for canvas in (bars(holed, 720), heat_map(holed, 720)):
        assert canvas is not None
        assert "not known" in [line for w in canvas.words for line in w.lines]


def test_what_is_put_together_keeps_its_sum() -> None:
    side = Side(("a", "2 others"), (0,), (1, 2))
    table = np.array([[0.1, 0.2], [0.3, 0.1], [0.1, 0.2]])
    assert side.sums(table, 0) == pytest.approx(np.array([[0.1, 0.2], [0.4, 0.3]]))
    assert side.together_share(table.sum(axis=1)) == pytest.approx(0.7)


def test_labels_are_spread_no_further_than_needed() -> None:
    placed = spread_out([95, 96, 97], [10, 10, 10], 100)
    assert placed is not None
    assert placed.tolist() == [75, 85, 95]
    assert np.diff(placed).min() >= 10


def test_lines_are_no_wider_than_their_room() -> None:
    for attribute in SCHEMA:
        for text in (*attribute.values, attribute.question):
            for room in (60, 90, 200):
                lines = break_lines(text, room, 12)
                assert max(width_of(line, 12) for line in lines) <= room
                assert "".join(lines).replace(" ", "").replace("-", "") == text.replace(
                    " ", ""
                ).replace("-", "")
