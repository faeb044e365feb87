"""Whether a first stage teaches the rest how to ask: one stage and several, paired.

The same people, in the same random order, are asked in one stage and in several; every respondent
is randomised with real noise and spends the same. AVD is the largest error of any cell of a table,
a mean over all sets of two to six attributes (some, of wide data). `paired` is the mean difference
over collections, with its standard error; `covered` the share of 95 % intervals of cells above one
per cent that hold the truth, and their median width, in tables of one to three attributes.
`python -m benchmarks.stages --help` measures one case.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import castell
from benchmarks._text import grid
from benchmarks._trials import DATA, people_of
from benchmarks.structural_zeros import RULES
from castell import Model, Reports, Schema, Study, plan_next
from experiments.datasets.population import Population
from experiments.harness import draw_sets

# Of wide data so many sets of each width.
SETS = 20


@dataclass(frozen=True)
class Case:
    """A data set, what a respondent spends, the first design, and where stages end."""

    data: str
    epsilon: float
    design: str
    ends: tuple[float, ...]
    rules: bool = False  # with combinations declared impossible, of Adult


CASES = (
    Case("adult", 4.0, "cover", (0.1,)),
    Case("adult", 4.0, "cover", (0.1,), rules=True),
    Case("adult", 1.0, "pairs", (0.15, 0.5)),
    Case("nursery", 4.0, "cover", (0.1,)),
    Case("german", 4.0, "cover", (0.1,)),
    Case("census1990", 4.0, "cover", (0.1,)),
)


def run(quick: bool) -> dict[str, Any]:
    if quick:
        return {"cases": [measure(Case("generated", 4.0, "pairs", (0.2,)), range(2))]}
    return {"cases": [measure(case, range(8)) for case in CASES]}


def measure(case: Case, seeds: Sequence[int]) -> dict[str, Any]:
    """One stage and several, for each of some collections."""
    people = people_of(case.data)
    schema = Schema(people.schema, impossible=RULES) if case.rules else people.schema
    study = Study(schema, epsilon=case.epsilon, design=case.design, name=case.data)
    rounds = [_round(people, study, case, seed) for seed in seeds]
    return {**asdict(case), "n": people.n, "note": people.note, "rounds": rounds}


def _round(people: Population, study: Study, case: Case, seed: int) -> dict[str, Any]:
    order = np.random.default_rng([seed, 77]).permutation(people.n)
    limits = [0, *(int(end * people.n) for end in case.ends), people.n]
    parts = [people.take(order[low:high]).frame() for low, high in pairwise(limits)]
    # Seeds keep the numbers of a benchmark apart from one another, and repeatable.
    first = study.randomize(parts[0], seed=1000 + seed)
    staged, simulated = [first], []
    for k, answers in enumerate(parts[1:], 1):
        plan = plan_next(staged, people.n - limits[k])
        simulated.append(plan.errors)
        staged.append(plan.study.randomize(answers, seed=9000 + 100 * k + seed))
    rest = people.take(order[limits[1] :]).frame()
    plain = [first, study.randomize(rest, seed=5000 + seed)]
    return {
        "seed": seed,
        "simulated": simulated,
        "one": _judge(plain, people),
        "staged": _judge(staged, people),
    }


def _judge(reports: list[Reports], people: Population) -> dict[str, Any]:
    model, many = castell.fit(reports), len(people.schema)
    most = None if many <= 9 else SETS
    sets = [s for w in range(2, min(many, 6) + 1) for s in draw_sets(people, w, most)]
    far = [_far(model, people, names) for names in sets]
    return {"sets": len(sets), "avd": float(np.mean(far)), **_coverage(model, people)}


def _far(model: Model, people: Population, names: tuple[str, ...]) -> float:
    return float(np.abs(model.estimate(names).probabilities - people.table(names)).max())


def _coverage(model: Model, people: Population) -> dict[str, float]:
    held, widths = [], []
    for width in (1, 2, 3):
        for names in draw_sets(people, width, 10):
            low, high = model.estimate(names).conf_int(0.95)
            truth = people.table(names)
            large = truth > 0.01
            held.append(((low <= truth) & (truth <= high))[large].mean())
            widths.append(np.median((high - low)[large]))
    return {"covered": float(np.mean(held)), "width": float(np.median(widths))}


def show(result: dict[str, Any]) -> str:
    rows = []
    for case in result["cases"]:
        one = np.array([r["one"]["avd"] for r in case["rounds"]])
        two = np.array([r["staged"]["avd"] for r in case["rounds"]])
        apart = two - one
        error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else float("nan")
        ends = " ".join(f"{end:.0%}" for end in case["ends"])
        covered, wide = (
            [float(np.mean([r[k][what] for r in case["rounds"]])) for k in ("one", "staged")]
            for what in ("covered", "width")
        )
        rows.append(
            [
                case["data"] + " with rules" * case["rules"],
                f"{case['design']}, {ends}",
                f"{case['n']:,}",
                f"{case['epsilon']:g}",
                str(len(apart)),
                f"{one.mean():.4f}",
                f"{two.mean():.4f}",
                f"{apart.mean():+.4f} ± {error:.4f}",
                f"{covered[0]:.3f} {covered[1]:.3f}",
                f"{wide[0]:.4f} {wide[1]:.4f}",
            ]
        )
    titles = ["data", "first design, stages end at", "n", "epsilon", "collections", "one stage"]
    titles += ["staged", "paired", "covered, one and staged", "width, one and staged"]
    return grid(titles, rows, words=2)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.stages", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--data", choices=DATA, default="adult")
    parser.add_argument("--epsilon", type=float, default=4.0, help="what a respondent spends")
    parser.add_argument("--design", default="cover", help="of the first stage")
    parser.add_argument("--ends", default="0.1", help="where stages end: 0.15,0.5")
    parser.add_argument("--rules", action="store_true", help="with what is impossible in Adult")
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--json", type=Path, help="write all numbers")
    given = parser.parse_args(arguments)
    ends = tuple(float(end) for end in given.ends.split(","))
    if given.rules and given.data != "adult":
        parser.error("--rules are those of adult")
    case = Case(given.data, given.epsilon, given.design, ends, given.rules)
    result = {"cases": [measure(case, range(given.first, given.first + given.repeats))]}
    print(show(result))
    if given.json:
        given.json.write_text(json.dumps(result, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
