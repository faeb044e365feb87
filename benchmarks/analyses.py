"""Whether 95 % intervals of analyses hold the truth 95 % of the time, over many collections.

Respondents are drawn anew each time, with replacement, from a population whose answers are known,
and randomised with real noise; the truth is what the same analysis says of all its answers. Values
are numbers, 0, 1, 2, ..., so that each attribute has a mean; groups of values are random, of a
tenth of the people at least. Conditional shares, differences, relative risks, odds ratios, two
waves, means, shares and means of weighted samples of villages in strata, Cramer's V, correlations
of scores, and coefficients: those that a fit to the answers would have. An interval that says
nothing ([0, 1], or one without ends) cannot be wrong. Were each of those left out, what is left
would be covered less often than promised: they are what noise makes of a question that can hardly
be answered. So rows are left out whole, of one population, design, epsilon and analysis, in which
most intervals say nothing; in the others all count, and `untold` says how many say nothing.
`false alarms` is how often independence, made true by shuffling, is rejected at 5 %.

A part of it: `CASTELL_POPULATIONS=adult,child CASTELL_DESIGNS=cover CASTELL_EPSILONS=4
CASTELL_REPEATS=10 CASTELL_FIRST=100 CASTELL_METHODS=castell CASTELL_ANALYSES=weighted,regression`;
epsilon is the total, repeats are collections of each, with seeds from the first on; analyses are
`answers` (what depends on the method), `weighted`, `association` and `regression`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import castell
from benchmarks._analysis_questions import Question, Truths, questions, truths, with_numbers
from benchmarks._sampled_villages import Villages
from benchmarks._text import grid
from benchmarks._truths import at_hand, truth_of
from castell import CastellError, Study
from castell.linear.operators import Floats
from experiments.datasets.population import Population
from experiments.pool import work

LEVEL = 0.95
METHODS = "castell,auto"
ANALYSES = "answers,weighted,association,regression"
# Rules and constants of these intervals were decided on them; Fair was looked at for V and for
# coefficients, ANES for coefficients.
DECIDED = ("adult", "nursery", "german", "census", "fair", "anes96")
ASKED = 6
PEOPLE = 3000

# The method, what is analysed, whether the interval holds the truth; None where it says nothing.
Seen = list[tuple[str, str, bool | None]]
# A collection, asked of other people each time: data, design, total epsilon, seed, questions, n.
Job = tuple[str, str, float, int, int, int]


@dataclass(frozen=True, eq=False)
class _Collected:
    """Two waves of reports, and reports of a sample of villages with its weights."""

    study: Study
    waves: tuple[castell.Reports, castell.Reports]
    villages: castell.Reports
    sampling: dict[str, Any]


def run(quick: bool) -> dict[str, Any]:
    """All rows; with `quick` one collection of people who do not exist."""
    have, missing = at_hand(quick)
    designs = ("independent",) if quick else _listed("DESIGNS", "independent,cover")
    epsilons = ("8",) if quick else _listed("EPSILONS", "2,4,8")
    repeats = 1 if quick else int(os.environ.get("CASTELL_REPEATS", "10"))
    first = int(os.environ.get("CASTELL_FIRST", "0"))
    asked, n = (1, 400) if quick else (ASKED, PEOPLE)
    jobs: list[Job] = [
        (data, design, float(epsilon), seed, asked, n)
        for data, design, epsilon in product(have, designs, epsilons)
        for seed in range(first, first + repeats)
    ]
    seen: dict[tuple[str, str, float], list[Seen]] = defaultdict(list)
    for job, found in zip(jobs, work(_collect, jobs, "collections"), strict=True):
        seen[job[:3]].append(found)
    rows = [
        {"data": data, "design": design, "epsilon": epsilon, **row}
        for (data, design, epsilon), found in seen.items()
        for row in _rows(found)
    ]
    return {"rows": rows, "missing": missing, "repeats": repeats, "n": n}


def _listed(what: str, usual: str) -> list[str]:
    return [part for part in os.environ.get(f"CASTELL_{what}", usual).split(",") if part]


def _rows(collections: Sequence[Seen]) -> Iterator[dict[str, Any]]:
    """By method and analysis: how many intervals said something, and held the truth."""
    kinds = dict.fromkeys((m, kind) for found in collections for m, kind, _ in found)
    for method, kind in kinds:
        hits = [hit for found in collections for m, a, hit in found if (m, a) == (method, kind)]
        told = [hit for hit in hits if hit is not None]
        yield {
            "method": method,
            "analysis": kind,
            "intervals": len(told),
            "untold": len(hits) - len(told),
            "covered": sum(told),
        }


def _collect(job: Job) -> Seen:
    data, design, epsilon, seed, many, n = job
    people = with_numbers(truth_of(data))
    # Other people in every row: were they the same, one odd sample would show in all of them.
    generator = np.random.default_rng([seed, *f"{data} {design} {epsilon}".encode()])
    study = Study(people.schema, epsilon, design, name=data)
    asked = list(questions(people, many))
    known = [truths(people, question) for question in asked]
    made = _reports(people, study, n, generator)
    asks = _listed("ANALYSES", ANALYSES)
    seen: Seen = []

    def keep(who: str, found: Iterator[Any]) -> None:
        seen.extend((who, name, _holds(*interval)) for name, *interval in found)

    for method in _listed("METHODS", METHODS):
        if "answers" in asks:
            models = [castell.fit(wave, method) for wave in made.waves]
            for question, truth in zip(asked, known, strict=True):
                keep(method, _intervals(models, question, truth))
        if "weighted" in asks:
            weighted = castell.fit(made.villages, method, **made.sampling)
            villages = Villages.of(people).people
            for question in asked:
                keep(method, _weighted(weighted, question, truths(villages, question)))
    for question, truth in zip(asked, known, strict=True):
        if "association" in asks:
            first = castell.fit(made.waves[0], "castell")
            keep("reports", _of_pairs(first, question, truth))
        if "regression" in asks:
            keep("reports", _coefficients(made.waves[0], question, truth))
    if "association" in asks:
        apart = castell.fit(_shuffled(people, study, n, generator), "castell")
        for question in asked:
            p = apart.association(*question.names).p_value
            if p == p:  # the design has reports of both
                seen.append(("reports", "false alarms", p < 0.05))
    return seen


def _reports(
    people: Population, study: Study, n: int, generator: np.random.Generator
) -> _Collected:
    def reports(of: Population, rows: Any) -> castell.Reports:
        seed = int(generator.integers(2**62))
        return study.randomize(of.take(rows).frame(), seed=seed)

    one, two = (reports(people, generator.integers(0, people.n, n)) for _ in range(2))
    villages = Villages.of(people)
    rows, weights, strata, clusters = villages.sample(n, generator)
    sampling = {"weights": weights, "strata": strata, "clusters": clusters}
    return _Collected(study, (one, two), reports(villages.people, rows), sampling)


def _shuffled(
    people: Population, study: Study, n: int, generator: np.random.Generator
) -> castell.Reports:
    codes = {
        name: column[generator.integers(0, people.n, n)] for name, column in people.codes.items()
    }
    apart = Population(people.name, people.schema, codes, "")
    return study.randomize(apart.frame(), seed=int(generator.integers(2**62)))


def _holds(true: float, interval: tuple[float, float], least: float, most: float) -> bool | None:
    """Whether an interval holds the truth; None where it is all that there is."""
    low, high = (float(end) for end in interval)
    if low <= least and high >= most:
        return None
    return bool(low - 1e-9 <= true <= high + 1e-9)


_ENDS = {
    "difference": (-1.0, 1.0),
    "relative_risk": (0.0, np.inf),
    "odds_ratio": (0.0, np.inf),
}


def _intervals(models: Any, question: Question, truth: Truths) -> Iterator[Any]:
    """What depends on the method; nothing where the design has no such pair and the method needs
    one."""
    model, second = models
    one, known = question.names[0], truth.numbers
    most = float(model.study.schema[one].size - 1)
    yield "mean", known["mean"], model.mean(one).conf_int(LEVEL), 0.0, most
    try:
        found = model.compare(question.asked, given=question.given, versus=question.versus)
    except CastellError:
        return
    low, high = model.conditional(question.asked, given=question.given).conf_int(LEVEL)
    yield "conditional", known["conditional"], (low[0], high[0]), 0.0, 1.0
    for contrast in found.contrasts:
        kind = contrast.kind.value
        if np.isfinite(known[kind]):
            yield kind, known[kind], contrast.conf_int(LEVEL), *_ENDS[kind]
    within = model.mean(one, given=question.given)
    yield "mean within a group", known["mean within a group"], within.conf_int(LEVEL), 0.0, most
    waves = castell.compare(model, second, question.asked, given=question.given)
    yield "two waves", 0.0, waves.difference.conf_int(LEVEL), -1.0, 1.0


def _weighted(model: Any, question: Question, truth: Truths) -> Iterator[Any]:
    one, known = question.names[0], truth.numbers
    share = model.probability(question.asked)
    yield "weighted share", known["share"], share.conf_int(LEVEL), 0.0, 1.0
    most = float(model.study.schema[one].size - 1)
    yield "weighted mean", known["mean"], model.mean(one).conf_int(LEVEL), 0.0, most
    try:
        among = model.conditional(question.asked, given=question.given)
    except CastellError:
        return  # no block holds both
    low, high = among.conf_int(LEVEL)
    yield "weighted conditional", known["conditional"], (low[0], high[0]), 0.0, 1.0


def _of_pairs(model: Any, question: Question, truth: Truths) -> Iterator[Any]:
    """What does not depend on the method; nothing where no block holds both."""
    try:
        found = model.association(*question.names)
        yield "Cramer's V", truth.numbers["Cramer's V"], found.conf_int(LEVEL), 0.0, 1.0
        trend = model.trend(*question.names)
        yield "correlation", truth.numbers["correlation"], trend.conf_int(LEVEL), -1.0, 1.0
    except CastellError:
        pass


def _coefficients(reports: castell.Reports, question: Question, truth: Truths) -> Iterator[Any]:
    """Those that a fit to the answers would have; nothing where there is no fit."""
    fits: list[tuple[str, str, str | None, Floats]] = [
        (question.linear, "linear", None, truth.linear)
    ]
    if truth.coefficients is not None:
        ways = (None, "likelihood")
        fits += [(question.logit, truth.family, way, truth.coefficients) for way in ways]
    for formula, family, way, coefficients in fits:
        try:
            fit = castell.regress(formula, reports, family=family, method=way)
        except CastellError:
            continue
        name = family if family == "linear" else f"logit, {fit.method}"
        if fit.method == "likelihood" and way is None:
            name += " where nothing else is solved"
        for true, low, high in zip(coefficients, *fit.conf_int(LEVEL), strict=True):
            yield name, float(true), (low, high), -np.inf, np.inf


def _pooled(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Rows of one analysis together, as far as most of a row's intervals say something."""
    told = [row for row in rows if row["untold"] <= row["intervals"]]
    many = sum(row["intervals"] + row["untold"] for row in told)
    held = sum(row["covered"] + row["untold"] for row in told)
    untold = sum(row["untold"] for row in told)
    covered = f"{held / many:.3f}" if many else "-"
    return [f"{len(told)} of {len(rows)}", f"{many:,}", f"{untold:,}", covered]


def show(result: dict[str, Any]) -> str:
    """By analysis and method, decided and fresh populations; then by population."""
    rows = result["rows"]
    for row in rows:
        row["mark"] = "decided" if row["data"] in DECIDED else "fresh"
    parts = [
        f"{result['repeats']} collections of {result['n']:,} people for each population, design "
        "and epsilon",
        _grid(rows, ("mark",)),
        _grid(rows, ("design", "epsilon")),
        _grid(rows, ("data",)),
    ]
    if result["missing"]:
        parts.append(f"left out: {result['missing']}")
    return "\n\n".join(parts)


def _grid(rows: Sequence[dict[str, Any]], by: tuple[str, ...]) -> str:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[*(row[key] for key in by), row["method"], row["analysis"]].append(row)
    lines = []
    for key, mine in groups.items():
        lines.append([*map(str, key), *_pooled(mine)])
    titles = [*by, "method", "analysis", "rows", "intervals", "untold", "covered"]
    return grid(titles, lines, words=len(by) + 2)
