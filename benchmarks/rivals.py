"""Where another method is nearer than `auto`: every population at hand, every design, real noise.

The leaderboard (`benchmarks.accuracy`) knows four data sets well; this one looks everywhere, so
that a case in which `auto` goes wrong is not overlooked. A row is one population, design, total
epsilon and number of respondents: the mean total variation (half the sum of absolute errors of a
table's cells) of tables of one to three attributes, over collections, and the ratio of `auto`'s to
another method's on the tables that both answer. Unbiased tables are clipped and scaled first, which
brings them nearer. `joint` is one block of as many attributes as one report can hold well. Rows are
sorted by how much `auto` loses; a few hundredths are chance.

Some populations: `CASTELL_POPULATIONS=asia,alarm`.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import nullcontext
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

import castell
from benchmarks._collection import Collection
from benchmarks._text import grid
from benchmarks._truths import at_hand, truth_of
from castell import Model
from castell.errors import CastellError
from castell.inference.postprocess import clip
from experiments.datasets.truth import Truth
from experiments.pool import processes, work

RIVALS = ("castell", "independent")
DESIGNS = {"joint": (6.0,), "cover": (4.0, 8.0), "pairs": (4.0,), "independent": (8.0, 16.0)}
SIZES = ((2_000, 3), (20_000, 2), (100_000, 1))
WIDTHS = (1, 2, 3)
SETS = 8
# Of a population with more combinations, the first attributes are asked in one block.
MOST_COMBINATIONS = 256
# Ratios below are not worth a row on the screen.
LOST = 1.05

Row = tuple[str, str, float, int]
# The error of each method, by what was asked: a collection and a table.
Errors = dict[str, dict[tuple[str, ...], float]]


def _row(job: Collection) -> Row:
    return job.data, job.design, job.epsilon, job.n


def run(quick: bool) -> dict[str, Any]:
    have, missing = at_hand(quick)
    designs = {"joint": (6.0,), "pairs": (4.0,)} if quick else DESIGNS
    jobs = [
        Collection(name, design, epsilon, n, seed)
        for name in have
        for design, epsilons in designs.items()
        for epsilon in epsilons
        for n, many in (((500, 1),) if quick else SIZES)
        for seed in range(many)
    ]
    seen: dict[Row, list[Errors]] = defaultdict(list)
    with nullcontext() if quick else processes():
        found = work(_collect, jobs, "collections", cost=lambda job: 1.0 + job.n / 50_000)
        for job, errors in zip(jobs, found, strict=True):
            seen[_row(job)].append(errors)
    rows = [_compare(row, errors) for row, errors in seen.items()]
    rows.sort(key=lambda row: -max((lost["ratio"] for lost in row["rivals"]), default=0.0))
    return {"sizes": list(map(list, SIZES)), "missing": missing, "rows": rows}


def asked_of(truth: Truth, design: str) -> Truth:
    """The population, or, for one block, as many of its first attributes as it can hold."""
    if design != "joint":
        return truth
    names, sizes = truth.schema.names, truth.schema.sizes
    many = max(
        k for k in range(2, len(names) + 1) if k == 2 or prod(sizes[:k]) <= MOST_COMBINATIONS
    )
    return truth.select(names[:many])


def _collect(job: Collection) -> Errors:
    truth = asked_of(truth_of(job.data), job.design)
    generator = np.random.default_rng([job.seed, job.n, *" ".join(map(str, _row(job))).encode()])
    reports = job.reports(truth, generator)
    models = {method: castell.fit(reports, method) for method in ("auto", *RIVALS)}
    errors: Errors = {method: {} for method in models}
    for width in WIDTHS:
        every = list(combinations(truth.schema.names, width))
        for k in generator.permutation(len(every))[:SETS]:
            true = np.asarray(truth.table(every[k]))
            for method, model in models.items():
                error = _error(model, every[k], true)
                if error is not None:
                    errors[method][every[k]] = error
    return errors


def _error(model: Model, names: tuple[str, ...], true: np.ndarray[Any, Any]) -> float | None:
    try:
        found = model.estimate(names).probabilities
    except CastellError:
        return None  # castell, of attributes that nobody reported together
    return float(np.abs(clip(found) - true).sum()) / 2


def _compare(row: Row, collections: list[Errors]) -> dict[str, Any]:
    data, design, epsilon, n = row
    rivals: list[dict[str, Any]] = []
    for method in RIVALS:
        for width in WIDTHS:
            both = [
                (errors["auto"][names], error)
                for errors in collections
                for names, error in errors[method].items()
                if len(names) == width
            ]
            if both:
                mine, theirs = np.mean(both, axis=0)
                rivals.append(
                    {
                        "method": method,
                        "width": width,
                        "tables": len(both),
                        "auto": float(mine),
                        "other": float(theirs),
                        "ratio": float(mine / max(theirs, 1e-12)),
                    }
                )
    rivals.sort(key=lambda lost: -lost["ratio"])
    return {"data": data, "design": design, "epsilon": epsilon, "n": n, "rivals": rivals}


def show(result: dict[str, Any]) -> str:
    rows = result["rows"]
    lost = [
        [
            row["data"],
            row["design"],
            f"{row['epsilon']:g}",
            f"{row['n']:,}",
            f"{worst['method']} ({worst['width']})",
            f"{worst['auto']:.4f}",
            f"{worst['other']:.4f}",
            f"{worst['ratio']:.2f}",
        ]
        for row in rows
        for worst in row["rivals"][:1]
        if worst["ratio"] > LOST
    ]
    every = [rival["ratio"] for row in rows for rival in row["rivals"]]
    titles = ["data", "design", "epsilon", "n", "rival (attributes)", "auto", "rival", "ratio"]
    above = sum(ratio > LOST for ratio in every)
    return "\n".join(
        [
            *(f"left out: {why}" for why in result["missing"]),
            f"{len(rows)} rows, {len(every)} comparisons; auto's total variation is at most "
            f"{LOST:.2f} of the rival's in {len(every) - above}; median {np.median(every):.2f}",
            "",
            grid(titles, lost, words=2) if lost else f"no ratio above {LOST:.2f}",
        ]
    )
