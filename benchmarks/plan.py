"""Whether a plan comes true: predicted half-widths of 95 % intervals beside simulated ones.

People are drawn from a population whose truth is known and randomised with real noise; a plan is
made for the same population, number of people and total epsilon. A row is one population, epsilon
and number of people: by width of table, the mean over designs of how far predictions are off, and
the worst; then whether the recommended design was the best in simulation, or within 10 % of it. The
second table asks for an error, of tables of one to three attributes, of a share, of a difference of
shares and of a share among a group, and simulates what is returned, the n or the epsilon, and nine
tenths of it. The reckoning of `auto` was made looking at the populations marked `decided`; the
others are fresh. Simulated are the designs that are predicted to be best, and `independent`.

A part of it: `CASTELL_POPULATIONS=adult,child`, `CASTELL_METHODS=auto`,
`CASTELL_SIZES=1000x3,10000x2` (numbers of people, and how many collections of each),
`CASTELL_GRID=sparse` (each number of people of a population at one epsilon, a Latin square, instead
of at all; with `none` the first table is left out), `CASTELL_DESIGNS=2` (so many of those that are
predicted to be best), `CASTELL_ASKED=2-way,share` (with `none` the second table is left out),
`CASTELL_JUDGED=400` (so many collections judge whether an error is reached).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import product
from math import isfinite, log
from time import perf_counter
from typing import Any

import numpy as np

import castell
from benchmarks._text import grid
from benchmarks._truths import at_hand, truth_of
from castell import Plan, Schema, Study
from castell.channels.budget import as_decimal
from castell.errors import OptionError
from castell.planning.close_simulation import Collections
from castell.planning.plan_facts import PlannedDesign
from castell.planning.population import population_of
from castell.planning.simulation import simulate
from castell.planning.targets import Target, targets_of
from experiments.datasets import truth as populations
from experiments.pool import processes, work

DECIDED = ("fair", "nursery", "adult", "census")
EPSILONS = (1.0, 2.0, 4.0, 8.0)
SIZES = (1_000, 10_000, 100_000)
# Collections simulated for each row: more where fitting is quick and few reports scatter.
REPEATS = {1_000: 12, 10_000: 4, 100_000: 1}
REPEATS_OF_AUTO = {1_000: 3, 10_000: 2, 100_000: 1}
PEOPLE = 100_000
# Designs that are simulated, those predicted to be best first; those far behind are not.
DESIGNS = 4
# What is near enough: the error of a prediction, and how far behind the best a design may be.
NEAR = {"castell": 0.05, "auto": 0.25}
BEHIND = 1.10
# The error that is asked for: by n at each epsilon, and by epsilon for so many people.
ASKED = 0.04
ASKED_AT = {"n": (2.0, 4.0), "epsilon": (2_000.0, 10_000.0)}
FEWEST_PEOPLE, MOST_PEOPLE = 200, 200_000
# What an error is asked of.
QUESTIONS = ("1-way", "2-way", "3-way", "share", "difference", "conditional")
# Collections by which it is judged whether it is reached, at most: fits of a model, and 30 times
# as many without one beside them; fewer where half-widths are known to a share of `CLOSE`.
JUDGED, CLOSE = 64, 0.007
# Not the collections that a plan is checked by.
JUDGE = 10**9
# Half-widths are known to a per cent or two.
REACHED = 1.02


@dataclass(frozen=True)
class Case:
    data: str
    method: str
    epsilon: float
    n: int
    repeats: int | None = None


@dataclass(frozen=True)
class Asked:
    """An error that is asked for: solved is n, at an epsilon, or epsilon, for so many people."""

    data: str
    method: str
    what: str
    solved: str
    at: float


def run(quick: bool) -> dict[str, Any]:
    have, missing = at_hand(quick)
    methods = _listed("CASTELL_METHODS", ("castell", "auto"))
    sizes = {1_000: None} if quick else _sizes()
    layout = os.environ.get("CASTELL_GRID", "")
    cases = [
        Case(data, method, epsilon, n, repeats)
        for method, (n, repeats), data in product(methods, sizes.items(), have)
        for epsilon in ((4.0,) if quick else _epsilons(data, n, layout))
    ]
    questions = _listed("CASTELL_ASKED", ("2-way",) if quick else QUESTIONS)
    asked = [
        Asked(data, method, what, solved, at)
        for method, data, what in product(methods, have, questions)
        for solved, every in ASKED_AT.items()
        for at in (every[-1:] if quick else every)
    ]
    with nullcontext() if quick else processes():
        rows = work(_measure, cases, "plans", cost=lambda case: 1.0 + case.n / 20_000)
        solved = work(_solve, asked, "errors asked")
    return {
        "missing": missing,
        "rows": [row for found in rows for row in found],
        "asked": [row for found in solved for row in found],
        "seconds": max((row["seconds"] for found in rows for row in found), default=0.0),
    }


def _listed(name: str, usual: Sequence[str]) -> list[str]:
    """What an environment variable lists, or what is usual; nothing for `none`."""
    named = [each for each in os.environ.get(name, "").split(",") if each]
    return [] if named == ["none"] else named or list(usual)


def _sizes() -> dict[int, int | None]:
    """Numbers of people, and how many collections of each if that is asked for."""
    parts = [each.partition("x") for each in _listed("CASTELL_SIZES", ())]
    return {int(n): int(many or 1) for n, _, many in parts} or dict.fromkeys(SIZES)


def _epsilons(data: str, n: int, layout: str) -> Sequence[float]:
    """All, or the one that a Latin square of populations and numbers of people has here."""
    if layout != "sparse":
        return () if layout == "none" else EPSILONS
    names = list(populations.names())
    place = names.index(data) if data in names else 0
    turn = SIZES.index(n) if n in SIZES else 0
    return (EPSILONS[(place + turn) % len(EPSILONS)],)


def _simulated(plan: Plan) -> list[PlannedDesign]:
    """The designs that could be the best, and the plainest."""
    able = [row for row in plan.designs if row.kind is not None and row.tells_associations]
    many = int(os.environ.get("CASTELL_DESIGNS") or DESIGNS)
    plain = [row for row in able[many:] if row.name == "independent"]
    return able[:many] + plain


def _like(truth: populations.Truth) -> Any:
    people = truth.respondents(PEOPLE, np.random.default_rng(0))
    return population_of(truth.schema, people.frame())


def _measure(case: Case) -> list[dict[str, Any]]:
    truth = truth_of(case.data)
    study = Study(truth.schema, case.epsilon)
    like = _like(truth)
    start = perf_counter()
    plan = castell.plan(study, case.n, like=like, method=case.method)
    seconds = perf_counter() - start
    usual = REPEATS if case.method == "castell" else REPEATS_OF_AUTO
    repeats = case.repeats or usual.get(case.n, 1)
    found = []
    for row in _simulated(plan):
        told = simulate(row.study, like, case.n, (), repeats, case.method, seed=case.n)
        found.append(
            {
                "data": case.data,
                "method": case.method,
                "epsilon": case.epsilon,
                "n": case.n,
                "design": row.name,
                "recommended": row is plan.best,
                "tells": row.tells_associations,
                "seconds": seconds,
                "predicted": {str(k): _finite(v) for k, v in row.half_widths.items()},
                "simulated": {key[0]: value for key, value in told.items()},
            }
        )
    return found


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _question(schema: Schema, what: str) -> dict[str, Any]:
    """A question of some kind, of the first attributes: of shares of their first values."""
    names = schema.names
    first, second = ({name: [schema[name].values[0]]} for name in names[:2])
    if what == "share":
        return {"where": {**first, **second}}
    if what == "difference":
        return {"where": first, "versus": second}
    if what == "conditional":
        return {"where": first, "given": second}
    return {"attributes": names[: int(what[0])]}


def _solve(asked: Asked) -> list[dict[str, Any]]:
    """Ask for an error, and simulate what is returned."""
    truth, by_n = truth_of(asked.data), asked.solved == "n"
    study, like = Study(truth.schema, asked.at if by_n else 4.0), _like(truth)
    question = _question(truth.schema, asked.what)
    given = {"epsilon": asked.at} if by_n else {"n": round(asked.at)}
    try:
        plan = castell.plan(study, error=ASKED, like=like, method=asked.method, **question, **given)
    except OptionError:
        return []  # so many people do not reach it at any epsilon
    if not FEWEST_PEOPLE <= plan.n <= MOST_PEOPLE:
        return []
    less, n = plan.study, round(0.9 * plan.n)
    if not by_n:
        if plan.best.kind is None:
            return []
        budget = as_decimal(round(0.9 * plan.epsilon, 4))
        less, n = plan.best.kind.study(truth.schema, budget, study.name), plan.n
    (target,) = targets_of(
        truth.schema,
        question.get("attributes"),
        question.get("where"),
        question.get("versus"),
        question.get("given"),
    )
    return [
        {
            **vars(asked),
            "design": plan.design_name,
            "n": plan.n,
            "epsilon": plan.epsilon,
            "error": ASKED,
            "reached": _reached(plan.study, plan.n, target, like, asked.method),
            "with_nine_tenths": _reached(less, n, target, like, asked.method),
        }
    ]


def _reached(study: Study, n: int, target: Target, like: Any, method: str) -> float:
    most = int(os.environ.get("CASTELL_JUDGED") or JUDGED)
    drawn = Collections(study, like, n, {target.label: [target]}, method)
    return drawn.simulate(most, CLOSE, JUDGE).half_width


def show(result: dict[str, Any]) -> str:
    parts = []
    for method in ("castell", "auto"):
        rows = [row for row in result["rows"] if row["method"] == method]
        if rows:
            parts += [f"{method}: predicted half-widths over simulated ones, less one", _grid(rows)]
            parts.append(_in_short(rows, method))
    if result["asked"]:
        lines = [
            [row["data"], row["method"], row["what"], row["design"], row["solved"]]
            + [f"{row['epsilon']:g}"]
            + [f"{row['n']:,}"]
            + [f"{row[key]:.4f}" for key in ("error", "reached", "with_nine_tenths")]
            for row in result["asked"]
        ]
        titles = [
            "data",
            "method",
            "asked of",
            "design",
            "solved",
            "eps",
            "n",
            "asked",
            "reached",
            "with .9",
        ]
        good = [
            row["reached"] <= REACHED * ASKED and row["with_nine_tenths"] > ASKED
            for row in result["asked"]
        ]
        parts += [
            "an error asked for",
            grid(titles, lines, words=5),
            f"reached within {REACHED - 1:.0%}, and not by nine tenths: {sum(good)} of {len(good)}",
        ]
    parts.append(f"the longest plan took {result['seconds']:.1f} s")
    if result["missing"]:
        parts.append("without " + "; ".join(result["missing"]))
    return "\n\n".join(parts)


Row = dict[str, Any]


def off(row: Row, width: str) -> float | None:
    """How far a prediction is off; None where there is no interval."""
    predicted, simulated = row["predicted"].get(width), row["simulated"].get(width)
    if not predicted or not simulated or not isfinite(simulated):
        return None
    return float(predicted) / float(simulated) - 1.0


def behind(rows: Sequence[Row]) -> float | None:
    """How many times longer the recommended design's intervals were than the best one's."""
    able = [row for row in rows if row["tells"] and "2" in row["simulated"]]
    chosen = [row for row in able if row["recommended"]]
    if not chosen:
        return None
    return float(chosen[0]["simulated"]["2"] / min(row["simulated"]["2"] for row in able))


def _by_case(rows: Sequence[Row]) -> dict[tuple[str, float, int], list[Row]]:
    found: dict[tuple[str, float, int], list[Row]] = defaultdict(list)
    for row in rows:
        found[row["data"], row["epsilon"], row["n"]].append(row)
    return found


def _grid(rows: Sequence[Row]) -> str:
    lines = []
    for (data, epsilon, n), several in _by_case(rows).items():
        line = [data, "decided" if data in DECIDED else "fresh", f"{epsilon:g}", f"{n:,}"]
        for width in ("1", "2", "3"):
            found = [x for row in several if (x := off(row, width)) is not None]
            worst = max(found, key=abs, default=None)
            mean = float(np.mean(np.abs(found))) if found else None
            line.append("-" if mean is None else f"{mean:.3f} ({worst:+.2f})")
        times = behind(several)
        best = next((row["design"] for row in several if row["recommended"]), "-")
        line += [best, "-" if times is None else f"{times:.2f}"]
        lines.append(line)
    titles = ["data", "", "eps", "n", "1-way", "2-way", "3-way", "recommended", "x best"]
    return grid(titles, lines, words=2)


def _in_short(rows: Sequence[Row], method: str) -> str:
    lines = []
    for mark, wanted in (("decided", True), ("fresh", False)):
        own = [row for row in rows if (row["data"] in DECIDED) is wanted]
        found = [x for row in own for width in "123" if (x := off(row, width)) is not None]
        if not found:
            continue
        apart = np.abs(np.array([log(1.0 + x) for x in found]))
        times = [t for several in _by_case(own).values() if (t := behind(several)) is not None]
        shares = ", ".join(
            f"{np.mean(apart <= log(1.0 + near)):.1%} within {near:.0%}"
            for near in (0.05, 0.1, 0.25)
        )
        good = float(np.mean(np.array(times) <= BEHIND)) if times else 1.0
        lines.append(
            f"{mark}: {len(found)} predictions, {shares}; wanted are {NEAR[method]:.0%}. "
            f"Recommended best or within 10 %: {good:.1%} of {len(times)}"
        )
    return "\n".join(lines)
