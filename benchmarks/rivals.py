"""Where another method is nearer than `auto`: every population at hand, every design, real noise.

The leaderboard (`benchmarks.accuracy`) knows four data sets well; this one looks everywhere, so
that a case in which `auto` goes wrong is not overlooked. A row is one population, design, total
epsilon and number of respondents: the mean total variation (half the sum of absolute errors of a
table's cells) of tables of one to three attributes, over collections, and the ratio of `auto`'s to
another method's on the tables that both answer. Unbiased tables are clipped and scaled first, which
brings them nearer. `joint` is one block of as many attributes as one report can hold well.

Tables of one collection err together, and few collections scatter: of some hundred ratios the
largest are chance's. So a row in which `auto` is more than 5 % behind is drawn again, with other
people and more collections, and judged by these alone, with the standard error of the ratio over
collections. Rows are sorted by that.

Some populations: `CASTELL_POPULATIONS=asia,alarm`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
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
# A row with a larger ratio is drawn again, so many collections more.
LOST = 1.05
AGAIN = 16
# Seeds from here on are of rows that are drawn again.
FRESH = 1_000
# So many standard errors above 1 are not chance.
CLEAR = 2.0

Row = tuple[str, str, float, int]
# The error of each method in one collection, by what was asked.
Errors = dict[str, dict[tuple[str, ...], float]]
Rivals = dict[tuple[str, int], dict[str, Any]]


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
    with nullcontext() if quick else processes():
        found = _measured(jobs)
        behind = [row for row, rivals in found.items() if any(map(_is_behind, rivals.values()))]
        many = 2 if quick else AGAIN
        again = _measured([Collection(*row, FRESH + k) for row in behind for k in range(many)])
    rows = [_told(row, rivals, again.get(row, {})) for row, rivals in found.items()]
    rows.sort(key=lambda row: -max((_judged(rival)["ratio"] for rival in row["rivals"]), default=0))
    return {"sizes": list(map(list, SIZES)), "missing": missing, "rows": rows}


def _measured(jobs: Sequence[Collection]) -> dict[Row, Rivals]:
    seen: dict[Row, list[Errors]] = defaultdict(list)
    found = work(_collect, jobs, "collections", cost=lambda job: 1.0 + job.n / 50_000)
    for job, errors in zip(jobs, found, strict=True):
        seen[_row(job)].append(errors)
    return {row: _compare(errors) for row, errors in seen.items()}


def _is_behind(rival: dict[str, Any]) -> bool:
    return bool(rival["ratio"] > LOST)


def _is_surely_behind(rival: dict[str, Any]) -> bool:
    return _is_behind(rival) and rival["ratio"] - 1.0 > CLEAR * (rival["spread"] or 0.0)


def _judged(rival: dict[str, Any]) -> dict[str, Any]:
    """The comparison of other people, where there is one."""
    return dict(rival.get("again") or rival)


def _told(row: Row, rivals: Rivals, again: Rivals) -> dict[str, Any]:
    data, design, epsilon, n = row
    told = [
        {**each, "again": again.get(key) if _is_behind(each) else None}
        for key, each in rivals.items()
    ]
    told.sort(key=lambda rival: -_judged(rival)["ratio"])
    return {"data": data, "design": design, "epsilon": epsilon, "n": n, "rivals": told}


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


def _compare(collections: Sequence[Errors]) -> Rivals:
    """`auto` next to each rival by width: mean errors, their ratio and how sure it is."""
    found: Rivals = {}
    for method in RIVALS:
        for width in WIDTHS:
            both = [_means(errors, method, width) for errors in collections]
            pairs = np.array([pair for pair in both if pair is not None])
            if not pairs.size:
                continue
            mine, theirs = map(float, pairs.mean(axis=0))
            ratio = mine / max(theirs, 1e-12)
            spread = None
            if len(pairs) > 1:
                # Both means are of the same collections: the error of their ratio, linearised.
                off = pairs[:, 0] - ratio * pairs[:, 1]
                spread = float(off.std(ddof=1) / len(pairs) ** 0.5 / max(theirs, 1e-12))
            found[method, width] = {
                "method": method,
                "width": width,
                "collections": len(pairs),
                "auto": mine,
                "other": theirs,
                "ratio": ratio,
                "spread": spread,
            }
    return found


def _means(errors: Errors, method: str, width: int) -> tuple[float, float] | None:
    """Of one collection, over the tables that both answer."""
    names = [names for names in errors[method] if len(names) == width]
    if not names:
        return None
    auto, other = (float(np.mean([errors[who][of] for of in names])) for who in ("auto", method))
    return auto, other


def show(result: dict[str, Any]) -> str:
    every = [(row, rival) for row in result["rows"] for rival in row["rivals"]]
    behind = [(row, rival) for row, rival in every if _is_behind(rival)]
    still = [(row, rival) for row, rival in behind if _is_behind(_judged(rival))]
    surely = sum(_is_surely_behind(_judged(rival)) for _, rival in still)
    titles = ["data", "design", "epsilon", "n", "rival (attributes)", "auto", "rival", "ratio"]
    titles += ["again, auto", "rival", "ratio"]
    lines = [
        [
            row["data"],
            row["design"],
            f"{row['epsilon']:g}",
            f"{row['n']:,}",
            f"{rival['method']} ({rival['width']})",
            *_numbers(rival),
            *(_numbers(rival["again"]) if rival["again"] else ("", "", "")),
        ]
        for row, rival in sorted(still, key=lambda each: -_judged(each[1])["ratio"])
    ]
    median = np.median([rival["ratio"] for _, rival in every])
    return "\n".join(
        [
            *(f"left out: {why}" for why in result["missing"]),
            f"{len(result['rows'])} rows, {len(every)} comparisons; auto's error is above "
            f"{LOST:.2f} of the rival's in {len(behind)}, median {median:.2f}; of these, drawn "
            f"again, {len(still)} are still, {surely} by {CLEAR:g} standard errors",
            "",
            grid(titles, lines, words=2) if lines else f"no ratio above {LOST:.2f}",
        ]
    )


def _numbers(rival: dict[str, Any]) -> tuple[str, str, str]:
    spread = "" if rival["spread"] is None else f" ± {rival['spread']:.2f}"
    return f"{rival['auto']:.4f}", f"{rival['other']:.4f}", f"{rival['ratio']:.2f}{spread}"
