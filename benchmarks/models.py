"""What a model costs: `auto` fitted, a table of two attributes and its intervals, by design.

Adult where CASTELL_DATA has it, and twelve attributes with generated answers. Times are processor
time in a process of its own, on one thread. CASTELL_BEFORE names the `src` folder of an earlier
castell: it is then timed in turn with this one, on the same answers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import castell
from benchmarks._population import DataMissingError, Population, generate_population, load
from benchmarks._text import grid

SIZES = (2, 3, 4, 5, 6, 7, 8, 4, 3, 2, 5, 9)
# What both versions run: nothing of it but the public face, which an earlier one has too.
CODE = """
import json, sys
from time import process_time
import castell
names, sizes, codes, design, epsilon = json.load(sys.stdin)
values = {name: [str(value) for value in range(size)] for name, size in zip(names, sizes)}
schema = castell.Schema([castell.Attribute(name, each) for name, each in values.items()])
study = castell.Study(schema, epsilon, design=design)
answers = {name: [values[name][code] for code in codes[name]] for name in names}
reports = study.randomize(answers, seed=1)
start = process_time()
castell.fit(reports).estimate(names[:2]).conf_int()
print(process_time() - start)
"""


def run(quick: bool) -> dict[str, Any]:
    n, rounds = (1_000, 1) if quick else (300_000, 3)
    people = [("generated", generate_population(SIZES[:4] if quick else SIZES, n))]
    if not quick:
        with suppress(DataMissingError):
            people.insert(0, ("adult", load("adult")))
    versions = {"now": str(Path(castell.__file__).parents[1])}
    if before := os.environ.get("CASTELL_BEFORE"):
        versions["before"] = before
    rows = []
    for name, population in people:
        for design in ("cover", "independent"):
            laps: dict[str, list[float]] = {version: [] for version in versions}
            for _ in range(rounds):
                for version, source in versions.items():
                    laps[version].append(_seconds(population, design, source))
            rows.append({"people": name, "n": population.n, "design": design, "laps": laps})
    return {"rows": rows}


def _seconds(people: Population, design: str, source: str) -> float:
    """Of one fit by the castell that lies in a folder."""
    names = list(people.schema.names)
    # The whole budget on one block, or as much for each attribute.
    epsilon = 4.0 if design == "cover" else 4.0 * len(names)
    codes = {name: column.tolist() for name, column in people.codes.items()}
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": source}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        input=json.dumps([names, people.schema.sizes, codes, design, epsilon]),
        env={**os.environ, **one},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def show(result: dict[str, Any]) -> str:
    rows = []
    for row in result["rows"]:
        laps = row["laps"]
        told = [row["people"], f"{row['n']:,}", row["design"], f"{median(laps['now']):.2f}"]
        if "before" in laps:
            ratios = [b / a for a, b in zip(laps["now"], laps["before"], strict=True)]
            told += [f"{median(laps['before']):.2f}", f"{median(ratios):.1f}"]
            told += [f"{min(ratios):.1f} to {max(ratios):.1f}"]
        rows.append(told)
    titles = ["people", "n", "design", "seconds", "before", "times", "over rounds"]
    return grid(titles[: len(rows[0])], rows)
