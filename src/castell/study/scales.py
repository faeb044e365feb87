"""Numbers and dates behind a closed list of values: which value a number or a day belongs to.

A study publishes its values as plain texts in order. Where they stand for numbers or days, it also
publishes the scale: what a device needs to find the value of a number. Numbers are published as
decimal texts, so that every language reads the same ones.

>>> ages = Bins.cut([18, 30, 45, 60])
>>> ages.labels
('under 18', '18 to 29', '30 to 44', '45 to 59', '60 and over')
>>> ages.codes(np.array([17.0, 18.0, 29.0, 80.0]))
array([0, 1, 1, 4])
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.errors import SchemaError

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

PERIODS = ("day", "month", "quarter", "year")
# Beyond that a closed list is none.
MOST_VALUES = 10_000
_NUMBER = re.compile(r"(?!-0$)-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", re.ASCII)


def decimal_text(number: object) -> str:
    """A number in its one form, without an exponent and without zeros at its end.

    >>> decimal_text(1e3), decimal_text(2.50), decimal_text(-0.0)
    ('1000', '2.5', '0')
    """
    try:
        found = Decimal(str(number))
    except InvalidOperation:
        found = Decimal("nan")
    if isinstance(number, bool) or not found.is_finite() or abs(found.adjusted()) > 300:
        raise SchemaError(f"{number!r} is no number", "write it in digits, such as 18 or 2.5")
    text = format(found.normalize(), "f")
    return "0" if text == "-0" else text


def ascending_texts(numbers: Iterable[object], what: str, least: int) -> tuple[str, ...]:
    """Numbers as texts; refused if they do not ascend."""
    if isinstance(numbers, (str, bytes)) or not isinstance(numbers, Iterable):
        raise SchemaError(f"{what} are {numbers!r}", "give a list of numbers")
    texts = tuple(decimal_text(number) for number in numbers)
    if any(float(a) >= float(b) for a, b in itertools.pairwise(texts)):
        raise SchemaError(f"{what} do not ascend", "list each number once, the smallest first")
    if len(texts) < least:
        raise SchemaError(f"{what} are {len(texts)}", f"give at least {least}")
    return texts


@dataclass(frozen=True)
class Bins:
    """Bins from each edge up to the next, without it; an edge that is None is open.

    The last edge, if there is one, belongs to the last bin. `whole`: only whole numbers occur.
    """

    edges: tuple[str | None, ...]
    whole: bool = True
    unit: str = ""

    @classmethod
    def cut(
        cls,
        bins: Iterable[object],
        ends: Sequence[object] | None = None,
        whole: bool | None = None,
        unit: str = "",
    ) -> Bins:
        """Bins that begin at some numbers, open below and above, or closed by two `ends`."""
        cuts = ascending_texts(bins, "the bins", 1)
        edges: tuple[str | None, ...] = (None, *cuts, None)
        if ends is not None:
            low, high = range_ends(ends)
            outside = [c for c in cuts if not float(low) <= float(c) <= float(high)]
            if outside:
                raise SchemaError(
                    f"the bin at {outside[0]} is outside the range {low} to {high}",
                    "widen the range or leave the bin out",
                )
            inner = [c for c in cuts if c not in (low, high)]
            edges = (low, *inner, high)
        every = all("." not in edge for edge in edges if edge is not None)
        if whole and not every:
            raise SchemaError("bins of whole numbers have a fraction", 'write type = "number"')
        return cls(edges, every if whole is None else whole, unit)

    @property
    def size(self) -> int:
        return len(self.edges) - 1

    @cached_property
    def limits(self) -> Floats:
        """The edges as numbers; open ones are infinite."""
        low, *inner, high = self.edges
        first = -np.inf if low is None else float(low)
        last = np.inf if high is None else float(high)
        return np.array([first, *(float(str(edge)) for edge in inner), last])

    @property
    def lower(self) -> Floats:
        """The least number of each bin."""
        return self.limits[:-1].copy()

    @property
    def upper(self) -> Floats:
        """The largest number of each bin, or what it stays below if fractions occur."""
        upper = self.limits[1:].copy()
        if self.whole:
            upper[:-1] -= 1.0
        return upper

    @property
    def labels(self) -> tuple[str, ...]:
        pairs = zip(self.edges[:-1], self.edges[1:], strict=True)
        return tuple(self._label(low, high, k) for k, (low, high) in enumerate(pairs))

    def _label(self, low: str | None, high: str | None, place: int) -> str:
        if low is None:
            return f"under {high}"
        if high is None:
            return f"{low} and over"
        if place == self.size - 1:
            return low if low == high else f"{low} to {high}"
        if not self.whole:
            return f"{low} to under {high}"
        last = decimal_text(Decimal(high) - 1)
        return low if last == low else f"{low} to {last}"

    def codes(self, numbers: Floats) -> Codes:
        """The bin of each number, -1 if it has none."""
        limits = self.limits
        found = np.searchsorted(limits[1:-1], numbers, side="right")
        known = (numbers >= limits[0]) & (numbers <= limits[-1]) & np.isfinite(numbers)
        if self.whole:
            with np.errstate(invalid="ignore"):
                known &= numbers == np.floor(numbers)
        return np.where(known, found, -1).astype(np.intp)

    def document(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"bins": list(self.edges), "unit": self.unit, "whole": self.whole}
        return {key: value for key, value in plain.items() if value}


@dataclass(frozen=True)
class Points:
    """Numbers to which others are rounded, up or down at random, so that means stay what they were.

    A number between two points becomes the upper one with the probability of its place between
    them (unbiased or stochastic rounding).
    """

    points: tuple[str, ...]
    unit: str = ""

    @property
    def size(self) -> int:
        return len(self.points)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.points

    @cached_property
    def limits(self) -> Floats:
        return np.array([float(point) for point in self.points])

    def codes(self, numbers: Floats, chances: Floats) -> Codes:
        """The point of each number, -1 if it lies outside; `chances` are uniform from 0 to 1."""
        limits = self.limits
        known = (numbers >= limits[0]) & (numbers <= limits[-1])
        inside = np.where(known, numbers, limits[0])
        low = np.clip(np.searchsorted(limits, inside, side="right") - 1, 0, self.size - 2)
        place = (inside - limits[low]) / (limits[low + 1] - limits[low])
        return np.where(known, low + (chances < place), -1).astype(np.intp)

    def document(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"points": list(self.points), "unit": self.unit}
        return {key: value for key, value in plain.items() if value}


@dataclass(frozen=True)
class Period:
    """Days by the month, the quarter or the year they are in, or as they are."""

    period: str
    labels: tuple[str, ...]

    @classmethod
    def between(cls, period: str, ends: Sequence[object]) -> Period:
        if period not in PERIODS:
            raise SchemaError(f"the period is {period!r}", f"use one of {', '.join(PERIODS)}")
        if isinstance(ends, str) or len(ends) != 2:
            raise SchemaError(f"the range is {ends!r}", "give the first and the last day")
        first, last = (_day(str(end)) for end in ends)
        if first is None or last is None or last < first:
            raise SchemaError(
                f"the range is {ends[0]} to {ends[1]}",
                "give the first and the last day, such as 2024-01-01",
            )
        days = (date.fromordinal(n) for n in range(first.toordinal(), last.toordinal() + 1))
        return cls(period, tuple(dict.fromkeys(_in_period(day, period) for day in days)))

    @property
    def size(self) -> int:
        return len(self.labels)

    def text(self, written: str) -> str:
        """The period of a day as written in files: 2024-03-31, also with a time.

        >>> Period("quarter", ()).text("2024-03-31 12:30:00")
        '2024-Q1'
        """
        day = _day(written, whole=True)
        return written if day is None else _in_period(day, self.period)

    def document(self) -> dict[str, Any]:
        return {"period": self.period}


Scale = Bins | Points | Period


def range_ends(ends: object) -> tuple[str, str]:
    """The two ends of a range of numbers."""
    if isinstance(ends, (str, bytes)) or not isinstance(ends, Iterable):
        raise SchemaError(f"the range is {ends!r}", "give two numbers, such as [0, 120]")
    texts = ascending_texts(ends, "the ends of the range", 2)
    if len(texts) != 2:
        raise SchemaError(f"the range has {len(texts)} ends", "give the least and the largest")
    return texts[0], texts[1]


def each_whole_number(ends: object) -> tuple[str, ...]:
    """Every whole number of a range."""
    low, high = range_ends(ends)
    if "." in low + high:
        raise SchemaError(f"the range {low} to {high} has a fraction", "give whole numbers or bins")
    if int(high) - int(low) >= MOST_VALUES:
        raise SchemaError(f"the range {low} to {high} is long", "cut it: bins = [...]")
    return tuple(str(number) for number in range(int(low), int(high) + 1))


def scale_of(document: object, values: Sequence[str]) -> Scale:
    """A published scale, read strictly; `values` are those on it."""
    entries = dict(document) if isinstance(document, Mapping) else {}
    unit = entries.pop("unit", "")
    if isinstance(unit, str):
        match entries:
            case {"period": str(period), **rest} if not (rest or unit) and period in PERIODS:
                return Period(period, tuple(values))
            case {"points": list(points), **rest} if not rest and _ascend(points, 2):
                return Points(tuple(points), unit)
            case {"bins": list(edges), **rest} if rest in ({}, {"whole": True}):
                # Open at both ends, or at none.
                whole, is_open = bool(rest), edges[:1] == edges[-1:] == [None]
                listed = edges[1:-1] if is_open else edges
                fraction = whole and any("." in str(edge) for edge in listed)
                if _ascend(listed, 1 if is_open else 2) and not fraction:
                    return Bins(tuple(edges), whole, unit)
    raise SchemaError("the scale of an attribute is broken", "take the published study again")


def _ascend(numbers: Sequence[object], least: int) -> bool:
    """Whether these are numbers as they are published, in order."""
    texts = [n for n in numbers if isinstance(n, str) and len(n) < 300 and _NUMBER.fullmatch(n)]
    pairs = itertools.pairwise(texts)
    return len(numbers) == len(texts) >= least and all(float(a) < float(b) for a, b in pairs)


def _day(written: str, whole: bool = False) -> date | None:
    """A day; of a range also a month or a year, by its first day."""
    parts = written.strip().replace("T", " ").split(" ")[0].split("-")
    if not whole:
        parts += ["01"] * (3 - len(parts))
    if len(parts) != 3 or not all(re.fullmatch(r"[0-9]{1,4}", p, re.ASCII) for p in parts):
        return None
    try:
        return date(*(int(part) for part in parts))
    except ValueError:
        return None


def day_of(label: str) -> str:
    """The first day of a period, or what of it is written.

    >>> day_of("2024-Q3"), day_of("2024-03")
    ('2024-07', '2024-03')
    """
    year, mark, quarter = label.partition("-Q")
    return f"{year}-{3 * int(quarter) - 2:02}" if mark else label


def _in_period(day: date, period: str) -> str:
    if period == "quarter":
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    return day.isoformat()[: {"day": 10, "month": 7, "year": 4}[period]]
