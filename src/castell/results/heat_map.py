"""A heat map: a table of two attributes in colours, with every share and its interval in words.

Of three attributes the first has a table for each of its values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from castell.results.canvas import BOLD, HEAT, Box, Canvas, Words, height_of, line_height
from castell.results.chart_data import ChartData, interval_text, share_text
from castell.results.text_lines import break_lines, is_broken, isolate, width_of

# Shares need so much room, and words that are broken at least so much.
_NARROWEST, _BREAKABLE = 54.0, 68.0
_USUAL, _WIDEST = 110.0, 150.0
MOST_LINES = 6
MOST_ROWS = 60
_BETWEEN = 32.0


@dataclass(frozen=True)
class _Grid:
    """Which axis goes down and which across, and the room for its names and columns."""

    down: int
    across: int
    left: float
    step: float


def heat_map(data: ChartData, room: float) -> Canvas | None:
    """None where so many values, or so long ones, cannot be read in this room."""
    one, other = len(data.labels) - 2, len(data.labels) - 1
    # Panels stand side by side where there is room.
    for panels in (2, 1) if len(data.labels) == 3 else (1,):
        part = (room - (panels - 1) * _BETWEEN) / panels
        for axes in ((one, other), (other, one)):
            grid = _grid(data, *axes, part, MOST_LINES // panels)
            if grid is not None:
                return _lay_out(data, grid, room, panels)
    return None


def _grid(data: ChartData, down: int, across: int, room: float, lines: int) -> _Grid | None:
    """None where names would need more lines than these, or columns are too narrow."""
    columns = data.values[across]
    if data.probabilities.size // len(columns) > MOST_ROWS:
        return None
    names = (*data.values[down], data.labels[down][:24])
    natural = max(width_of(name, 12) for name in names)
    # Names get what columns leave over; narrow columns leave some, too.
    usual = max(0.3 * room, 84.0, room - _USUAL * len(columns))
    narrowest = max(_NARROWEST, *(width_of(text, 11) + 6 for text in _intervals(data)))
    left = min(natural, usual, room - narrowest * len(columns) - 10) + 10
    step = min(_WIDEST, (room - left) / len(columns))
    inside = step - 6
    if step < narrowest or left < min(natural + 10, 80.0):
        return None
    if inside < _BREAKABLE and any(is_broken(value, inside, 12) for value in columns):
        return None
    if left - 10 < _BREAKABLE and any(is_broken(v, left - 10, 12) for v in data.values[down]):
        return None
    broken = [break_lines(value, inside, 12) for value in columns]
    if max(len(name) for name in broken) > MOST_LINES:
        return None
    if max(len(break_lines(value, left - 10, 12)) for value in data.values[down]) > lines:
        return None
    return _Grid(down, across, left, step)


def _lay_out(data: ChartData, grid: _Grid, room: float, columns: int) -> Canvas:
    boxes: list[Box] = []
    words: list[Words] = []
    top = max(float(np.nan_to_num(data.probabilities).max()), 1e-9)
    records = np.array(data.records(), dtype=object).reshape(data.probabilities.shape)
    panels = (
        [("", records)] if records.ndim == 2 else list(zip(data.values[0], records, strict=True))
    )
    y = 0.0
    for start in range(0, len(panels), columns):
        ends = []
        for k, (value, cells) in enumerate(panels[start : start + columns]):
            x = k * (room + _BETWEEN) / columns
            table = cells if grid.down < grid.across else cells.T
            head, names = _head(data, grid, x, y, value)
            end, found, numbers = _rows(data, grid, x, head, table, top)
            boxes += found
            words += names + numbers
            ends.append(end)
        y = max(ends) + (24 if records.ndim == 3 else 6)
    unit = break_lines(data.unit, room, 11)
    words.append(Words(0, y, unit, "tick"))
    return Canvas("heat", room, y + height_of(unit, "tick"), (), tuple(boxes), (), tuple(words))


def _rows(
    data: ChartData, grid: _Grid, x: float, y: float, table: Any, top: float
) -> tuple[float, list[Box], list[Words]]:
    """The cells of a panel, with the names of their rows, and where they end."""
    boxes, words = [], []
    for value, row in zip(data.values[grid.down], table, strict=True):
        lines = break_lines(value, grid.left - 10, 12)
        step = max(40.0, height_of(lines) + 8)
        middle = y + step / 2
        left = x + grid.left
        words.append(Words(left - 10, middle - height_of(lines) / 2, lines, align="right"))
        for record in row:
            # Also an empty cell is seen as one.
            depth = 0.06 + 0.94 * min(max(record["probability"] or 0.0, 0.0) / top, 1.0)
            right = left + grid.step
            boxes.append(Box(left + 1, right - 1, y + 1, y + step - 1, HEAT, depth, record))
            words += _numbers(record, (left + right) / 2, middle, data.digits)
            left = right
        y += step
    return y, boxes, words


def _head(
    data: ChartData, grid: _Grid, x: float, y: float, panel: str
) -> tuple[float, list[Words]]:
    """The names of the columns, above them what they are values of, and that of the rows."""
    words = []
    wide = grid.step * len(data.values[grid.across])
    if panel:
        about = f"{isolate(data.labels[0])}: {isolate(panel)}"
        heading = break_lines(about, (grid.left + wide) / BOLD, 13)
        words.append(Words(x, y, heading, "heading"))
        y += height_of(heading, "heading") + 8
    title = break_lines(data.labels[grid.across], wide, 12)
    columns = [break_lines(value, grid.step - 6, 12) for value in data.values[grid.across]]
    deep = max(height_of(lines) for lines in columns)
    side = break_lines(data.labels[grid.down], grid.left - 10, 12)
    end = y + max(height_of(title, "title") + 6 + deep, height_of(side, "title"))
    left = x + grid.left
    words += [
        Words(left, end - deep - 6 - height_of(title, "title"), title, "title"),
        Words(left - 10, end - height_of(side, "title"), side, "title", "right"),
    ]
    for k, lines in enumerate(columns):
        middle = left + (k + 0.5) * grid.step
        words.append(Words(middle, end - height_of(lines), lines, align="center"))
    return end + 6, words


def _intervals(data: ChartData) -> list[str]:
    return [interval_text(record, data.digits) for record in data.records()]


def _numbers(record: dict[str, Any], x: float, middle: float, digits: int) -> list[Words]:
    interval = interval_text(record, digits)
    share, small = line_height("number"), line_height("small")
    top = middle - (share + small) / 2 if interval else middle - share / 2
    found = [Words(x, top, (share_text(record, digits),), "number", "center")]
    if interval:
        found.append(Words(x, top + share, (interval,), "small", "center"))
    return found
