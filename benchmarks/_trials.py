"""Collections repeated with real noise: how far each method is off, by attribute set."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import comb, prod
from time import perf_counter
from typing import Any

import numpy as np

import castell
from benchmarks._population import DataMissingError, generate_population
from castell import CastellError, Study
from castell.evaluation.metrics import METRICS
from castell.linear.operators import Floats
from experiments.datasets import load
from experiments.datasets.population import DataError, Population
from experiments.harness import draw_sets, references

MEASURES = ("avd", "tvd")
METHODS = ("auto", "latent", "em", "castell", "independent", "truncated", "hybrid")
DESIGNS = ("independent", "singles", "pairs", "cover")
DATA = ("adult", "nursery", "german", "census1990", "generated")
# A study of all 68 attributes asks for no more than pairs; every fourth one leaves room for six.
EVERY = {"census1990": 4}

Names = tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What to measure. `sets` attribute sets of each width, None for all; `cells` is em's limit."""

    data: tuple[str, ...] = DATA[:4]
    designs: tuple[str, ...] = ("cover", "independent")
    epsilon: tuple[float, ...] = (4.0,)  # in all
    each: tuple[float, ...] = (2.0,)  # for each attribute, design independent only
    widths: tuple[int, ...] = (2, 3, 4, 5, 6)
    methods: tuple[str, ...] = METHODS
    repeats: int = 2
    sets: int | None = 5
    cells: int = 20_000
    seed: int = 0


QUICK = Plan(data=("generated",), widths=(2, 3), sets=3, each=())


@dataclass(frozen=True)
class Case:
    """One collection: a data set, a design and what a respondent spends in all."""

    data: str
    design: str
    total: float

    def __str__(self) -> str:
        return f"{self.data}, {self.design}, epsilon {self.total:g} in all"


def people_of(name: str) -> Population:
    """A population by name; of a wide one only some attributes, and its note says so."""
    if name == "generated":
        made = generate_population((3, 2, 4, 2, 3, 2), 3000)
        return Population(name, made.schema, made.codes, "made-up answers of four kinds of people")
    try:
        people = load(name)
    except DataError as error:
        raise DataMissingError(error.problem, error.remedy) from None
    if name not in EVERY:
        return people
    some = people.select(people.schema.names[:: EVERY[name]])
    kept, of = len(some.schema), len(people.schema)
    note = f"{people.note}, {kept} of {of} attributes (every {EVERY[name]}th)"
    return Population(name, some.schema, some.codes, note)


def cases(plan: Plan) -> list[Case]:
    """Every collection of a plan, once."""
    found = []
    for name in plan.data:
        many = len(people_of(name).schema)
        for design in plan.designs:
            own = [each * many for each in plan.each] if design == "independent" else []
            found += [Case(name, design, total) for total in (*plan.epsilon, *own)]
    return list(dict.fromkeys(found))


def measure(plan: Plan) -> dict[str, Any]:
    """Every case of a plan, plain enough for JSON."""
    todo = cases(plan)
    found = []
    for number, case in enumerate(todo, 1):
        found.append(_measure(plan, case, f"{number}/{len(todo)} {case}"))
    return {"plan": asdict(plan), "cases": found}


def _measure(plan: Plan, case: Case, title: str) -> dict[str, Any]:
    people = people_of(case.data)
    many = len(people.schema)
    study = Study(people.schema, epsilon=case.total, design=case.design, name=case.data)
    sets = {w: draw_sets(people, w, plan.sets) for w in plan.widths if w <= many}
    truth = {names: people.table(names) for chosen in sets.values() for names in chosen}
    errors: dict[str, list[dict[Names, list[float]]]] = {}
    seconds: dict[str, list[float]] = {}
    for repeat in range(plan.repeats):
        # The same seed for every method: they are compared on the same reports.
        seed = 1_000_003 * plan.seed + repeat
        reports = study.randomize(people.frame(), seed=seed)
        again = people.take(np.random.default_rng([seed, 1]).integers(0, people.n, people.n))
        for names, table in truth.items():
            for label, guess in references(table, again.table(names)).items():
                rounds = errors.setdefault(label, [{} for _ in range(plan.repeats)])
                rounds[repeat][names] = _far(table, guess)
        for method in plan.methods:
            start = perf_counter()
            limit = plan.cells if method == "em" else None
            found = _answers(_fit_if_read(reports, method), truth, limit)
            errors.setdefault(method, [{} for _ in range(plan.repeats)])[repeat] = found
            seconds.setdefault(method, []).append(round(perf_counter() - start, 2))
            _say(f"{title}: repeat {repeat + 1}/{plan.repeats}, {method} {seconds[method][-1]} s")
    return {
        **asdict(case),
        "note": people.note,
        "n": people.n,
        "attributes": many,
        "blocks": len(study.design.blocks),
        "each": case.total / many if case.design == "independent" else None,
        "repeats": plan.repeats,
        "sets": {str(w): [len(chosen), comb(many, w)] for w, chosen in sets.items()},
        "cells": plan.cells,
        "seconds": {m: float(np.mean(s)) for m, s in seconds.items()},
        "lines": [
            line
            for method, rounds in errors.items()
            for w, chosen in sets.items()
            if (line := _line(method, w, chosen, rounds, errors.get("auto")))
        ],
    }


def _fit_if_read(reports: castell.Reports, method: str) -> Callable[[Names], Floats] | None:
    """What a method answers; None where it has nothing to say about such a design."""
    try:
        model = castell.fit(reports, method)
    except CastellError:
        return None
    return lambda names: model.estimate(names).probabilities


def _answers(
    answer: Callable[[Names], Floats] | None, truth: dict[Names, Floats], limit: int | None
) -> dict[Names, list[float]]:
    """How far off each table is, without those that are refused or left out."""
    found: dict[Names, list[float]] = {}
    for names, table in truth.items():
        if answer is None or (limit is not None and prod(table.shape) > limit):
            continue
        try:
            found[names] = _far(table, answer(names))
        except CastellError:
            continue
    return found


def _far(truth: Floats, guess: Floats | None) -> list[float]:
    return [METRICS[measure](truth, guess) for measure in MEASURES if guess is not None]


def _line(
    method: str,
    width: int,
    chosen: Sequence[Names],
    rounds: Sequence[dict[Names, list[float]]],
    auto: Sequence[dict[Names, list[float]]] | None,
) -> dict[str, Any] | None:
    """The mean error over the sets of a width in each repeat; a set counts if always answered.

    Where some were not, `same` is what `auto` has on those that were.
    """
    kept = [names for names in chosen if all(names in found for found in rounds)]
    if not kept:
        return None
    partial = auto is not None and len(kept) < len(chosen)
    return {
        "method": method,
        "width": width,
        "answered": len(kept),
        **_means(kept, rounds),
        "same": _means(kept, auto) if partial and auto is not None else None,
    }


def _means(kept: Sequence[Names], rounds: Sequence[dict[Names, list[float]]]) -> dict[str, Any]:
    values = np.array([[found[names] for names in kept] for found in rounds]).mean(axis=1)
    return {measure: values[:, k].tolist() for k, measure in enumerate(MEASURES)}


def _say(text: str) -> None:
    """One line of progress: on a terminal always the same one, in a file one after the other."""
    end = "\x1b[K\r" if sys.stderr.isatty() else "\n"
    print(text, end=end, file=sys.stderr, flush=True)
