"""Whether the 95 % intervals of `auto` hold the truth, by design and width.

Every respondent is randomised with real noise, the truth is the respondents' own table. `cells` is
the share of all cells covered, `large` that of cells of one per cent or more. No respondent of a
drawn design reports all attributes of a wide table: such tables are marked.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

import numpy as np

import castell
from benchmarks._population import DataMissingError
from benchmarks._text import grid
from benchmarks._trials import people_of
from castell import Study
from experiments.datasets.population import Population
from experiments.harness import draw_sets

LARGE = 0.01
# A design and what a respondent spends in all, or, where everybody reports everything, on each.
DESIGNS = (
    ("cover", 4.0),
    ("pairs", 2.0),
    ("independent", 1.0),
    ("independent", 2.0),
    ("independent", 4.0),
)
Row = dict[str, Any]


def run(quick: bool) -> dict[str, Any]:
    repeats, most, widths = (1, 1, (2, 3)) if quick else (4, 4, (2, 3, 4, 5, 6))
    rows: list[Row] = []
    missing = ""
    for name in ("generated",) if quick else ("adult", "nursery", "german", "generated"):
        try:
            people = people_of(name)
        except DataMissingError as error:
            missing = str(error)
            continue
        for design, epsilon in DESIGNS:
            print(f"{name}, {design}, epsilon {epsilon:g}", file=sys.stderr, flush=True)
            rows += _covered(people, design, epsilon, repeats, most, widths)
    return {"repeats": repeats, "sets": most, "missing": missing, "rows": rows}


def _covered(
    people: Population,
    design: str,
    epsilon: float,
    repeats: int,
    most: int,
    widths: tuple[int, ...],
) -> list[Row]:
    total = epsilon * len(people.schema) if design == "independent" else epsilon
    study = Study(people.schema, total, design)
    asked = {w: draw_sets(people, w, most) for w in widths if w <= len(people.schema)}
    found: dict[tuple[int, bool], list[tuple[float, ...]]] = {}
    for seed in range(repeats):
        model = castell.fit(study.randomize(people.frame(), seed=seed))
        for width, sets in asked.items():
            for names in sets:
                start = perf_counter()
                joint, truth = model.estimate(names), people.table(names)
                low, high = joint.conf_int()
                seconds = perf_counter() - start
                inside, large = (low <= truth) & (truth <= high), truth >= LARGE
                held = not study.design.draw or any(
                    set(names) <= set(block.names) for block in study.design.blocks
                )
                found.setdefault((width, held), []).append(
                    (
                        inside.size,
                        inside.sum(),
                        large.sum(),
                        inside[large].sum(),
                        (high - low)[large].sum(),
                        np.abs(joint.probabilities - truth)[large].sum(),
                        seconds,
                    )
                )
    rows = []
    for (width, held), each in sorted(found.items(), key=lambda item: (item[0][0], not item[0][1])):
        cells, inside, large, right, reach, error, _ = np.sum(each, axis=0)
        rows.append(
            {
                "data": people.name,
                "n": people.n,
                "design": design,
                "total": total,
                "width": width,
                "held": held,
                "tables": len(each),
                "cells": float(inside / cells),
                "large_cells": int(large),
                "large": float(right / large) if large else None,
                "reach": float(reach / large) if large else None,
                "error": float(error / large) if large else None,
                "seconds": float(np.mean([one[-1] for one in each])),
            }
        )
    return rows


def show(result: dict[str, Any]) -> str:
    titles = [
        "data",
        "design",
        "n",
        "eps in all",
        "w",
        "tables",
        "cells",
        "large",
        "wide",
        "error",
        "s",
    ]
    rows = [
        [
            row["data"],
            row["design"],
            f"{row['n']:,}",
            f"{row['total']:g}",
            f"{row['width']}{'' if row['held'] else '*'}",
            str(row["tables"]),
            f"{row['cells']:.3f}",
            "-" if row["large"] is None else f"{row['large']:.3f}",
            "-" if row["reach"] is None else f"{row['reach']:.4f}",
            "-" if row["error"] is None else f"{row['error']:.4f}",
            f"{row['seconds']:.1f}",
        ]
        for row in result["rows"]
    ]
    head = (
        f"{result['repeats']} collections, up to {result['sets']} attribute sets a width\n"
        f"cells, large: share of all cells that were covered, and of those of {LARGE:.0%} or more\n"
        "wide, error: mean width of the interval and mean error of the large ones\n"
        "*: no respondent reported all attributes of these tables"
    )
    note = f"\n\nwithout a data set: {result['missing']}" if result["missing"] else ""
    return f"{head}\n\n{grid(titles, rows, words=2)}{note}"
