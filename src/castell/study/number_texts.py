"""Numbers as files write them: decimals after a point or a comma, thousands parted or not.

A text says one number or none. "12,345" may be two, and one comma tells nothing of which;
"1.234,50" and "1,234,567" are one number each, since two marks cannot both part decimals. People
who type a number part no thousands: `number_of` is what the browser reads too (`client/scale.js`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLAIN = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?", re.ASCII)
_COMMA = re.compile(r"-?[0-9]+,[0-9]+", re.ASCII)
_PARTED = re.compile(
    r"([-+]?)([1-9][0-9]{0,2}(?:([.,'\u2019 \u00a0\u202f])[0-9]{3})(?:\3[0-9]{3})*)"
    r"(?:([.,])([0-9]+))?",
    re.ASCII,
)
_ONE_POINT = re.compile(r"[-+]?[1-9][0-9]{0,2}\.[0-9]{3}", re.ASCII)


def may_be_two_numbers(text: str) -> bool:
    """Whether a comma may part thousands or decimals.

    >>> [may_be_two_numbers(text) for text in ("12,345", "12,34", "1,234,567", "0,345")]
    [True, False, False, False]
    """
    return re.fullmatch(r"-?[1-9][0-9]*,[0-9]{3}", text.strip(), re.ASCII) is not None


def number_of(text: str) -> float:
    """The number that a text says; not a number if it says none, or may say two.

    >>> number_of("1.5e3"), number_of(" 2,5 "), number_of("12,345"), number_of("1.234,50")
    (1500.0, 2.5, nan, nan)
    """
    text = text.strip()
    if _COMMA.fullmatch(text) and not may_be_two_numbers(text):
        text = text.replace(",", ".")
    return float(text) if _PLAIN.fullmatch(text) else float("nan")


def number_in_file(text: str) -> float:
    """The same of a text of a file, where thousands may be parted.

    >>> [number_in_file(text) for text in ("1.234,50", "1,234.50", "1 234", "1,234,567", "12,345")]
    [1234.5, 1234.5, 1234.0, 1234567.0, nan]
    """
    if (parts := _parts(text.strip())) is None:
        return number_of(text)
    sign, whole, _, _, decimals = parts.groups()
    return float(f"{sign}{re.sub('[^0-9]', '', whole)}.{decimals or 0}")


def numbers_of_column(texts: Sequence[str]) -> list[float]:
    """The numbers of a column: where one comma can only part decimals, all of them do.

    >>> numbers_of_column(["1,250", "0,5"]), numbers_of_column(["1,250", "2"])
    ([1.25, 0.5], [nan, 2.0])
    """
    commas = [text.strip() for text in texts if "," in text]
    decimal = all(map(_COMMA.fullmatch, commas))
    if decimal and not all(map(may_be_two_numbers, commas)):
        return [number_of(text.replace(",", ".")) for text in texts]
    return [number_in_file(text) for text in texts]


def is_parted_by_points(text: str) -> bool:
    """Whether points part thousands in it: then they may in the other texts of its column.

    >>> is_parted_by_points("1.234,50"), is_parted_by_points("2.500")
    (True, False)
    """
    found = _parts(text.strip())
    return found is not None and found[3] == "."


def may_be_parted_by_a_point(text: str) -> bool:
    """Whether its one point parts thousands, if points do in others of its column.

    >>> may_be_parted_by_a_point("2.500"), may_be_parted_by_a_point("2.5")
    (True, False)
    """
    return _ONE_POINT.fullmatch(text.strip()) is not None


def _parts(text: str) -> re.Match[str] | None:
    """The parts of a number whose thousands are parted beyond doubt."""
    found = _PARTED.fullmatch(text)
    if found is None or found[3] == found[4]:
        return None
    twice = found[2].count(found[3]) > 1
    return found if found[3] not in ".," or found[4] or twice else None
