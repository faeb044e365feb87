"""A mosaic: shares as areas, in colour where two attributes go together by more than noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from castell.inference.postprocess import simplex
from castell.linear.operators import Floats
from castell.results.chart_data import ChartData
from castell.results.joint import JointEstimate
from castell.results.plots import INK, load_altair, style_chart, wrap

GAP = 0.008
# A departure from independence that noise alone makes in one cell of some twenty.
NOISE = 2.0
SHADES = {
    "fewer than if unrelated": "#eab08d",
    "within noise": "#e4e9ee",
    "more than if unrelated": "#9dc3ea",
}


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


def mosaic(joint: JointEstimate, data: ChartData, title: str) -> Any:
    """Two attributes in a square; of three the first has a square for each of its values."""
    alt = load_altair()
    across, down = data.labels[-2:]
    panels = data.values[0] if len(data.labels) == 3 else None
    size = 300 if panels is None else 190
    records = alt.Data(values=_records(joint, data, size))
    layers = [
        _tiles(alt, data),
        _words(alt, "tile", "share", fontSize=11, dy=-5),
        _words(alt, "tile", "half", fontSize=8.5, dy=8),
        _words(alt, "small", "share", fontSize=11),
        _words(alt, "across", "text", fontSize=11, dy=13),
        _words(alt, "down", "text", fontSize=11, dx=-6, align="right"),
    ]
    heading = f"{title}: {across} across, {down} down"
    chart = alt.layer(*layers).properties(width=size, height=size)
    if panels is None:
        return style_chart(alt, chart.properties(data=records), heading, data)
    facet = alt.Facet("v0:N", sort=list(panels), title=wrap(data.labels[0]))
    columns = 3 if len(panels) == 3 else 2
    return style_chart(
        alt, chart.facet(facet, data=records, columns=columns, spacing=44), heading, data
    )


def _axes(alt: Any, x: str, y: str) -> dict[str, Any]:
    square = alt.Scale(domain=[0, 1], nice=False, zero=False)
    return {
        "x": alt.X(f"{x}:Q", scale=square, axis=None),
        "y": alt.Y(f"{y}:Q", scale=square, axis=None),
    }


def _tiles(alt: Any, data: ChartData) -> Any:
    shades = alt.Scale(domain=list(SHADES), range=list(SHADES.values()))
    legend = alt.Legend(
        title=None, orient="bottom", offset=38, labelLimit=300, columns=1, symbolType="square"
    )
    return (
        alt.Chart()
        .transform_filter("datum.shade != null")
        .mark_rect()
        .encode(
            **_axes(alt, "x", "y"),
            x2="x2:Q",
            y2="y2:Q",
            color=alt.Color("shade:N", scale=shades, legend=legend),
            tooltip=data.tooltip(alt),
        )
    )


def _words(alt: Any, kind: str, what: str, **mark: Any) -> Any:
    """The words of one kind: in the tiles, below them or beside them."""
    return (
        alt.Chart(name=f"words_{kind}_{what}")  # by which the page finds those outside of tiles
        .transform_filter(f"datum.kind == '{kind}'")
        .mark_text(**{"color": INK, "baseline": "middle", **mark})
        .encode(**_axes(alt, "middle", "center"), text=f"{what}:N")
    )


def _records(joint: JointEstimate, data: ChartData, size: int) -> list[dict[str, Any]]:
    """A record for each tile, and one for each name along the bottom and the left of a square."""
    cells = data.records()
    shape = joint.shape
    table = simplex(joint.unprocessed).reshape(-1, *shape[-2:])
    far = departures(joint).reshape(table.shape)
    records: list[dict[str, Any]] = []
    for panel, part in enumerate(table):
        if part.sum() <= 0:
            continue  # nobody is estimated to have this value: there is nothing to divide
        key = {} if len(shape) == 2 else {"v0": joint.attributes[0].values[panel]}
        edges = tiles(part)
        for k, (i, j) in enumerate(np.ndindex(part.shape)):
            left, right, bottom, top = (float(edge[i, j]) for edge in edges)
            place = _place(left, right, bottom, top, size)
            cell = cells[panel * part.size + k]
            records.append(cell | place | _words_of(cell, float(far[panel, i, j])))
        lefts, rights, bottoms, tops = edges
        across, down = joint.attributes[-2:]
        middles = (lefts[:, 0] + rights[:, 0]) / 2
        for value, middle, width in zip(across.values, middles, part.sum(axis=1), strict=True):
            # A name wider than its column would lie on top of the next one.
            text = _shortened(value, int(width / part.sum() * size / 6.0))
            if text:
                name = {"kind": "across", "middle": float(middle), "center": 0.0, "text": text}
                records.append(name | key)
        last = 2.0
        for value, center in zip(down.values, (bottoms[0] + tops[0]) / 2, strict=True):
            if (last - center) * size > 11.0:
                name = {"kind": "down", "middle": 0.0, "center": float(center), "text": value}
                records.append(name | key)
                last = float(center)
    return records


def _shortened(text: str, letters: int) -> str:
    """As much of a text as there is room for; nothing where that says nothing.

    >>> _shortened("rather satisfied", 20), _shortened("rather satisfied", 8)
    ('rather satisfied', 'rather …')
    >>> _shortened("rather satisfied", 3)
    ''
    """
    if len(text) <= letters:
        return text
    return f"{text[: letters - 1]}…" if letters >= 5 else ""


def _place(left: float, right: float, bottom: float, top: float, size: int) -> dict[str, Any]:
    """Where a tile is, with a gap around it, and how much can be written in it."""
    width, height = right - left, top - bottom
    aside, above = min(GAP, width / 4), min(GAP, height / 4)
    roomy, small = (
        width * size > 38 and height * size > 30,
        width * size > 38 and height * size > 14,
    )
    return {
        "kind": "tile" if roomy else "small" if small else "bare",
        "x": left + aside,
        "x2": right - aside,
        "y": bottom + above,
        "y2": top - above,
        "middle": (left + right) / 2,
        "center": (bottom + top) / 2,
    }


def _words_of(cell: dict[str, Any], z: float) -> dict[str, str]:
    fewer, noise, more = SHADES
    return {
        "shade": more if z > NOISE else fewer if z < -NOISE else noise,
        "share": f"{cell['probability']:.1%}",
        "half": f"\u00b1 {(cell['upper'] - cell['lower']) / 2:.1%}",
    }
