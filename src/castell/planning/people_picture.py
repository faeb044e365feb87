"""A hundred people for each epsilon, as SVG: who sends an answer and means it, and who does not."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from castell.planning.epsilon_guide import Meaning
from castell.study.odds_text import factor

_TRUE, _OTHER, _INK, _MUTED = "#3b6ea8", "#e8a33d", "#22303c", "#5d6b78"
_STEP, _ROUND = 13.0, 4.9  # from one person to the next, and how large each is
_GAP, _TOP, _FOOT = 34.0, 84.0, 58.0
_LETTER = 6.4  # the widest that a letter of a line is on average
_FONT = "Helvetica, Arial, sans-serif"


def people_svg(
    meanings: Sequence[Meaning], value: str = "yes", other: str | None = None, title: str = ""
) -> str:
    """A square of 100 people for each epsilon; those who mean another answer stand last.

    `other` is the only other answer, if there is one. `title` stands above instead of epsilon.
    Colours differ in brightness as well, and every number is written below its square.
    """
    another = "another answer" if other is None else repr(other)
    legend = (f"sends {value!r} and means it", f"sends {value!r} and means {another}")
    squares = [_square(one, another, title) for one in meanings]
    wide = max(10 * _STEP, *(_LETTER * len(line) for _, lines in squares for line in lines))
    width = max(len(squares) * (wide + _GAP), 16 + _LETTER * max(map(len, legend)) + _GAP) + _GAP
    height = _TOP + 10 * _STEP + _FOOT
    said = "; ".join(f"epsilon {m.epsilon:.3g}: {m.mean_another}" for m in meanings)
    told = f"Of 100 people who send {value!r}, how many mean {another}. {said}."
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{escape(told)}" '
        f'font-family="{_FONT}">',
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
    ]
    for i, (word, fill) in enumerate(zip(legend, (_TRUE, _OTHER), strict=True)):
        parts.append(_person(_GAP + _ROUND, 18 + 20 * i, fill))
        parts.append(_text(16 + _GAP, 22.5 + 20 * i, word, 13, _INK))
    for i, (square, _) in enumerate(squares):
        parts.append(f'<g transform="translate({_GAP + i * (wide + _GAP):g} 0)">{square}</g>')
    return "\n".join([*parts, "</svg>"])


def _square(one: Meaning, another: str, title: str) -> tuple[str, list[str]]:
    """A square, and the lines that have to fit above and below it."""
    many = str(one.mean_another) if one.mean_another else "fewer than 1"
    lines = [
        title or f"epsilon {one.epsilon:.3g}",
        f"{many} in 100 mean {another}",
        f"odds times {factor(one.epsilon)} at most",
    ]
    below = _TOP + 10 * _STEP
    parts = [
        _text(0, _TOP - 10, lines[0], 13, _INK, bold=True),
        _text(0, below + 20, lines[1], 12, _INK),
        _text(0, below + 38, lines[2], 11, _MUTED),
    ]
    for person in range(100):
        down, across = divmod(person, 10)
        fill = _TRUE if person < 100 - one.mean_another else _OTHER
        parts.append(_person((across + 0.5) * _STEP, _TOP + (down + 0.5) * _STEP, fill))
    return "".join(parts), lines


def _person(x: float, y: float, fill: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{_ROUND:g}" fill="{fill}"/>'


def _text(x: float, y: float, text: str, size: int, fill: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}"{weight}>{escape(text)}</text>'
    )
