"""One error for many settings: what the figures with an x axis have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments import datasets
from experiments.datasets import synthetic
from experiments.datasets.population import DataError, Population
from experiments.harness import schemes_named, summarise
from experiments.questions import Question, evaluate, left_out
from experiments.settings import Settings, budgets, describe
from experiments.text import Result, mean_of, pick

PAIR = ("A", "B")
# Where the census has only its first rows, a made-up one of full size stands beside it.
FULL_CENSUS, FULL_SETS = "census_standin", 4
FULL_SCHEMES = ("castell", "independent", "hybrid", "truncated")
# Where a synthetic panel does not vary something, it has the paper's example of it.
EXAMPLE = {"n": 1000, "d": 10, "v": 0.5, "eps": 1.0}


def populations(which: Iterable[str] = datasets.PAPER) -> tuple[list[Population], list[str]]:
    """The data sets that can be had, and why the others cannot; none at all is an error."""
    found, missing = [], []
    for name in which:
        try:
            found.append(datasets.load(name))
        except DataError as error:
            missing.append(f"{name}: {error}")
    if not found:
        raise DataError("no data set can be had", "; ".join(missing))
    return found, missing


def records(
    people: Population, x: float, errors: Mapping[str, np.ndarray[Any, Any]]
) -> list[dict[str, Any]]:
    """A record for each scheme at one x."""
    return [
        {"data": people.name, "scheme": scheme, "x": x, **summarise(values)}
        for scheme, values in errors.items()
    ]


def about(settings: Settings, people: Sequence[Population], **facts: Any) -> dict[str, Any]:
    """The settings of a figure over several data sets."""
    notes = "; ".join(p.note for p in people)
    return describe(settings, data=notes, n=[p.n for p in people], **facts)


def over_data(
    settings: Settings,
    repeats: int,
    points: Callable[[Population], Iterable[tuple[float, Question]]],
    facts: Callable[[Sequence[Population]], Mapping[str, Any]],
) -> dict[str, Any]:
    """AVD at some x of each data set: what `points` asks of it; `facts` are for the about line.

    The census at full size is a stand-in, and takes long: it is asked once, by few schemes.
    """
    found, missing = populations()
    asked = [point for people in found for point in points(people)]
    questions = [question for _, question in asked]
    errors = evaluate(questions, settings, repeats)
    if not settings.quick:
        full, none = populations([FULL_CENSUS]) if not _whole(found) else ([], [])
        more = [point for people in full for point in points(people)]
        few = [replace(q, sets=q.sets[:: -(-len(q.sets) // FULL_SETS)]) for _, q in more]
        errors += evaluate(few, settings, 1, chosen=schemes_named(*FULL_SCHEMES))
        asked += [(x, q) for (x, _), q in zip(more, few, strict=True)]
        found, missing = [*found, *full], [*missing, *none]
    result = [
        record
        for (x, question), values in zip(asked, errors, strict=True)
        for record in records(question.people, x, values)
    ]
    left = left_out(questions, settings, repeats)
    if not settings.quick and len(asked) > len(questions):
        left.append(f"the stand-in once, {FULL_SETS} sets, by {', '.join(FULL_SCHEMES)} alone")
    said = {"repeats": repeats, "left out": left, **facts(found)}
    return {"about": about(settings, found, **said), "records": result, "missing": missing}


def _whole(found: Sequence[Population]) -> bool:
    return any(p.name.startswith("census") and p.n > 2_000_000 for p in found)


def one_budget(settings: Settings, sets: str) -> Callable[[Sequence[Population]], dict[str, Any]]:
    """The facts of a figure with one budget: epsilon 1 for each attribute, or as asked."""
    return lambda found: {**budgets(settings, [len(p.schema) for p in found], 1.0), "sets": sets}


def over_synthetic(settings: Settings, vary: str, values: Sequence[float]) -> dict[str, Any]:
    """MAE on synthetic data while one of n, d, v and epsilon varies."""
    repeats, least = settings.times(40, 10), settings.times(6, 3)
    each = settings.one_each(2, EXAMPLE["eps"]) if vary != "eps" else EXAMPLE["eps"]
    questions = []
    for x in values:
        now = {**EXAMPLE, "eps": each, vary: x}
        people = synthetic.population(int(now["n"]), int(now["d"]), now["v"])
        questions.append(Question(people, now["eps"], [PAIR]))
    errors = evaluate(questions, settings, repeats, metric="mae", least=least)
    fixed = {**EXAMPLE, "eps": each}
    said = [f"{name} = {value:g}" for name, value in fixed.items() if name not in (vary, "eps")]
    epsilons = list(values) if vary == "eps" else [each]
    facts = {
        "data": f"synthetic data, {', '.join(said)}",
        "each": epsilons,
        "total": [2 * e for e in epsilons],
        "repeats": repeats,
        "left out": left_out(questions, settings, repeats, least=least),
    }
    found = [
        record
        for x, question, errs in zip(values, questions, errors, strict=True)
        for record in records(question.people, x, errs)
    ]
    return {"about": describe(settings, **facts), "records": found}


def slope(result: Result, scheme: str, data: str, least: float = 0.0) -> float | None:
    """The power of x by which an error goes, fitted over all x from `least` on."""
    found = [r for r in pick(result, scheme=scheme, data=data) if r["mean"] and r["x"] >= least]
    if len(found) < 2:
        return None
    x, y = (np.log([r[k] for r in found]) for k in ("x", "mean"))
    return float(np.polyfit(x, y, 1)[0])


def last_win(result: Result, data: str, ours: str = "castell", theirs: str = "independent") -> Any:
    """The x up to which one scheme beats another, without a gap; None if it never does."""
    last = None
    for x in sorted({r["x"] for r in pick(result, data=data)}):
        one, two = (mean_of(result, data=data, scheme=s, x=x) for s in (ours, theirs))
        if one is None or two is None or one >= two:
            break
        last = x
    return last


def first_win(result: Result, data: str, ours: str = "castell", theirs: str = "independent") -> Any:
    """The smallest x from which on one scheme beats another; None if it never does."""
    first = None
    for x in sorted({r["x"] for r in pick(result, data=data)}, reverse=True):
        one, two = (mean_of(result, data=data, scheme=s, x=x) for s in (ours, theirs))
        if one is None or two is None or one >= two:
            break
        first = x
    return first
