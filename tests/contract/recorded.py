"""Estimates of every method in every design, kept: what a change of code alone must not change.

`python -m tests.contract.recorded` says how far today's are from those kept, by method;
`python -m tests.contract.recorded --write` keeps today's, after a change that is to move them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import castell
from castell.errors import CastellError
from castell.linear.operators import Floats
from tests.contract.designs import STUDIES
from tests.populations import collect, population

FILE = Path(__file__).with_name("recorded.json")
RESPONDENTS = 300
# More digits than any sum over reports has in common between machines.
DIGITS = 14

Numbers = dict[str, list[float]]


def methods_of(design: str) -> tuple[str, ...]:
    return tuple(castell.methods_for(STUDIES[design]))


def answers(design: str) -> dict[str, Numbers]:
    """By method: tables, standard errors, intervals and a grouped share of one collection."""
    study = STUDIES[design]
    people = population(tuple(a.size for a in study.schema), seed=8)
    reports = collect(study, people.table, RESPONDENTS, np.random.default_rng(9))
    return {method: _ask(castell.fit(reports, method)) for method in methods_of(design)}


def _ask(model: castell.Model) -> Numbers:
    first, second, *_ = model.study.schema
    found: Numbers = {}
    for names in ([first.name, second.name], list(model.study.names)[:3]):
        try:
            joint = model.estimate(names)
        except CastellError as refusal:
            found[" x ".join(names) + f": {type(refusal).__name__}"] = []
            continue
        found[" x ".join(names)] = _plain(joint.probabilities)
        if len(names) == 2:
            found["errors"] = _plain(joint.standard_errors)
            found["intervals"] = _plain(np.stack(joint.conf_int(0.9)))
    try:
        group = {first.name: first.values[0], second.name: list(second.values[:-1])}
        share = model.probability(group)
        found["share"] = _plain(np.array([share.value, share.standard_error, *share.conf_int()]))
    except CastellError as refusal:
        found[f"share: {type(refusal).__name__}"] = []
    return found


def _plain(numbers: Floats) -> list[float]:
    return [float(f"{number:.{DIGITS}g}") for number in np.ravel(numbers)]


def distance(one: Numbers, two: Numbers) -> float:
    """The largest difference of a number; infinite where not the same was answered."""
    if set(one) != set(two):
        return float("inf")
    apart = [np.abs(np.subtract(one[key], two[key])).max() for key in one if one[key]]
    return float(max(apart, default=0.0))


def kept() -> dict[str, dict[str, Numbers]]:
    found: dict[str, dict[str, Numbers]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def main() -> None:
    now = {design: answers(design) for design in STUDIES}
    if "--write" in sys.argv[1:]:
        lines = [
            f"{json.dumps(design)}: {{\n"
            + ",\n".join(f"{json.dumps(m)}: {json.dumps(n)}" for m, n in by_method.items())
            + "}"
            for design, by_method in now.items()
        ]
        FILE.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
        return
    before = kept()
    for design, by_method in now.items():
        for method, numbers in by_method.items():
            apart = distance(numbers, before.get(design, {}).get(method, {}))
            if apart > 0.0:
                print(f"{design}, {method}: {apart:.2g}")


if __name__ == "__main__":
    main()
