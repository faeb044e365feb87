"""Table published: LoPub as its authors run it, on Adult and Nursery.

Their public code tells what the papers leave open: Lasso with a penalty of 1/2 on counts, with an
intercept and signed, EM over the combinations it keeps until no share moves by .001, phi from .2 to
.5, and half the sum of absolute differences as the error. Both ends of phi are run, at epsilon 1
and 4 for each attribute, beside our own reading of LoPub.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments import datasets, pool
from experiments.harness import draw_sets, summarise
from experiments.lines import ANY_LINE, lines
from experiments.settings import Settings, describe
from experiments.table_comp import WIDTHS
from experiments.table_lopub import ERRORS, PRINT, Task, errors_of, probe_readings
from experiments.text import Result, Table, number, pick

# Reports of Bloom filters are no table of answers: the rounding model does not apply.
NOISY = False
EPSILONS = (1.0, 4.0)
DATA = ("adult", "nursery")
READINGS: dict[str, dict[str, Any]] = {
    "as published, phi .2": {"variant": "published", "phi": 0.2},
    "as published, phi .5": {"variant": "published", "phi": 0.5},
    "lopub": {},
}


def probe() -> list[float]:
    return probe_readings(READINGS)


def run(settings: Settings) -> dict[str, Any]:
    repeats, most = settings.times(2, 1), settings.most(10, 4)
    asked, tasks = [], []
    people = [datasets.load(name) for name in DATA]
    for whom in people:
        widths = [w for w in WIDTHS if w <= len(whom.schema)]
        sets = {w: draw_sets(whom, w, most, cells=1 << 18) for w in widths}
        for each in settings.each(len(whom.schema), EPSILONS):
            for reading, options in READINGS.items():
                asked.append((whom, each, reading))
                tasks += [
                    Task(whom, each, settings.seed + repeat, reading, sets, options)
                    for repeat in range(repeats)
                ]
    found = pool.work(errors_of, tasks, "LoPub as published")
    records = []
    for k, (whom, each, reading) in enumerate(asked):
        own = found[k * repeats : (k + 1) * repeats]
        for error, w in own[0]:
            numbers = summarise(np.array([errors[error, w] for errors in own]))
            what = {"people": whom.name, "each": each, "error_is": error}
            named = f"{whom.name}, epsilon {each:g} each, {ERRORS[error]}"
            records.append({**what, "data": named, "scheme": reading, "x": w, **numbers})
    facts = {"data": "; ".join(whom.note for whom in people), "n": [whom.n for whom in people]}
    said = f"epsilon {' and '.join(f'{e:g}' for e in EPSILONS)} for each attribute"
    facts["sets"] = f"{said}; up to {most} attribute sets a width"
    return {"about": describe(settings, **facts, repeats=repeats), "records": records}


def table(results: Sequence[Result]) -> Table:
    result = results[0]
    printed = (f"{value:.4f}" for value in PRINT.values())
    rows = [["print of castell's paper", "adult", "4", "", *printed]]
    keys = ("scheme", "people", "each", "error_is")
    for key in dict.fromkeys(tuple(r[k] for k in keys) for r in result["records"]):
        scheme, people, each, error = key
        found = {r["x"]: r for r in pick(result, **dict(zip(keys, key, strict=True)))}
        cells = [number(found[w]["mean"], found[w]["error"]) if w in found else "" for w in WIDTHS]
        rows.append([scheme, people, f"{each:g}", ERRORS[error], *cells])
    titles = ["reading", "data", "epsilon each", "error", *(f"w = {w}" for w in WIDTHS)]
    return Table(titles, rows, words=4)


def draw(result: Result) -> Any:
    shown = {**result, "records": [r for r in result["records"] if r["error_is"] == "tvd"]}
    heading = "LoPub as published and ours: total variation"
    # The print is of Adult.
    printed = {ANY_LINE: {w: PRINT[w] for w in sorted({r["x"] for r in shown["records"]})}}
    return lines(
        shown, heading, x="attributes w", y="error", whole=True, printed=printed,
        printed_of="adult",
    )  # fmt: skip


def findings(results: Mapping[str, Result]) -> list[str]:
    result = next(iter(results.values()))
    said = []
    for people in DATA:
        for each in EPSILONS:
            rows = []
            for scheme in READINGS:
                found = pick(result, people=people, each=each, scheme=scheme, error_is="tvd")
                rows.append(f"{scheme} {_by_width(found)}")
            said.append(f"{people} at {each:g} each, total variation by w: {'; '.join(rows)}.")
    return [*said, *_nearest(result)]


def _nearest(result: Result) -> list[str]:
    """Which reading of the authors' description comes nearest to what castell's paper prints."""
    far, shown = {}, {}
    for scheme in (x for x in READINGS if x.startswith("as published")):
        for each in EPSILONS:
            found = pick(result, people="adult", each=each, scheme=scheme, error_is="tvd")
            if found:
                ratios = [r["mean"] / PRINT[r["x"]] for r in found]
                far[scheme, each] = max(abs(np.log(ratio)) for ratio in ratios)
                shown[scheme, each] = f"{min(ratios):.2f} to {max(ratios):.2f}"
    if not far:
        return []
    scheme, each = best = min(far, key=lambda key: far[key])
    return [
        f"Of the published readings, {scheme}, at epsilon {each:g} for each attribute comes "
        f"nearest to what castell's paper prints for Adult, with {shown[best]} times the print "
        "from width to width, as total variation."
    ]


def _by_width(found: Sequence[Mapping[str, Any]]) -> str:
    return " ".join(f"{r['mean']:.2f}" for r in found)
