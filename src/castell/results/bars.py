"""Bars of shares with their intervals: for a table of any width, one row for each cell."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Any

import numpy as np

from castell.linear.operators import Floats
from castell.results.canvas import (
    BLUE,
    GRID,
    INK,
    MUTED,
    TRUTH,
    Box,
    Canvas,
    Line,
    Words,
    height_of,
    line_height,
)
from castell.results.chart_data import ChartData, share_text
from castell.results.text_lines import break_lines, width_of

# More rows than these are no longer read; of several attributes a phone shows fewer.
MOST_BARS, MOST_ON_A_PHONE = 40, 20
# Less room than this is a phone's.
NARROW = 500
_THICK = 16.0
_NUMBERS = 58.0  # the column of shares as numbers


def bars(data: ChartData, room: float, truth: Floats | None = None) -> Canvas:
    """A bar for each cell, the largest ones where there are many; `truth` is marked where known."""
    size = data.probabilities.size
    most = MOST_BARS if room >= NARROW or len(data.labels) == 1 else MOST_ON_A_PHONE
    rows = np.arange(size)
    if size > most:
        shares = np.nan_to_num(data.probabilities.ravel(), nan=-np.inf)
        rows = np.argsort(-shares, kind="stable")[:most]
    records = data.records(rows)
    if truth is not None:
        known = np.asarray(truth).ravel()[rows].tolist()
        records = [record | {"truth": t} for record, t in zip(records, known, strict=True)]
    said = f"The {most} largest of {size:,} cells; {size - most:,} smaller ones are left out."
    return _lay_out(data, records, room, said if size > most else "")


def _lay_out(data: ChartData, records: list[dict[str, Any]], room: float, said: str) -> Canvas:
    longest = max(width_of(record["cell"], 12) for record in records) + 2
    above = room < NARROW and longest > 0.36 * room  # names get lines of their own
    left = 10.0 if above else min(longest, 0.42 * room) + 10
    right = room - _NUMBERS
    low, high = _ends(records)
    ticks = _ticks(low, high, 4 if right - left < 280 else 6)

    def place(share: float) -> float:
        return left + (share - low) / (high - low) * (right - left)

    words, boxes, over = _legend(records, left)
    under: list[Line] = []
    top = 22.0 if words else 0.0
    y = top = top + (20.0 if len(records) > 12 else 6.0)
    for record in records:
        lines = break_lines(record["cell"], room if above else left - 10, 12)
        name = height_of(lines)
        step = name + _THICK + 14 if above else max(name + 8, _THICK + 8)
        middle = y + name + 3 + _THICK / 2 if above else y + step / 2
        words += [
            Words(0, y, lines)
            if above
            else Words(left - 10, middle - name / 2, lines, align="right"),
            Words(
                room,
                middle - line_height("number") / 2,
                (share_text(record, data.digits),),
                "number",
                "right",
            ),
        ]
        # Lines of the axis pass the names by.
        start = middle - _THICK / 2 - 3 if above else y
        under += [_tick_line(place(t), start, y + step - 5 * above, t) for t in ticks]
        boxes += _bar(record, place, middle)
        boxes.append(Box(0, room, y, y + step, GRID, 0.0, record))  # where the pointer finds it
        over += _interval(record, place, middle)
        y += step
    sides = [y + 4, top - 18] if len(records) > 12 else [y + 4]
    words += [
        Words(place(t), s, (f"{100 * t:.6g}%",), "tick", "center") for s in sides for t in ticks
    ]
    unit = break_lines(data.unit, room - left, 11)
    words.append(Words(left, y + 22, unit, "tick"))
    height = y + 22 + height_of(unit, "tick")
    return Canvas("bars", room, height, tuple(under), tuple(boxes), tuple(over), tuple(words), said)


def _tick_line(x: float, top: float, end: float, share: float) -> Line:
    return Line(x, top, x, end, MUTED if share == 0 else GRID)


def _legend(
    records: list[dict[str, Any]], left: float
) -> tuple[list[Words], list[Box], list[Line]]:
    """What the marks mean, where there is more than one."""
    if "truth" not in records[0]:
        return [], [], []
    second = left + 20 + width_of("estimate and interval", 12) + 16
    words = [Words(left + 20, 0, ("estimate and interval",)), Words(second + 12, 0, ("truth",))]
    lines = [Line(left, 7, left + 14, 7, INK, 1.5), Line(second + 4, 0, second + 4, 14, TRUTH, 3)]
    return words, [Box(left, left + 9, 1, 13, BLUE, 0.75)], lines


def _ends(records: list[dict[str, Any]]) -> tuple[float, float]:
    known = [
        record[key]
        for record in records
        for key in ("lower", "upper", "probability", "truth")
        if record.get(key) is not None
    ]
    low, high = min(0.0, *known, 0.0), max(1e-3, *known, 0.0)
    return low, high


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Round shares between two, not too many.

    >>> _ticks(-0.01, 0.23, 6)
    [0.0, 0.05, 0.1, 0.15, 0.2]
    """
    rough = (high - low) / most
    unit = 10.0 ** floor(log10(rough))
    step = next(k * unit for k in (1, 2, 5, 10) if k * unit >= rough * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def _bar(record: dict[str, Any], place: Any, middle: float) -> list[Box]:
    share = record["probability"]
    if share is None:
        return []
    start, end = sorted((place(0.0), place(share)))
    return [Box(start, end, middle - _THICK / 2, middle + _THICK / 2, BLUE, 0.75)]


def _interval(record: dict[str, Any], place: Any, middle: float) -> list[Line]:
    found = []
    low, high = record["lower"], record["upper"]
    if low is not None and high is not None:
        ends = (place(low), place(high))
        found = [Line(ends[0], middle, ends[1], middle, INK, 1.5)]
        found += [Line(end, middle - 4, end, middle + 4, INK, 1.5) for end in ends]
    if record.get("truth") is not None:
        t = place(record["truth"])
        found.append(Line(t, middle - 10, t, middle + 10, TRUTH, 3))
    return found
