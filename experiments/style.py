"""One look for all pictures: colours, titles, axes."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

from castell.results.canvas import BLUE, INK, MUTED
from experiments.harness import FLOOR, PRODUCT, UNIFORM
from experiments.settings import line
from experiments.text import Result

ORANGE, GREEN, PLUM, GOLD, TEAL = "#c2410c", "#2f855a", "#86428f", "#b7791f", "#0f8b8d"
_KNOWN = {
    "castell": BLUE,
    "independent": ORANGE,
    "product over clusters": "#86c5a0",
    "hybrid": PLUM,
    "truncated": GOLD,
    "RR-Joint": TEAL,
    "truncated, no cell < 0": "#e0b050",
    "RR-Clusters": GREEN,
    "lopub": "#be185d",
    "lopub, as published": "#7f1d4f",
    "lopub, Lasso only": "#f08bb4",
    "locop": "#4d7c0f",
    "locop, as published": "#a3c614",
    "dpfedwae": "#92400e",
    "dpfedwae, no privacy": "#d6a77a",
    "dpfedwae, its floor": "#451a03",
    "auto": "#111827",
    "latent": "#0284c7",
    "em": "#7c3aed",
    "hybrid, by the reports": "#d081d8",
}
_SPARE = ["#d946ef", "#64748b", "#65a30d", "#0d9488", "#a16207", "#9f1239", "#1e3a8a"]
# The three inversions: the paper's first two in grey, castell as everywhere.
WAY_COLOURS = ["#475569", "#94a3b8", BLUE]
_REFERENCE = {FLOOR: "#22303c", UNIFORM: "#9aa5b1", PRODUCT: "#6b7785"}
DASH = {FLOOR: [6, 3], UNIFORM: [2, 3], PRODUCT: [8, 3, 2, 3]}


def colours(labels: Sequence[str]) -> dict[str, str]:
    """The same scheme has the same colour in every picture; new ones take one by their name."""
    spare = {x: _SPARE[zlib.crc32(x.encode()) % len(_SPARE)] for x in labels}
    return {x: _KNOWN.get(x) or _REFERENCE.get(x) or spare[x] for x in labels}


def title(alt: Any, result: Result, heading: str, *more: str) -> Any:
    """What a picture shows, and under which settings."""
    below = _break_line(line(dict(result["about"]))) + [text for text in more if text]
    return alt.TitleParams(
        heading,
        subtitle=below,
        anchor="start",
        offset=14,
        fontSize=14,
        subtitleColor=MUTED,
        color=INK,
    )


def _break_line(text: str, width: int = 92) -> list[str]:
    """A line of settings as several, broken between settings and not inside them."""
    found = [""]
    for part in text.split("; "):
        if found[-1] and len(found[-1]) + len(part) > width:
            found[-1] += ";"
            found.append(part)
        else:
            found[-1] += ("; " if found[-1] else "") + part
    return found


def finish(chart: Any, heading: Any) -> Any:
    """Titles, white ground, quiet axes."""
    return (
        chart.properties(title=heading, padding=16)
        .configure(background="white", font="Helvetica, Arial, sans-serif")
        .configure_view(strokeWidth=0)
        .configure_axis(
            labelColor=INK,
            titleColor=MUTED,
            titleFontWeight="normal",
            gridColor="#e4e8ec",
            domain=False,
            tickColor="#c8d0d8",
        )
        .configure_legend(symbolOpacity=1, labelColor=INK, titleColor=MUTED)
        .configure_title(color=INK)
    )


def ticks(low: float, high: float) -> list[float]:
    """Few round numbers for a logarithmic axis: powers of ten, and 2 and 5 where there is room.

    >>> ticks(0.0005, 0.3), ticks(2, 6)
    ([0.001, 0.01, 0.1], [2.0, 5.0])
    """
    first, last = floor(log10(low)), ceil(log10(high))
    steps = (1,) if log10(high / low) > 1.7 else (1, 2, 5)
    found = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
    return [tick for tick in found if low <= tick <= high]


def log_axis(alt: Any, values: Sequence[float], *, form: str | None = None, **more: Any) -> Any:
    """A quiet logarithmic axis for some values."""
    form = form or ("~s" if max(values) >= 1000 else "~g")
    found = ticks(min(values) / 1.001, max(values) * 1.001)
    return alt.Axis(values=found, format=form, **more)
