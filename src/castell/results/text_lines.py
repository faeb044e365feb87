"""How wide a text is, where it breaks into lines, and where labels go that would overlap.

Vega breaks no lines and moves no labels. Which font a browser takes is not known here, so widths
are those of a wide one: with any other a text takes less room than was kept for it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from castell.linear.operators import Floats

# Shares of the font size, rounded up from DejaVu Sans, the widest of the usual fonts.
_NARROW = dict.fromkeys("ijlI.,:;'|! ", 0.34) | dict.fromkeys("frtJ()[]-/", 0.42)
_WIDE = dict.fromkeys("mwMW%@±…", 0.99)
_LETTERS = {"Lu": 0.76, "Ll": 0.64, "Nd": 0.64, "Mn": 0.0, "Cf": 0.0}
# A line is so many times as high as its font.
LINE = 1.25
# Marks that keep texts of both directions in one line apart.
ISOLATE, END = "\u2068", "\u2069"


def width_of(text: str, size: float) -> float:
    """Pixels that a text needs at most.

    >>> round(width_of("never", 12), 1), round(width_of("Willi", 12), 1)
    (35.8, 28.2)
    """
    return size * sum(_width_of_letter(letter) for letter in text)


def _width_of_letter(letter: str) -> float:
    known = _NARROW.get(letter) or _WIDE.get(letter)
    if known is not None:
        return known
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return _LETTERS.get(unicodedata.category(letter), 0.68)


def break_lines(text: str, room: float, size: float) -> tuple[str, ...]:
    """A text as lines no wider than there is room; a word that is wider is broken too.

    >>> break_lines("neither good nor bad", 70, 12)
    ('neither', 'good nor', 'bad')
    >>> break_lines("Versicherungsgesellschaft", 100, 12)
    ('Versicherungs-', 'gesellschaft')
    """
    lines: list[str] = []
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if width_of(joined, size) <= room:
            lines[-1:] = [joined]
        else:
            lines += _pieces(word, room, size)
    return tuple(lines) or ("",)


def is_broken(text: str, room: float, size: float) -> bool:
    """Whether a word of the text is wider than there is room.

    >>> is_broken("a Versicherungsgesellschaft", 90, 12), is_broken("a b c d e f", 20, 12)
    (True, False)
    """
    return any(width_of(word, size) > room for word in text.split())


def _pieces(word: str, room: float, size: float) -> list[str]:
    """A word in as few pieces as there is room for, none of them much shorter than the others."""
    pieces = _break_word(word, room, size)
    even = _break_word(word, min(room, width_of(word, size) / len(pieces) + size), size)
    return even if len(even) == len(pieces) else pieces


def _break_word(word: str, room: float, size: float) -> list[str]:
    pieces = [""]
    for letter in word:
        # Letters that have capitals are hyphenated; other scripts break without a sign.
        hyphen = "-" if letter.lower() != letter.upper() else ""
        if pieces[-1] and width_of(pieces[-1] + letter + hyphen, size) > room:
            hyphenated = hyphen and pieces[-1][-1].lower() != pieces[-1][-1].upper()
            pieces[-1] += "-" if hyphenated else ""
            pieces.append("")
        pieces[-1] += letter
    return pieces


def join_values(values: Sequence[str]) -> str:
    """Values of several attributes as one text, each in its own direction of writing.

    >>> join_values(["yes", "now"])
    'yes / now'
    """
    if len(values) == 1:
        return values[0]
    return " / ".join(isolate(value) for value in values)


def isolate(text: str) -> str:
    """A text that stays together beside others, if it is written from the right."""
    from_the_right = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)
    return f"{ISOLATE}{text}{END}" if from_the_right else text


def quote_text(text: str) -> str:
    return f"\N{LEFT DOUBLE QUOTATION MARK}{isolate(text)}\N{RIGHT DOUBLE QUOTATION MARK}"


def spread_out(centers: Sequence[float], sizes: Sequence[float], end: float) -> Floats | None:
    """Centres as near to those wanted as labels of these sizes can be between 0 and `end`.

    None where there is no room for all of them.

    >>> spread_out([5, 6, 50], [10, 10, 10], 100).tolist()
    [5.0, 15.0, 50.0]
    >>> spread_out([5, 6], [10, 10], 15) is None
    True
    """
    wide = np.asarray(sizes, float)
    if wide.sum() > end:
        return None
    # Seen from the first label, each has at least the room of those before it, and leaves that of
    # those after it.
    before = np.cumsum(wide) - wide
    offsets = np.asarray(centers, float) - wide / 2 - before
    placed = np.maximum.accumulate(np.clip(offsets, 0.0, end - wide.sum()))
    result: Floats = placed + before + wide / 2
    return result
