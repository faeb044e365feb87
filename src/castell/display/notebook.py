"""Small HTML tables for notebooks: readable in a light and in a dark page, and by a screen reader.

Colours are those of the page around the table (`currentColor`), so nothing has to know its theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite

_LINE = "1px solid color-mix(in srgb, currentColor 22%, transparent)"
_CELL = f"padding:.28em .9em .28em 0;border:0;border-bottom:{_LINE};vertical-align:baseline;"
_LEFT = _CELL + "text-align:left;font-weight:normal;"
_RIGHT = _CELL + "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;"
_HEAD = "font-weight:600;white-space:nowrap;"
_TABLE = "border-collapse:collapse;color:inherit;background:none;margin:0;font-size:inherit;"
_CAPTION = "caption-side:top;text-align:left;padding:0 0 .5em;color:inherit;"
_NOTE = "margin:.4em 0 0;max-width:46em;opacity:.8;font-size:.92em;"

_WIDTH, _HEIGHT = 120, 12
_SHORT = 90


class Markup(str):
    """A piece of HTML, as against a text, which is escaped."""

    __slots__ = ()


def html_table(
    caption: str,
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    labels: int = 1,
    texts: int | None = None,
    notes: Iterable[str] = (),
) -> str:
    """A table with a heading for every column and row; the first `labels` columns name a row.

    The first `texts` columns hold words, the others numbers; as many as `labels` if not given.
    """
    words = labels if texts is None else texts
    head = "".join(
        _column_title(title, f"{_LEFT if i < words else _RIGHT}{_HEAD}")
        for i, title in enumerate(titles)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row" style="{_LEFT}">{_inner(cell)}</th>'
            if i < labels
            else f'<td style="{_LEFT if i < words else _RIGHT}">{_inner(cell)}</td>'
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    below = "".join(f'<p style="{_NOTE}">{_inner(note)}</p>' for note in notes)
    return (
        f'<div style="overflow-x:auto"><table style="{_TABLE}">'
        f'<caption style="{_CAPTION}">{_inner(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
    )


def _column_title(title: str, style: str) -> str:
    # A column of small pictures has no title; a screen reader must not be told of a heading.
    if not title:
        return f'<td style="{style}"></td>'
    return f'<th scope="col" style="{style}">{_inner(title)}</th>'


def heading(title: str, *facts: str) -> Markup:
    """A caption: what it is, and below it, smaller, how it was made."""
    # A caption is as wide as its table and would break early; a short title does not have to.
    kept = "white-space:nowrap" if len(title) <= _SHORT else ""
    under = escape(", ".join(facts))
    return Markup(
        f'<strong style="{kept}">{escape(title)}</strong><br>'
        f'<span style="opacity:.8;white-space:nowrap">{under}</span>'
    )


def interval_mark(low: float, value: float, high: float, ends: tuple[float, float]) -> Markup:
    """An interval as a line with a dot on a scale. It repeats numbers beside it: not read out."""
    if not all(map(isfinite, (low, value, high))):
        return Markup("")
    least, most = ends
    wide = (most - least) or 1.0

    def place(number: float) -> str:
        share = (min(max(number, least), most) - least) / wide
        return f"{3 + share * (_WIDTH - 6):.1f}"

    middle = _HEIGHT / 2
    return Markup(
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'aria-hidden="true" style="display:inline-block;vertical-align:middle;overflow:visible">'
        f'<line x1="0" x2="{_WIDTH}" y1="{middle}" y2="{middle}" stroke="currentColor" '
        'stroke-opacity=".18"/>'
        f'<line x1="{place(low)}" x2="{place(high)}" y1="{middle}" y2="{middle}" '
        'stroke="currentColor" stroke-width="2.5" stroke-opacity=".55" stroke-linecap="round"/>'
        f'<circle cx="{place(value)}" cy="{middle}" r="3" fill="currentColor"/></svg>'
    )


def _inner(text: str) -> str:
    return text if isinstance(text, Markup) else escape(text)
