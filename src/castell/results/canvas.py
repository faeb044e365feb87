"""A picture laid out in pixels: boxes, lines and words, which Vega-Lite then paints.

Long labels, thirty values and a phone's width need a layout that Vega-Lite does not do. So the
places are worked out here, for a `room` of so many pixels across. Positions may be stretched to
more room (`width` of the chart), since words keep their size.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from castell.errors import MissingExtraError
from castell.results.chart_data import ChartData
from castell.results.text_lines import LINE, break_lines

BLUE, INK, MUTED, GRID = "#3b6ea8", "#22303c", "#5d6b78", "#dfe4e9"
# As dark as ink on it can still be read.
HEAT = "#86b0de"
TRUTH = "#c2410c"
FONT = "Helvetica, Arial, sans-serif"
# Bold words are wider by so much at most.
BOLD = 1.12
# Where a picture stands by itself, in a notebook or a file.
USUAL_ROOM = 720

# Sizes and colours of words, by what they are. A page finds them by these names to change the ink.
ROLES: dict[str, tuple[float, str]] = {
    "label": (12, INK),
    "title": (12, MUTED),
    "heading": (13, INK),
    "number": (12, INK),
    "small": (11, INK),
    "tick": (11, MUTED),
}


@dataclass(frozen=True)
class Box:
    """From x to x2 and from y, the top, to y2; `depth` is its opacity, `cell` is told on hover."""

    x: float
    x2: float
    y: float
    y2: float
    fill: str
    depth: float = 1.0
    cell: dict[str, Any] | None = None


@dataclass(frozen=True)
class Line:
    x: float
    y: float
    x2: float
    y2: float
    color: str
    width: float = 1.0


@dataclass(frozen=True)
class Words:
    """Lines of text; y is the top of the first one."""

    x: float
    y: float
    lines: tuple[str, ...]
    role: str = "label"
    align: str = "left"


@dataclass(frozen=True)
class Canvas:
    """What is painted, in this order, what kind of chart it is, and what must be said about it."""

    kind: str
    room: float
    height: float
    under: tuple[Line, ...] = ()
    boxes: tuple[Box, ...] = ()
    over: tuple[Line, ...] = ()
    words: tuple[Words, ...] = ()
    said: str = ""


def line_height(role: str) -> float:
    return ROLES[role][0] * LINE


def height_of(lines: tuple[str, ...], role: str = "label") -> float:
    return len(lines) * line_height(role)


def load_altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401  (what writes PNG and SVG)
    except ImportError:
        raise MissingExtraError(
            "pictures need altair and vl-convert", "pip install 'castell[plot]'"
        ) from None
    return altair


def paint(canvas: Canvas, data: ChartData, title: str) -> Any:
    """The chart, with its title and how it was made above it."""
    alt = load_altair()
    layers = [
        *_lines(alt, canvas, canvas.under),
        *_boxes(alt, canvas),
        *_lines(alt, canvas, canvas.over),
        *_words(alt, canvas),
        *_cells(alt, canvas, data),
    ]
    below = [line for text in (*data.below, canvas.said) if text for line in _title(text, canvas)]
    heading = alt.TitleParams(
        list(break_lines(title, canvas.room / BOLD, 13)),
        subtitle=below,
        anchor="start",
        offset=14,
        subtitleColor=MUTED,
        color=INK,
    )
    return (
        alt.layer(*layers)
        .properties(width=canvas.room, height=canvas.height, title=heading, padding=16)
        .configure(background="white", font=FONT)
        .configure_view(strokeWidth=0)
    )


def _title(text: str, canvas: Canvas) -> tuple[str, ...]:
    return break_lines(text, canvas.room, 11)


def _place(alt: Any, canvas: Canvas, *, second: bool = True) -> dict[str, Any]:
    across = alt.Scale(domain=[0, canvas.room], nice=False, zero=False)
    down = alt.Scale(domain=[canvas.height, 0], nice=False, zero=False)
    place = {"x": alt.X("x:Q", scale=across, axis=None), "y": alt.Y("y:Q", scale=down, axis=None)}
    return place | ({"x2": "x2:Q", "y2": "y2:Q"} if second else {})


def _lines(alt: Any, canvas: Canvas, lines: tuple[Line, ...]) -> list[Any]:
    by_look = sorted(lines, key=lambda line: (line.width, line.color))
    return [
        alt.Chart(alt.Data(values=[_ends(line) for line in same]))
        .mark_rule(color=color, strokeWidth=width)
        .encode(**_place(alt, canvas))
        for (width, color), same in groupby(by_look, key=lambda line: (line.width, line.color))
    ]


def _boxes(alt: Any, canvas: Canvas) -> list[Any]:
    by_fill = sorted((box for box in canvas.boxes if box.depth > 0), key=lambda box: box.fill)
    opacity = alt.FillOpacity("depth:Q", scale=None, legend=None)
    return [
        alt.Chart(alt.Data(values=[_ends(box) | {"depth": box.depth} for box in same]))
        .mark_rect(fill=fill)
        .encode(**_place(alt, canvas), fillOpacity=opacity)
        for fill, same in groupby(by_fill, key=lambda box: box.fill)
    ]


def _cells(alt: Any, canvas: Canvas, data: ChartData) -> list[Any]:
    """What a pointer finds: nothing that is seen, on top of all that is."""
    records = [_ends(box) | box.cell for box in canvas.boxes if box.cell is not None]
    return [
        alt.Chart(alt.Data(values=records))
        .mark_rect(fill="transparent")
        .encode(**_place(alt, canvas), tooltip=data.tooltip(alt))
    ]


def _words(alt: Any, canvas: Canvas) -> list[Any]:
    found = []
    by_look = sorted(canvas.words, key=lambda words: (words.role, words.align))
    for (role, align), same in groupby(by_look, key=lambda words: (words.role, words.align)):
        size, color = ROLES[role]
        weight = "bold" if role == "heading" else "normal"
        # A mark for each line: in one text of several lines those written from the right get lost.
        records = [
            {"x": words.x, "y": words.y + k * size * LINE + 1, "line": line}
            for words in same
            for k, line in enumerate(words.lines)
        ]
        found.append(
            alt.Chart(alt.Data(values=records), name=f"words_{role}_{align}")
            .mark_text(align=align, baseline="top", fontSize=size, color=color, fontWeight=weight)
            .encode(**_place(alt, canvas, second=False), text="line:N")
        )
    return found


def _ends(mark: Box | Line) -> dict[str, float]:
    return {"x": mark.x, "x2": mark.x2, "y": mark.y, "y2": mark.y2}
