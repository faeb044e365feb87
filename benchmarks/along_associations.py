"""Whether 95 % intervals hold the truth of what people ask: along strong associations.

Groups of values that are chosen at random hardly meet the strongest association of two attributes;
an analyst asks for it. For the most associated pairs of a population (largest first singular value
of the standardised table), the groups A and B are the values on one side of its first singular
functions. Asked are the share of A and B, of A without B, the conditional share of A in B, the
cell furthest above independence, and the share of A, B and a group of a third attribute that goes
along with A. Questions are the same in all collections of a row, so each has a coverage of its
own: `least` is the lowest of them, which is low by chance too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

import castell
from benchmarks._questions import Group
from benchmarks._text import grid
from benchmarks._truths import GENERATED, at_hand, truth_of
from castell import Model, Study
from castell.errors import CastellError
from castell.linear.operators import Floats
from experiments.datasets.truth import Truth
from experiments.pool import processes, work

METHODS = ("castell", "auto")
PAIRS = 5
# Population, design, total epsilon, respondents, collections.
Row = tuple[str, str, float, int, int]
ROWS: tuple[Row, ...] = (
    ("fair", "cover", 4.0, 960, 40),
    ("fair", "independent", 7.0, 3_000, 20),
    ("nursery", "pairs", 4.0, 3_000, 20),
    ("adult", "independent", 8.0, 10_000, 10),
    ("adult", "cover", 4.0, 32_561, 10),
    ("anes96", "cover", 4.0, 1_000, 40),
    ("fair_pt", "cover", 4.0, 3_000, 20),
    ("randhie", "cover", 4.0, 10_000, 20),
    ("births", "independent", 8.0, 3_000, 20),
    ("elderly", "pairs", 2.0, 10_000, 20),
    ("child", "cover", 4.0, 3_000, 20),
    ("alarm", "cover", 2.0, 10_000, 20),
    ("insurance", "independent", 8.0, 10_000, 10),
)
QUICK: tuple[Row, ...] = ((GENERATED, "cover", 4.0, 500, 1),)


@dataclass(frozen=True, eq=False)
class Question:
    """A share of a group of values of each of some attributes, or of the first among the others."""

    kind: str
    group: Group
    truth: float

    def interval(self, model: Model) -> tuple[float, float]:
        schema = model.study.schema
        labels = {n: [schema[n].values[c] for c in codes] for n, codes in self.group.items()}
        if self.kind != "conditional":
            return model.probability(labels).conf_int()
        first, *rest = labels
        among = model.conditional({first: labels[first]}, given={n: labels[n] for n in rest})
        low, high = among.conf_int()
        return float(low[0]), float(high[0])


def questions(truth: Truth) -> list[Question]:
    """Those along the strongest associations of a population."""
    pairs = [(_leading(truth.table(pair)), pair) for pair in combinations(truth.schema.names, 2)]
    pairs.sort(key=lambda found: -found[0][0])
    return [
        question for (_, one, two), pair in pairs[:PAIRS] for question in _of(truth, pair, one, two)
    ]


def _of(truth: Truth, pair: tuple[str, str], one: Floats, two: Floats) -> Iterator[Question]:
    table = truth.table(pair)
    a, b = (_side(scores) for scores in (one, two))
    rest = np.setdiff1d(np.arange(table.shape[1]), b)
    inside = float(table[np.ix_(a, b)].sum())
    yield Question("both", dict(zip(pair, (a, b), strict=True)), inside)
    without = float(table[np.ix_(a, rest)].sum())
    yield Question("one only", dict(zip(pair, (a, rest), strict=True)), without)
    group = dict(zip(pair, (a, b), strict=True))
    yield Question("conditional", group, inside / float(table[:, b].sum()))
    apart = table - np.outer(table.sum(axis=1), table.sum(axis=0))
    cell = [np.array([int(k)]) for k in np.unravel_index(apart.argmax(), table.shape)]
    share = float(table[np.ix_(*cell)].sum())
    yield Question("cell", dict(zip(pair, cell, strict=True)), share)
    others = [name for name in truth.schema.names if name not in pair]
    third = max(others, key=lambda name: _leading(truth.table((pair[0], name)))[0])
    _, side, scores = _leading(truth.table((pair[0], third)))
    # The side of the third attribute that goes along with A.
    c = _side(scores if side[a].sum() >= 0.0 else -scores)
    whole = truth.table((*pair, third))
    trio: Group = {**group, third: c}
    yield Question("three", trio, float(whole[np.ix_(a, b, c)].sum()))


def _leading(table: Floats) -> tuple[float, Floats, Floats]:
    """The largest canonical correlation of two attributes, and its functions of their values."""
    rows, columns = (np.sqrt(np.maximum(table.sum(axis=k), 1e-12)) for k in (1, 0))
    left, sizes, right = np.linalg.svd(table / np.outer(rows, columns) - np.outer(rows, columns))
    return float(sizes[0]), left[:, 0] / rows, right[0] / columns


def _side(scores: Floats) -> np.ndarray[Any, np.dtype[np.intp]]:
    """The values on the upper side, or the uppermost one."""
    found = np.flatnonzero(scores > 0.0)
    return found if 0 < len(found) < len(scores) else np.array([int(scores.argmax())])


def run(quick: bool) -> dict[str, Any]:
    """All rows; with `quick` one small one, of people who do not exist."""
    have, missing = at_hand(quick)
    rows = [row for row in (QUICK if quick else ROWS) if row[0] in have]
    jobs = [(row, seed) for row in rows for seed in range(row[-1])]
    seen: dict[Row, list[Any]] = defaultdict(list)
    with nullcontext() if quick else processes():
        done = work(collect_row, jobs, "collections", cost=_cost)
        for (row, _), found in zip(jobs, done, strict=True):
            seen[row].append(found)
    lines = [line for row, found in seen.items() for line in _lines(row, found)]
    return {"rows": lines, "missing": missing}


def _cost(job: tuple[Row, int]) -> float:
    return 1.0 + job[0][3] / 20_000


def collect_row(job: tuple[Row, int]) -> dict[str, list[list[float]]]:
    """By method, for each question: whether its interval holds the truth, and its width."""
    (data, design, epsilon, n, _), seed = job
    truth = truth_of(data)
    generator = np.random.default_rng([seed, n, *f"{data} {design} {epsilon} along".encode()])
    study = Study(truth.schema, epsilon, design)
    people = truth.respondents(n, generator)
    reports = study.randomize(people.frame(), seed=int(generator.integers(2**62)))
    asked = questions(truth)
    models = {method: castell.fit(reports, method) for method in METHODS}
    return {method: [_answer(model, q) for q in asked] for method, model in models.items()}


def _answer(model: Model, question: Question) -> list[float]:
    try:
        low, high = question.interval(model)
    except CastellError:
        return [np.nan, np.nan]  # castell, of attributes that nobody reported together
    return [float(low - 1e-12 <= question.truth <= high + 1e-12), high - low]


def _lines(
    row: Row, collections: Sequence[dict[str, list[list[float]]]]
) -> Iterator[dict[str, Any]]:
    data, design, epsilon, n, many = row
    base = np.array([found["castell"] for found in collections])[:, :, 1]
    kinds = [question.kind for question in questions(truth_of(data))]
    for method in METHODS:
        held, widths = np.moveaxis(np.array([found[method] for found in collections]), 2, 0)
        told = ~np.isnan(base).all(axis=0)
        each = {k: _mean(held[:, [kind == k for kind in kinds]]) for k in dict.fromkeys(kinds)}
        every = held.mean(axis=0)
        yield {
            "data": data,
            "design": design,
            "epsilon": epsilon,
            "n": n,
            "collections": many,
            "method": method,
            "covered": _mean(held),
            "kinds": each,
            "least": float(np.nanmin(every)),
            "width": float(np.median(widths[:, told] / np.maximum(base[:, told], 1e-12))),
        }


def _mean(held: Floats) -> float | None:
    known = held[~np.isnan(held)]
    return float(known.mean()) if known.size else None


def show(result: dict[str, Any]) -> str:
    rows = result["rows"]
    kinds = list(dict.fromkeys(kind for row in rows for kind in row["kinds"]))
    lines = []
    for row in rows:
        shares = [row["covered"], *(row["kinds"][kind] for kind in kinds), row["least"]]
        told = ["-" if share is None else f"{share:.3f}" for share in shares]
        where = [row["data"], row["design"], row["method"], f"{row['epsilon']:g}"]
        lines.append(
            [*where, f"{row['n']:,}", str(row["collections"]), *told, f"{row['width']:.2f}"]
        )
    titles = ["data", "design", "method", "eps", "n", "times", "all", *kinds, "least", "width"]
    text = grid(titles, lines, words=3)
    text += "\n\nwidth: the median, next to that of castell for the same question"
    return text + "".join(f"\nwithout {each}" for each in result["missing"])
