"""A mosaic: shares as areas, in colour where two attributes go together by more than noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from castell.collector.results.mosaic_values import BETWEEN, NAME, Side, across, down
from castell.inference.postprocess import simplex
from castell.linear.operators import Floats
from castell.results.canvas import BOLD, MUTED, Box, Canvas, Line, Words, height_of, line_height
from castell.results.chart_data import ChartData, interval_text, share_text
from castell.results.joint import JointEstimate
from castell.results.text_lines import break_lines, isolate, quote_text, spread_out, width_of

GAP = 1.5
MOST_PANELS = 8
# What is put together may be half of everybody at most, and a name so many pixels from its tile.
MOST_TOGETHER, FARTHEST = 0.5, 60.0
# So many of the tiles have room for their share and its interval.
LEAST_WRITTEN = 0.4
# A departure from independence that noise alone makes in one cell of some twenty.
NOISE = 2.0
SHADES = {
    "fewer than if unrelated": "#eab08d",
    "within noise": "#dfe5eb",
    "more than if unrelated": "#9dc3ea",
}
# Sums of cells have no error of their own here.
TOGETHER = {"several values together, not tested": "#f1efe6"}


def tiles(table: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Left, right, bottom and top of each cell's tile in a square: its area is its share.

    The first axis divides the width, the second the height of each of its columns from the top.

    >>> left, right, bottom, top = tiles(np.array([[0.2, 0.2], [0.6, 0.0]]))
    >>> ((right - left) * (top - bottom)).round(12)
    array([[0.2, 0.2],
           [0.6, 0. ]])
    """
    table = table / table.sum()
    widths = table.sum(axis=1)
    right = np.cumsum(widths)[:, None] + np.zeros_like(table)
    heights = np.divide(table, widths[:, None], where=widths[:, None] > 0, out=np.zeros_like(table))
    top = 1.0 - (np.cumsum(heights, axis=1) - heights)
    return right - widths[:, None], right, top - heights, top


def departures(joint: JointEstimate) -> Floats:
    """How far each cell is from what independence would give, in its standard errors.

    Of three attributes the first tells the panels apart: independence is that of the other two
    within each.
    """
    table = joint.unprocessed
    within = table.sum(axis=(-2, -1), keepdims=True)
    rows, columns = table.sum(axis=-1, keepdims=True), table.sum(axis=-2, keepdims=True)
    safe = np.where(np.abs(within) > 1e-12, within, np.inf)
    errors = np.maximum(joint.standard_errors, 1e-12)
    result: Floats = (table - rows * columns / safe) / errors
    return result


@dataclass(frozen=True)
class _Square:
    """A panel: the room for names, the left and top of its tiles, its sides and their values."""

    names: float
    x: float
    y: float
    width: float
    height: float
    across: Side
    down: Side


def mosaic(joint: JointEstimate, data: ChartData, room: float) -> Canvas | None:
    """Two attributes in a rectangle; of three the first has one for each of its values.

    None where those are too many, names would be far from their tiles, or tiles have no room for
    numbers.
    """
    if len(joint.shape) == 3 and joint.shape[0] > MOST_PANELS:
        return None
    # Panels stand side by side where there is room.
    found = _lay_out(joint, data, room, 2) if len(joint.shape) == 3 and room >= 640 else None
    return found or _lay_out(joint, data, room, 1)


def _lay_out(joint: JointEstimate, data: ChartData, room: float, columns: int) -> Canvas | None:
    table = simplex(joint.unprocessed).reshape(-1, *joint.shape[-2:])
    part = (room - (columns - 1) * 36) / columns
    natural = max(width_of(value, 12) for value in data.values[-1])
    left = min(natural, 0.26 * part if part > 400 else 0.3 * part) + 14
    wide, high = part - left, 300.0 if columns == 2 or room < 500 else 380.0
    margins = table.sum(axis=(0, 2)), table.sum(axis=(0, 1))
    sides = (
        across(data.values[-2], margins[0], wide),
        down(data.values[-1], margins[1], left - 14, high),
    )
    if any(
        side.together_share(shares) > MOST_TOGETHER
        for side, shares in zip(sides, margins, strict=True)
    ):
        return None
    boxes: list[Box] = []
    lines: list[Line] = []
    words, y = _title(data, room)
    records = np.array(data.records(), dtype=object).reshape(table.shape)
    far = departures(joint).reshape(table.shape)
    # Nobody is estimated to have a value: there is nothing to divide.
    panels = [k for k in range(len(table)) if table[k].sum() > 0]
    for start in range(0, len(panels), columns):
        ends = []
        for place, k in enumerate(panels[start : start + columns]):
            x = place * (part + 36)
            heading = _heading(data, k, part)
            words += [Words(x, y, heading, "heading")] if heading else []
            top = y + (height_of(heading, "heading") + 8 if heading else 0)
            square = _Square(left - 14, x + left, top, wide, high, *sides)
            found = _tiles(square, table[k], far[k], records[k], data.digits)
            boxes += found[0]
            words += found[1]
            end, marks, names = _names(square, table[k])
            lines += marks
            words += names
            ends.append(end)
        y = max(ends) + 20
    tested = sum(box.cell is not None for box in boxes)
    if sum(each.role == "small" for each in words) < LEAST_WRITTEN * tested:
        return None
    if max(abs(line.x2 - line.x) + abs(line.y2 - line.y) for line in lines) > FARTHEST:
        return None
    end, keys, texts = _legend(boxes, room, y)
    return Canvas(
        "mosaic", room, end, (), (*boxes, *keys), tuple(lines), (*words, *texts), _said(data, sides)
    )


def _said(data: ChartData, sides: tuple[Side, Side]) -> str:
    """What was put together for want of room."""
    parts = [
        f"{len(side.together)} of {len(values)} values of {quote_text(label)}"
        for side, values, label in zip(sides, data.values[-2:], data.labels[-2:], strict=True)
        if side.together
    ]
    return f"The smallest are put together as others: {' and '.join(parts)}." if parts else ""


def _title(data: ChartData, room: float) -> tuple[list[Words], float]:
    lines = [
        line
        for side, label in zip(("Across", "Down"), data.labels[-2:], strict=True)
        for line in break_lines(f"{side}: {isolate(label)}", room, 12)
    ]
    words = Words(0, 0, tuple(lines), "title")
    return [words], height_of(words.lines, "title") + 10


def _heading(data: ChartData, panel: int, room: float) -> tuple[str, ...]:
    if len(data.labels) < 3:
        return ()
    return break_lines(
        f"{isolate(data.labels[0])}: {isolate(data.values[0][panel])}", room / BOLD, 13
    )


def _tiles(
    square: _Square, table: Floats, far: Floats, records: Any, digits: int
) -> tuple[list[Box], list[Words]]:
    sums = square.down.sums(square.across.sums(table, 0), 1)
    edges = tiles(sums)
    several = np.logical_or.outer(square.across.mask(), square.down.mask())
    boxes, words = [], []
    for i, j in np.ndindex(sums.shape):
        left, right, bottom, top = (float(edge[i, j]) for edge in edges)
        x, x2 = square.x + left * square.width, square.x + right * square.width
        y, y2 = square.y + (1 - top) * square.height, square.y + (1 - bottom) * square.height
        if several[i, j]:
            fill, record = next(iter(TOGETHER.values())), None
            text = (f"{sums[i, j]:.{digits}%}", "")
        else:
            at = square.across.kept[i], square.down.kept[j]
            record = records[at]
            fill = _shade(float(far[at]))
            text = share_text(record, digits), interval_text(record, digits)
        aside, above = min(GAP, (x2 - x) / 4), min(GAP, (y2 - y) / 4)
        boxes.append(Box(x + aside, x2 - aside, y + above, y2 - above, fill, cell=record))
        words += _numbers(x, x2, y, y2, text)
    return boxes, words


def _shade(z: float) -> str:
    fewer, noise, more = SHADES.values()
    return more if z > NOISE else fewer if z < -NOISE else noise


def _numbers(x: float, x2: float, y: float, y2: float, text: tuple[str, str]) -> list[Words]:
    """What can be written in a tile: its share and interval, its share, or nothing."""
    share, interval = text
    middle, center = (x + x2) / 2, (y + y2) / 2
    tall, small = line_height("number"), line_height("small")
    if x2 - x < width_of(share, 12) + 4 or y2 - y < tall + 4:
        return []
    if not interval or x2 - x < width_of(interval, 11) + 4 or y2 - y < tall + small + 6:
        return [Words(middle, center - tall / 2, (share,), "number", "center")]
    top = center - (tall + small) / 2
    return [
        Words(middle, top, (share,), "number", "center"),
        Words(middle, top + tall, (interval,), "small", "center"),
    ]


def _names(square: _Square, table: Floats) -> tuple[float, list[Line], list[Words]]:
    """The names along the left and the bottom, as near to their tiles as they can be."""
    sums = square.down.sums(square.across.sums(table, 0), 1)
    left, right, bottom, top = tiles(sums)
    lines, words = [], []
    centers = (1 - (bottom[0] + top[0]) / 2) * square.height
    rows = [break_lines(name, square.names, 12) for name in square.down.names]
    places = spread_out(centers.tolist(), [height_of(row) + 4 for row in rows], square.height)
    for center, place, row in zip(
        centers, centers if places is None else places, rows, strict=True
    ):
        at, x = square.y + float(place), square.x
        words.append(Words(x - 14, at - height_of(row) / 2, row, align="right"))
        lines.append(Line(x - 11, at, x - 2, square.y + float(center), MUTED))
    end = square.y + square.height
    middles = ((left[:, 0] + right[:, 0]) / 2 * square.width).tolist()
    wides = ((right[:, 0] - left[:, 0]) * square.width).tolist()
    columns, spots = _columns(square, middles, wides)
    for middle, spot, column in zip(middles, spots, columns, strict=True):
        words.append(Words(square.x + spot, end + 13, column, align="center"))
        lines.append(Line(square.x + middle, end + 2, square.x + spot, end + 11, MUTED))
    return end + 13 + max(height_of(column) for column in columns), lines, words


def _columns(
    square: _Square, middles: list[float], wides: list[float]
) -> tuple[list[tuple[str, ...]], list[float]]:
    """Names of columns, as wide as these where all of them fit, else narrower."""
    for most in ([max(NAME, wide - BETWEEN) for wide in wides], [NAME] * len(wides)):
        columns = [break_lines(n, m, 12) for n, m in zip(square.across.names, most, strict=True)]
        sizes = [max(width_of(line, 12) for line in lines) + BETWEEN for lines in columns]
        spots = spread_out(middles, sizes, square.width)
        if spots is not None:
            return columns, spots.tolist()
    return columns, middles


def _legend(boxes: list[Box], room: float, y: float) -> tuple[float, list[Box], list[Words]]:
    """What the colours mean: those that are there."""
    used = {box.fill for box in boxes}
    keys, words, x = [], [], 0.0
    for text, fill in (SHADES | TOGETHER).items():
        if fill not in used:
            continue
        wide = 20 + width_of(text, 12)
        if x and x + wide > room:
            x, y = 0.0, y + 19
        keys.append(Box(x, x + 12, y + 1, y + 13, fill))
        words.append(Words(x + 18, y, (text,)))
        x += wide + 14
    return y + 17, keys, words
