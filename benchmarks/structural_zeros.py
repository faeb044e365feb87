"""What declaring impossible combinations gains: the same reports, with the rules and without.

UCI Adult, eight attributes, design `cover`, epsilon 4 in all, method `auto`; AVD is the largest
error of any cell, a mean over all attribute sets of a width. The rules: whose workclass is unknown
has an unknown occupation, and no husband is female (one of 32,561 is).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

import castell
from benchmarks._population import generate_population
from benchmarks._text import grid
from benchmarks._trials import people_of
from castell import Reports, Schema, Study
from castell.evaluation.metrics import METRICS

WIDTHS = (2, 3, 4, 5, 6)
RULES: list[dict[str, object]] = [
    {"workclass": "?", "occupation": "!?"},
    {"relationship": "Husband", "sex": "Female"},
]


def run(quick: bool) -> dict[str, Any]:
    if quick:
        people, rules, repeats = generate_population((3, 2, 4), 2000), _rule_of_quick(), 1
        frame = {
            a.name: np.array(a.values, dtype=object)[people.codes[a.name]] for a in people.schema
        }
        schema, table = people.schema, people.table
    else:
        adult = people_of("adult")
        schema, table, frame, rules, repeats = adult.schema, adult.table, adult.frame(), RULES, 3
    ruled = Study(Schema(schema.attributes, rules), 4.0, "cover", name="with rules")
    plain = Study(schema, 4.0, "cover", name="without")
    sets = {w: list(combinations(schema.names, w)) for w in WIDTHS if w <= len(schema)}
    truth = {names: table(names) for some in sets.values() for names in some}
    found: dict[str, list[list[float]]] = {"without": [], "with rules": []}
    for seed in range(repeats):
        reports = plain.randomize(frame, seed=seed)
        same = Reports(ruled, reports.columns, secure=False)
        for label, each in (("without", reports), ("with rules", same)):
            model = castell.fit(each)
            errors = {
                n: METRICS["avd"](t, model.estimate(n).probabilities) for n, t in truth.items()
            }
            found[label].append([float(np.mean([errors[n] for n in s])) for s in sets.values()])
    return {"widths": list(sets), "n": len(reports), "avd": found}


def _rule_of_quick() -> list[dict[str, object]]:
    return [{"a0": "value 0", "a2": "value 1"}]


def show(result: dict[str, Any]) -> str:
    rows = []
    for label, errors in result["avd"].items():
        each = np.array(errors)
        means = [*each.mean(axis=0), each.mean()]
        rows.append([label, *(f"{mean:.5f}" for mean in means)])
    change = np.array(result["avd"]["with rules"]) - np.array(result["avd"]["without"])
    rows.append(["difference", *(f"{d:+.5f}" for d in (*change.mean(axis=0), change.mean()))])
    titles = ["AVD", *(f"w = {w}" for w in result["widths"]), "mean"]
    repeats = len(change)
    return f"n = {result['n']:,}, {repeats} paired collections\n\n{grid(titles, rows)}"
