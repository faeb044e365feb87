"""Whether 95 % intervals hold the truth 95 % of the time, cell by cell, over many collections.

`population`: each time respondents are drawn anew, with replacement, from the data, and the truth
is the data's table; drawn as one multinomial of the exact distribution of reports. `respondents`:
the same people are randomised again and again, and the truth is their own table. A cell's coverage
over R collections is itself random: `by chance` is the share of cells that would fall outside
93-97 % if every cell were covered exactly 95 % of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor
from typing import Any

import numpy as np
from scipy.stats import binom

import castell
from benchmarks._drawn import DrawnCounts, report_distribution
from benchmarks._population import DataMissingError, Population, generate_population, load
from benchmarks._text import grid
from castell import JointEstimate, Reports, Study
from castell.device.random_words import seeded_words
from castell.device.respond import respond
from castell.evaluation.metrics import attribute_sets
from castell.linear.operators import Floats

EACH = (1.0, 2.0, 4.0)
LEVEL, LOW, HIGH = 0.95, 0.93, 0.97
Sets = list[tuple[str, ...]]


def run(quick: bool) -> dict[str, Any]:
    repeats, most = (20, 1) if quick else (1000, 10)
    found, missing = [], ""
    populations = [generate_population((2, 3, 4, 6, 8), 10_000)]
    try:
        populations += [load(name) for name in ("adult", "german", "nursery")]
    except DataMissingError as error:
        missing = str(error)
    for people in populations:
        by_width = {w: attribute_sets(people.schema.names, w, most) for w in (2, 3)}
        sets = [names for listed in by_width.values() for names in listed]
        truths = {names: people.table(names) for names in sets}
        for each in EACH:
            study = people.study(each)
            for target, collect in (
                ("population", _resample_reports),
                ("respondents", _randomize_again),
            ):
                hits = {names: np.zeros(truths[names].shape) for names in sets}
                for names, joint in collect(people, study, sets, repeats):
                    low, high = joint.conf_int(LEVEL)
                    hits[names] += (low <= truths[names]) & (truths[names] <= high)
                for width, listed in by_width.items():
                    covered = [hits[names].ravel() / repeats for names in listed]
                    expected = [report_distribution(study, s, truths[s]).min() for s in listed]
                    found.append(
                        {
                            "data": people.name,
                            "n": people.n,
                            "target": target,
                            "width": width,
                            "each": each,
                            "smallest_count": people.n * float(min(expected)),
                            **_summary(np.concatenate(covered)),
                        }
                    )
    return {"repeats": repeats, "by_chance": by_chance(repeats), "missing": missing, "rows": found}


def _resample_reports(
    people: Population, study: Study, sets: Sets, repeats: int
) -> Iterator[tuple[tuple[str, ...], JointEstimate]]:
    generator = np.random.default_rng(0)
    for names in sets:
        reports = report_distribution(study, names, people.table(names))
        for _ in range(repeats):
            table = generator.multinomial(people.n, reports.ravel())
            yield names, castell.estimate(DrawnCounts(study, table), names, "castell")


def _randomize_again(
    people: Population, study: Study, sets: Sets, repeats: int
) -> Iterator[tuple[tuple[str, ...], JointEstimate]]:
    words = seeded_words(0)
    needed = {name for names in sets for name in names}
    for _ in range(repeats):
        columns = [
            respond(b.channel, people.codes[b.names[0]], words)
            if b.names[0] in needed
            else np.zeros(people.n, dtype=np.uint8)
            for b in study.design.blocks
        ]
        model = castell.fit(Reports(study, columns, secure=False), "castell", target="respondents")
        for names in sets:
            yield names, model.estimate(names)


def _summary(covered: Floats) -> dict[str, Any]:
    # Cells stand as multiples of 1 / repeats: a hair keeps the ends of the range inside it.
    outside = (covered < LOW - 1e-9) | (covered > HIGH + 1e-9)
    return {
        "cells": covered.size,
        "mean": float(covered.mean()),
        "lowest": float(covered.min()),
        "outside": float(outside.mean()),
    }


def by_chance(repeats: int) -> float:
    """How many exactly covered cells are seen outside the range, by chance alone."""
    first, last = ceil(LOW * repeats - 1e-9), floor(HIGH * repeats + 1e-9)
    inside = binom.cdf(last, repeats, LEVEL) - binom.cdf(first - 1, repeats, LEVEL)
    return float(1.0 - inside)


def show(result: dict[str, Any]) -> str:
    titles = ["data", "target", "n", "w", "eps each", "cells", "mean", "lowest", "outside", "count"]
    rows = [
        [
            row["data"],
            row["target"],
            f"{row['n']:,}",
            str(row["width"]),
            f"{row['each']:g}",
            f"{row['cells']:,}",
            f"{row['mean']:.4f}",
            f"{row['lowest']:.3f}",
            f"{row['outside']:.4f}",
            f"{row['smallest_count']:,.1f}",
        ]
        for row in result["rows"]
    ]
    head = (
        f"{result['repeats']:,} collections\n"
        f"outside: share of cells covered less than {LOW:.0%} or more than {HIGH:.0%} of the time, "
        f"{result['by_chance']:.4f} by chance\n"
        "count: smallest expected number of reports in a cell"
    )
    note = f"\n\nwithout the data sets: {result['missing']}" if result["missing"] else ""
    return f"{head}\n\n{grid(titles, rows, words=2)}{note}"
