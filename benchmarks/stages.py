"""Whether a first stage teaches the rest how to ask: one stage and several, paired.

The same people, in the same random order, are asked in one stage and in several; every respondent
is randomised with real noise and spends the same. AVD is the largest error of any cell of a table,
a mean over all sets of two to six attributes (some, of wide data). `paired` is the mean difference
over collections, with its standard error; `covered` the share of 95 % intervals of cells above one
per cent that hold the truth, and their median width, in tables of one to three attributes.
`python -m benchmarks.stages --help` measures one case. With `--people N` so many respondents are
drawn anew for each collection from a population of `benchmarks intervals`; the truth is the
population's, and staged intervals answer the questions of all kinds that are asked there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import castell
from benchmarks._text import grid
from benchmarks._trials import DATA, people_of
from benchmarks._truths import truth_of
from benchmarks.intervals import KINDS, ask
from benchmarks.structural_zeros import RULES
from castell import Model, Reports, Schema, Study, plan_next
from experiments.datasets import load
from experiments.datasets import truth as populations
from experiments.datasets.population import Population
from experiments.datasets.truth import Truth
from experiments.harness import draw_sets

# Data sets that are files, of which some columns may be asked.
FILES = DATA[:4]
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
    people: int | None = None  # drawn from a population for each collection; else all rows
    columns: int | None = None  # the first so many of all attributes; else those of `people_of`


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
        made = Case("generated", 4.0, "pairs", (0.2,))
        return {"cases": [measure(made, range(1)), measure(replace(made, people=1000), range(1))]}
    return {"cases": [measure(case, range(8)) for case in CASES]}


def measure(case: Case, seeds: Sequence[int]) -> dict[str, Any]:
    """One stage and several, for each of some collections."""
    if case.people is not None:
        return _measure_fresh(case, case.people, seeds)
    people = _people(case)
    schema = Schema(people.schema, impossible=RULES) if case.rules else people.schema
    study = Study(schema, epsilon=case.epsilon, design=case.design, name=case.data)
    rounds = [_round(people, study, case, seed) for seed in seeds]
    return {**asdict(case), "n": people.n, "note": people.note, "rounds": rounds}


def _people(case: Case) -> Population:
    if case.columns is None:
        return people_of(case.data)
    people = load(case.data)
    return people.select(people.schema.names[: case.columns])


def _measure_fresh(case: Case, n: int, seeds: Sequence[int]) -> dict[str, Any]:
    """The same with respondents drawn from a population, and questions of every kind."""
    truth = truth_of(case.data)
    study = Study(truth.schema, epsilon=case.epsilon, design=case.design, name=case.data)
    rounds = []
    for seed in seeds:
        # Other people in every row: were they the same, one odd sample would show in all of them.
        row = f"{case.data} {case.design} {case.epsilon}".encode()
        people = truth.respondents(n, np.random.default_rng([seed, n, *row]))
        plain, staged, simulated = _collections(people, study, case, seed)
        model = castell.fit(staged)
        one, two = _judge(castell.fit(plain), truth), _judge(model, truth)
        seen = ask({"auto": model}, truth, np.random.default_rng([seed, 2]))
        kinds = {kind: [float(each[0]) for each in found] for (_, kind), found in seen.items()}
        held = {kind: [len(inside), float(np.mean(inside))] for kind, inside in kinds.items()}
        found = {"seed": seed, "simulated": simulated, "one": one, "staged": two, "kinds": held}
        rounds.append(found)
    return {**asdict(case), "n": n, "note": truth.note, "rounds": rounds}


def _round(people: Population, study: Study, case: Case, seed: int) -> dict[str, Any]:
    plain, staged, simulated = _collections(people, study, case, seed)
    return {
        "seed": seed,
        "simulated": simulated,
        "one": _judge(castell.fit(plain), people),
        "staged": _judge(castell.fit(staged), people),
    }


def _collections(
    people: Population, study: Study, case: Case, seed: int
) -> tuple[list[Reports], list[Reports], list[tuple[float, float]]]:
    """In one stage and in several, and what each plan's simulation said."""
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
    return plain, staged, simulated


def _judge(model: Model, people: Population | Truth) -> dict[str, Any]:
    many = len(people.schema)
    most = None if many <= 9 else SETS
    sets = [s for w in range(2, min(many, 6) + 1) for s in draw_sets(people, w, most)]
    far = [_far(model, people, names) for names in sets]
    return {"sets": len(sets), "avd": float(np.mean(far)), **_coverage(model, people)}


def _far(model: Model, people: Population | Truth, names: tuple[str, ...]) -> float:
    return float(np.abs(model.estimate(names).probabilities - people.table(names)).max())


def _coverage(model: Model, people: Population | Truth) -> dict[str, float]:
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
    fresh = [case for case in result["cases"] if case.get("people")]
    parts = [grid(titles, rows, words=2), *([_kinds(fresh)] if fresh else [])]
    return "\n\n".join(parts)


def _kinds(cases: list[dict[str, Any]]) -> str:
    """Staged intervals that hold the truth, by kind of question."""
    lines = []
    for case in cases:
        line = [case["data"], case["design"], f"{case['n']:,}", f"{case['epsilon']:g}"]
        for kind in KINDS:
            each = np.array([r["kinds"][kind] for r in case["rounds"] if kind in r["kinds"]])
            line.append(f"{np.average(each[:, 1], weights=each[:, 0]):.3f}" if len(each) else "-")
        lines.append(line)
    return grid(["data", "first design", "n", "epsilon", *KINDS], lines, words=2)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.stages", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--data", choices=sorted({*DATA, *populations.names()}), default="adult")
    parser.add_argument("--people", type=int, help="draw so many from a population each time")
    parser.add_argument("--columns", type=int, help="ask the first so many attributes of a file")
    parser.add_argument("--epsilon", type=float, default=4.0, help="what a respondent spends")
    parser.add_argument("--design", default="cover", help="of the first stage")
    parser.add_argument("--ends", default="0.1", help="where stages end: 0.15,0.5")
    parser.add_argument("--rules", action="store_true", help="with what is impossible in Adult")
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--json", type=Path, help="write all numbers")
    given = parser.parse_args(arguments)
    ends = tuple(float(end) for end in given.ends.split(","))
    if given.rules and (given.data != "adult" or given.people):
        parser.error("--rules are those of adult, and all of its rows")
    if given.people is None and given.data not in DATA:
        parser.error(f"say how many respondents to draw from {given.data}: --people 10000")
    if given.columns and (given.people or given.data not in FILES):
        parser.error(f"--columns are of {', '.join(FILES)}, and all of their rows")
    case = Case(
        given.data, given.epsilon, given.design, ends, given.rules, given.people, given.columns
    )
    result = {"cases": [measure(case, range(given.first, given.first + given.repeats))]}
    print(show(result))
    if given.json:
        given.json.write_text(json.dumps(result, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
