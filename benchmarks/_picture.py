"""The leaderboard as a picture: error by width, a panel for each design and budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks._board import Case, mean_and_error, scores
from benchmarks._trials import MEASURES
from castell.results.canvas import BLUE, INK, MUTED
from experiments.harness import FLOOR, PRODUCT, REFERENCES, UNIFORM
from experiments.style import GOLD, GREEN, ORANGE, PLUM, TEAL, finish, log_axis

COLORS = {
    "auto": BLUE,
    "latent": TEAL,
    "em": GREEN,
    "castell": "#be185d",
    "independent": ORANGE,
    "truncated": GOLD,
    "hybrid": PLUM,
    FLOOR: INK,
    PRODUCT: "#6b7785",
    UNIFORM: "#9aa5b1",
}
DASH = {FLOOR: [6, 3], PRODUCT: [8, 3, 2, 3], UNIFORM: [2, 3]}
ACROSS = 4
NAMES = {"avd": "AVD", "tvd": "total variation"}
# An inversion of much noise is off by more than any table of shares can be; it would press the
# others together.
HIGHEST = 1.0


def draw(cases: Sequence[Case]) -> Any:
    """Rows of panels: AVD above, total variation below, up to four cases beside each other."""
    import altair as alt

    rows = []
    for start in range(0, len(cases), ACROSS):
        some = cases[start : start + ACROSS]
        for measure in MEASURES:
            panels = [_panel(alt, cases, case, measure, k == 0) for k, case in enumerate(some)]
            rows.append(alt.hconcat(*panels, spacing=14))
    below = [
        "Mean over attribute sets and repeats; bars are standard errors over repeats.",
        "A line ends where a method did not answer every set; what is above 1 is not drawn.",
    ]
    names = ", ".join(dict.fromkeys(f"{c['note']} (n = {c['n']:,})" for c in cases))
    heading = alt.TitleParams(
        "How far each method is off, by the number of attributes",
        subtitle=[names, *below],
        anchor="start",
        offset=14,
        fontSize=14,
        subtitleColor=MUTED,
        color=INK,
    )
    return finish(alt.vconcat(*rows, spacing=18), heading)


def _records(case: Case, measure: str) -> list[dict[str, Any]]:
    found = []
    for score in scores(case, measure):
        for width, values in score.by_width.items():
            mean, error = mean_and_error(values)
            if width in score.partial or mean > HIGHEST:
                continue
            record = {"method": score.method, "width": width, "mean": mean}
            if error is not None and score.method not in REFERENCES:
                record |= {"low": max(mean - error, mean / 10), "high": mean + error}
            found.append(record)
    return found


def _panel(alt: Any, cases: Sequence[Case], case: Case, measure: str, first: bool) -> Any:
    every = [r for c in cases for r in _records(c, measure)]
    shown = {r["method"] for c in cases for r in _records(c, "avd") + _records(c, "tvd")}
    labels = [label for label in COLORS if label in shown]
    low, high = (pick(r["mean"] for r in every) for pick in (min, max))
    up = alt.Scale(type="log", domain=[low / 1.2, high * 1.2], nice=False, clamp=True)
    upward = log_axis(alt, [low / 1.2, high * 1.2], labels=first)
    color = alt.Color(
        "method:N",
        scale=alt.Scale(domain=labels, range=[COLORS[label] for label in labels]),
        legend=alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=2, labelLimit=200),
    )
    dash = alt.StrokeDash(
        "method:N",
        scale=alt.Scale(domain=labels, range=[DASH.get(label, [1, 0]) for label in labels]),
        legend=None,
    )
    widths = sorted({r["width"] for r in every})
    base = alt.Chart(alt.Data(values=_records(case, measure))).encode(
        x=alt.X(
            "width:Q",
            title="attributes in the table" if measure == MEASURES[-1] else None,
            axis=alt.Axis(values=widths, format="d", grid=False),
            scale=alt.Scale(domain=[widths[0] - 0.2, widths[-1] + 0.2], nice=False),
        )
    )
    upright = alt.Y("mean:Q", title=NAMES[measure] if first else None, scale=up, axis=upward)
    # A broad line below the others: where they agree with it both are seen.
    ours = base.transform_filter("datum.method == 'auto'").mark_line(strokeWidth=5, opacity=0.85)
    others = base.transform_filter("datum.method != 'auto'").mark_line(strokeWidth=1.6)
    lines = [part.encode(y=upright, color=color, strokeDash=dash) for part in (ours, others)]
    real = base.transform_filter("isValid(datum.low)")
    bars = real.mark_rule(strokeWidth=1.4).encode(
        y=alt.Y("low:Q", scale=up), y2="high:Q", color=color
    )
    rivals = [label for label in labels if label not in (*REFERENCES, "auto")]
    dotted = base.transform_filter({"field": "method", "oneOf": rivals})
    dots = dotted.mark_circle(size=26, opacity=1).encode(y=upright, color=color)
    title = alt.TitleParams(_title(case), fontSize=11, fontWeight="normal", anchor="start")
    return alt.layer(*lines, bars, dots).properties(width=190, height=180, title=title)


def _title(case: Case) -> str:
    each = f" ({case['each']:g} each)" if case["each"] is not None else ""
    return f"{case['data']}, {case['design']}, epsilon {case['total']:g} in all{each}"
