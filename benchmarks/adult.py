"""Accuracy on Adult: every method, every attribute set of two to six, real noise.

Every respondent of UCI Adult (eight attributes) is randomised with epsilon 1, 2 or 4 for each
attribute, design `independent`. AVD is the largest error of any cell and TVD half the sum of all,
each a mean over all attribute sets of a width, then over repeats (+- its standard error). The
`before` lines are from an earlier, independent computation with real noise (`none < 0`: negative
cells set to 0, not scaled to sum to one as `clip` does); the `print` lines are the paper's, which
hold no sampling noise.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import castell
from benchmarks._population import Population, load
from benchmarks._text import grid
from castell import Reports
from castell.device.random_words import seeded_words
from castell.device.respond import respond
from castell.estimators import reads
from castell.evaluation.metrics import attribute_sets, over_sets
from castell.linear.operators import Floats

WIDTHS = (2, 3, 4, 5, 6)
EACH = (1.0, 2.0, 4.0)
METRICS = ("avd", "tvd")

# AVD for w = 2..6 by epsilon each.
BEFORE = {
    1.0: {
        "before: castell": (0.044, 0.107, 0.245, 0.517, 1.24),
        "before: truncated, none < 0": (0.037, 0.052, 0.058, 0.084, 0.159),
        "print: castell": (0.0004, 0.0023, 0.0129, 0.0635, 0.3384),
        "print: truncated": (0.0004, 0.0019, 0.0068, 0.0182, 0.0223),
    },
    4.0: {"before: castell": (0.0024, 0.0018, 0.0017, 0.0016, 0.0019)},
}


def methods() -> list[tuple[str, str]]:
    """Every method that reads such reports, and the one that need not sum to one also mended."""
    able = [method for method in castell.methods() if reads(method).everybody]
    return [(method, "raw") for method in able] + [("truncated", "clip")]


def run(quick: bool) -> dict[str, Any]:
    repeats, most = (1, 2) if quick else (5, None)
    people = load("adult")
    truth = cache(people.table)
    sets = {w: attribute_sets(people.schema.names, w, most) for w in WIDTHS}
    found: list[dict[str, Any]] = []
    for each in EACH:
        collections = [_collect(people, each, seed) for seed in range(repeats)]
        for method, post in methods():
            models = [castell.fit(reports, method) for reports in collections]
            errors: dict[str, list[list[float]]] = {metric: [] for metric in METRICS}
            for model in models:

                def guess(names: tuple[str, ...], model: Any = model, post: str = post) -> Floats:
                    table: Floats = model.estimate(names, post=post).probabilities
                    return table

                by_width = [over_sets(truth, guess, sets[w], METRICS) for w in WIDTHS]
                for metric in METRICS:
                    errors[metric].append([line[metric][0] for line in by_width])
            found.append({"each": each, "method": method, "post": post, **errors})
    return {
        "n": people.n,
        "repeats": repeats,
        "attributes": len(people.schema),
        "sets": {w: len(s) for w, s in sets.items()},
        "errors": found,
    }


def _collect(people: Population, each: float, seed: int) -> Reports:
    study, words = people.study(each), seeded_words(seed)
    columns = [respond(b.channel, people.codes[b.names[0]], words) for b in study.design.blocks]
    return Reports(study, columns, secure=False)


def show(result: dict[str, Any]) -> str:
    sets = ", ".join(f"{count} of {w}" for w, count in result["sets"].items())
    parts = [f"n = {result['n']:,}, {result['repeats']} repeats, attribute sets: {sets}"]
    titles = ["", *(f"w = {w}" for w in WIDTHS), "mean"]
    for each in EACH:
        total = each * result["attributes"]
        for metric in METRICS:
            lines = [line for line in result["errors"] if line["each"] == each]
            rows = [_row(line, line[metric]) for line in lines]
            if metric == "avd":
                for label, known in BEFORE.get(each, {}).items():
                    numbers = [*known, float(np.mean(known))]
                    rows.append([label, *(f"{number:.4f}" for number in numbers)])
            head = f"{metric.upper()}, epsilon {each:g} each, {total:g} in all"
            parts += ["", head, "", grid(titles, rows)]
    return "\n".join(parts)


def _row(line: dict[str, Any], errors: list[list[float]]) -> list[str]:
    label = line["method"] if line["post"] == "raw" else f"{line['method']} + {line['post']}"
    table = np.array(errors)
    table = np.column_stack([table, table.mean(axis=1)])
    means = [_number(mean) for mean in table.mean(axis=0)]
    if len(table) == 1:
        return [label, *means]
    spread = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    both = zip(means, spread, strict=True)
    return [label, *(f"{mean} ± {_number(error)}" for mean, error in both)]


def _number(value: float) -> str:
    return f"{value:.4f}" if value < 10 else f"{value:,.1f}"
