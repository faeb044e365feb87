"""Whether 95 % intervals hold the truth, by data, design, epsilon and kind of question.

Every respondent is drawn from a population whose truth is known and randomised with real noise. A
row is one population, design and total epsilon, over all numbers of respondents: the share of
intervals that hold the population's truth, and their median width next to that of `castell` for the
same questions. `cells` are those of whole tables, `large` those of one per cent or more, `group k`
shares of groups of values of k attributes, `conditional` shares of one group among another,
`difference` one group of one or two attributes less another that differs in the first. Rules
and constants of the intervals were decided on the populations marked `decided`; the others are
fresh. Twelve collections scatter: where a method covers less than 92 % of a kind of question, the
row is drawn again, with other people and more collections, and judged by these alone. Of a share
with a standard error above 1 reports say nothing: its interval is [0, 1] and cannot be wrong, so it
counts for widths but not for coverage; `untold` says how many there are.

A part of it: `CASTELL_POPULATIONS=adult,child CASTELL_EPSILONS=4 CASTELL_SIZES=1000x3,10000x1
CASTELL_METHODS=castell,auto`: some populations, total epsilons, three collections of 1,000 people
and one of 10,000, and some methods.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import castell
from benchmarks import _collection
from benchmarks._questions import Asked, questions
from benchmarks._text import grid
from benchmarks._truths import at_hand, truth_of
from castell import Model
from castell.errors import CastellError
from castell.inference.intervals import TOLD
from castell.linear.operators import Floats
from experiments.datasets.truth import Truth
from experiments.pool import processes, work

DECIDED = ("adult", "nursery", "german", "census", "fair")
DESIGNS = ("independent", "pairs", "cover")
EPSILONS = (1.0, 2.0, 4.0, 8.0)
METHODS = ("castell", "auto", "latent", "em")
# Respondents, and how many collections of so many.
SIZES = ((1_000, 8), (10_000, 3), (100_000, 1))
# A row that covers less is drawn again: respondents, and how many other collections of so many.
LEAST = 0.92
AGAIN = ((1_000, 24), (10_000, 9))
LARGE = 0.01
# em fits every table by itself, which takes its time.
MOST_CELLS_OF_EM = 400
# Cells of a table whose width is looked at.
SAMPLED = 50
# Seeds from here on are of rows that are drawn again.
FRESH = 1_000
IDENTITY = ("data", "design", "epsilon", "method", "kind")

# Whether an interval holds the truth, its width, castell's width, and whether reports say anything.
Answer = tuple[float, float, float, float]
Seen = dict[tuple[str, str], list[Answer]]
Row = tuple[str, str, float]


@dataclass(frozen=True)
class Collection(_collection.Collection):
    """One collection of reports, and the methods to try on it."""

    methods: tuple[str, ...] = METHODS

    @property
    def row(self) -> Row:
        return self.data, self.design, self.epsilon


def run(quick: bool) -> dict[str, Any]:
    """All rows; with `quick` one small one, of people who do not exist."""
    have, missing = at_hand(quick)
    sizes = ((1_000, 1),) if quick else _sizes()
    methods = _asked("METHODS", METHODS)
    jobs = [
        Collection(name, design, epsilon, n, seed, methods)
        for name, design, epsilon, (n, many) in product(have, *_grid_of(quick), sizes)
        for seed in range(many)
    ]
    with nullcontext() if quick else processes():
        rows = _measure(jobs)
        _draw_again(rows, ((1_000, 1),) if quick else AGAIN)
    return {"sizes": list(map(list, sizes)), "missing": missing, "rows": rows}


def _measure(jobs: Sequence[Collection]) -> list[dict[str, Any]]:
    seen: dict[Row, list[Seen]] = defaultdict(list)
    for job, found in zip(jobs, work(_collect, jobs, "collections", cost=_cost), strict=True):
        seen[job.row].append(found)
    return [
        {"data": data, "design": design, "epsilon": epsilon, **row}
        for (data, design, epsilon), found in seen.items()
        for row in _rows(found)
    ]


def _draw_again(rows: Sequence[dict[str, Any]], sizes: Sequence[tuple[int, int]]) -> None:
    """Judge low rows by other collections: the lowest of many rows is low by chance too."""
    low: dict[Row, set[str]] = defaultdict(set)
    for row in rows:
        if row["covered"] < LEAST:
            low[row["data"], row["design"], row["epsilon"]].add(row["method"])
    jobs = [
        Collection(*row, n, FRESH + seed, tuple(m for m in METHODS if m in methods))
        for row, methods in low.items()
        for n, many in sizes
        for seed in range(many)
    ]
    found = {tuple(row[key] for key in IDENTITY): row for row in _measure(jobs)} if jobs else {}
    for row in rows:
        again = found.get(tuple(row[key] for key in IDENTITY))
        if row["covered"] < LEAST and again is not None:
            row["again"] = {key: again[key] for key in ("questions", "covered", "error")}


def _grid_of(quick: bool) -> tuple[tuple[str, ...], tuple[float, ...]]:
    if quick:
        return ("independent", "pairs"), (4.0,)
    return DESIGNS, tuple(map(float, _asked("EPSILONS", tuple(map(str, EPSILONS)))))


def _asked(what: str, every: tuple[str, ...]) -> tuple[str, ...]:
    """What a variable of the environment names, separated by commas, or all."""
    named = os.environ.get(f"CASTELL_{what}", "")
    return tuple(filter(None, named.split(","))) or every


def _sizes() -> tuple[tuple[int, int], ...]:
    asked = _asked("SIZES", tuple(f"{n}x{many}" for n, many in SIZES))
    return tuple((int(n), int(many)) for n, _, many in (each.partition("x") for each in asked))


def _cost(job: Collection) -> float:
    """Fitting takes longer where there are many reports to read."""
    return 1.0 + job.n / 20_000


def _rows(collections: list[Seen]) -> Iterator[dict[str, Any]]:
    for method, kind in dict.fromkeys(key for found in collections for key in found):
        asked = [found[method, kind] for found in collections if found.get((method, kind))]
        if not asked:
            continue
        each = [np.array(answers, dtype=np.float64) for answers in asked]
        covered, widths, others, says = np.concatenate(each).T
        said = [answers[answers[:, 3] > 0.0, 0] for answers in each]
        if not says.any():
            continue
        told = ~np.isnan(others)
        yield {
            "method": method,
            "kind": kind,
            "questions": len(covered),
            "untold": float(1.0 - says.mean()),
            "covered": float(np.concatenate(said).mean()),
            "error": _error([answers for answers in said if len(answers)]),
            "width": float(np.median(widths)),
            "ratio": float(np.median(widths[told]) / max(np.median(others[told]), 1e-12))
            if told.any()
            else None,
        }


def _error(collections: list[Floats]) -> float | None:
    """The standard error of a coverage: the questions of one collection err together."""
    many = len(collections)
    if many < 2:
        return None
    share = float(np.concatenate(collections).mean())
    apart = sum(float((hits - share).sum()) ** 2 for hits in collections)
    return float(np.sqrt(many / (many - 1) * apart)) / sum(map(len, collections))


def _collect(job: Collection) -> Seen:
    """All questions to all methods, from one collection: covered, width, castell's width."""
    truth = truth_of(job.data)
    # Other people in every row: were they the same, one odd sample would show in all of them.
    row = f"{job.data} {job.design} {job.epsilon}".encode()
    generator = np.random.default_rng([job.seed, job.n, *row])
    reports = job.reports(truth, generator)
    known = castell.methods_for(reports.study)
    models = {m: castell.fit(reports, m) for m in job.methods if m in known}
    return ask(models, truth, generator)


def ask(models: dict[str, Model], truth: Truth, generator: np.random.Generator) -> Seen:
    """Some questions of every kind to some models, and what is true."""
    found: Seen = defaultdict(list)
    for asked in questions(truth, sets=4, groups=3, generator=generator):
        _tables(models, asked, found, generator)
        _groups(models, asked, found)
    return dict(found)


def _answers(models: dict[str, Model], asked: Asked) -> Iterator[tuple[str, Model]]:
    for method, model in models.items():
        if method != "em" or asked.truth.size <= MOST_CELLS_OF_EM:
            yield method, model


def _tables(
    models: dict[str, Model], asked: Asked, found: Seen, generator: np.random.Generator
) -> None:
    some = generator.permutation(asked.truth.size)[:SAMPLED]
    truth = asked.truth.ravel()
    base = np.full(truth.shape, np.nan)
    for method, model in _answers(models, asked):
        try:
            joint = model.estimate(asked.names)
        except CastellError:
            continue  # castell, of attributes that nobody reported together
        low, high = (end.ravel() for end in joint.conf_int())
        says = joint.standard_errors.ravel() <= TOLD
        if method == "castell":
            base = high - low
        inside = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
        for kind, cells in (("cells", some), ("large", some[truth[some] >= LARGE])):
            columns = inside[cells], (high - low)[cells], base[cells], says[cells]
            found[method, kind] += np.stack(columns, axis=1).astype(np.float64).tolist()


def _groups(models: dict[str, Model], asked: Asked, found: Seen) -> None:
    for group in asked.groups:
        base: dict[str, float] = {}
        for method, model in _answers(models, asked):
            labels = {
                name: [model.study.schema[name].values[code] for code in codes]
                for name, codes in group.items()
            }
            kind = f"group {len(group)}"
            try:
                share = model.probability(labels)
            except CastellError:
                continue
            says = share.standard_error <= TOLD
            _note(found, method, kind, share.conf_int(), asked.share(group), base, says)
            if len(group) < 3:
                first = asked.names[0]
                every = model.study.schema[first].values
                other = {**labels, first: [v for v in every if v not in labels[first]]}
                ends = model.difference(labels, other).conf_int()
                less = 2.0 * asked.share(group) - asked.among(group)
                _note(found, method, "difference", ends, less, base, says)
            if len(group) in (2, 3) and asked.among(group) > 0.0:
                first, *rest = asked.names
                among = model.conditional(
                    {first: labels[first]}, given={name: labels[name] for name in rest}
                )
                low, high = among.conf_int()
                within = asked.share(group) / asked.among(group)
                _note(found, method, "conditional", (low[0], high[0]), within, base)


def _note(
    found: Seen,
    method: str,
    kind: str,
    ends: tuple[float, float],
    truth: float,
    base: dict[str, float],
    says: bool = True,
) -> None:
    low, high = (float(end) for end in ends)
    if method == "castell":
        base[kind] = high - low
    inside = float(low <= truth + 1e-12 and truth - 1e-12 <= high)
    found[method, kind].append((inside, high - low, base.get(kind, np.nan), float(says)))


KINDS = (
    "cells",
    "large",
    "group 1",
    "group 2",
    "group 3",
    "group 4",
    "conditional",
    "difference",
)


def show(result: dict[str, Any]) -> str:
    told = ", ".join(f"{many} x {n:,}" for n, many in result["sizes"])
    parts = [f"collections a row: {told} respondents"]
    by_method = {m: [row for row in result["rows"] if row["method"] == m] for m in METHODS}
    for method, rows in by_method.items():
        if rows:
            parts += [f"{method}: share of intervals that hold the truth", _grid(rows)]
    parts.append(_in_short(by_method))
    if result["missing"]:
        parts.append("without " + "; ".join(result["missing"]))
    return "\n\n".join(parts)


def _grid(rows: list[dict[str, Any]]) -> str:
    by = {(r["data"], r["design"], r["epsilon"], r["kind"]): r for r in rows}
    lines = []
    for data, design, epsilon in dict.fromkeys(key[:3] for key in by):
        cells = [by.get((data, design, epsilon, kind)) for kind in KINDS]
        mark = "decided" if data in DECIDED else "fresh"
        covered = ["-" if c is None else f"{c['covered']:.3f}" for c in cells]
        ratios = [c["ratio"] for c in cells if c is not None and c["ratio"] is not None]
        ratio = f"{np.median(ratios):.2f}" if ratios else "-"
        lines.append([data, mark, design, f"{epsilon:g}", *covered, ratio])
    return grid(["data", "", "design", "eps", *KINDS, "width"], lines, words=3)


def _in_short(by_method: dict[str, list[dict[str, Any]]]) -> str:
    """All rows of a method: means by kind, and the lowest, first and after drawing again."""
    lines = []
    for method, rows in by_method.items():
        for mark, wanted in (("decided", True), ("fresh", False)):
            own = [row for row in rows if (row["data"] in DECIDED) is wanted]
            if own:
                lines.append([method, mark, *_means(own), *_lowest(own)])
    titles = [
        "method",
        "",
        *KINDS,
        "width",
        "wider",
        "untold",
        "rows",
        "below",
        "again",
        "surely",
        "lowest",
    ]
    return "\n".join(
        [
            grid(titles, lines, words=2),
            f"rows: by kind of question; below: those that cover less than {LEAST}, which are "
            "drawn again; again: those that do so then too; surely: by two standard errors; "
            "lowest: after drawing again; wider: rows with a median width above castell's; untold: "
            "mean share of questions of which reports say nothing",
        ]
    )


def _means(own: list[dict[str, Any]]) -> list[str]:
    kinds = [[row["covered"] for row in own if row["kind"] == kind] for kind in KINDS]
    ratios = np.array([row["ratio"] for row in own if row["ratio"] is not None])
    width = f"{np.median(ratios):.2f}" if len(ratios) else "-"
    wider = f"{np.mean(ratios > 1.0 + 1e-9):.1%}" if len(ratios) else "-"
    untold = f"{np.mean([row['untold'] for row in own]):.1%}"
    return [*(f"{np.mean(kind):.3f}" if kind else "-" for kind in kinds), width, wider, untold]


def _lowest(own: list[dict[str, Any]]) -> list[str]:
    judged = [row.get("again", row) for row in own]
    covered = np.array([row["covered"] for row in judged])
    errors = np.array([np.inf if row["error"] is None else row["error"] for row in judged])
    return [
        str(len(own)),
        f"{np.mean([row['covered'] < LEAST for row in own]):.1%}",
        f"{np.mean(covered < LEAST):.1%}",
        f"{np.mean(covered + 2.0 * errors < LEAST):.1%}",
        f"{covered.min():.3f}",
    ]
