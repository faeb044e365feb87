"""What a report costs among n others, when only the set of all reports is seen: bounds, and time.

`proved` is the epsilon that castell states at delta, `at least` what is lost if all others gave one
answer, which no bound can be below; where the two agree the bound is exact. `clones` is the closed
form of Feldman, McMillan and Talwar (2021, theorem III.1), which knows the local epsilon only.
"""

from __future__ import annotations

from math import exp, log, sqrt
from time import perf_counter
from typing import Any

import castell
from benchmarks._text import grid
from castell import Attribute, Study

DELTA = 1e-6
# A design, and its numbers of people.
CASES = (
    ("k-ary, 64 values", (64,), "independent", 4.0, (32_561,)),
    ("k-ary, 2 values", (2,), "independent", 1.0, (1_000, 100_000, 10_000_000)),
    ("k-ary, 5 values", (5,), "independent", 2.0, (1_000, 100_000, 10_000_000)),
    ("6 attributes, independent", (2, 3, 5, 16, 7, 4), "independent", 4.0, (3_000, 1_000_000)),
    ("6 attributes, pairs", (2, 3, 5, 16, 7, 4), "pairs", 4.0, (3_000, 1_000_000)),
    ("6 attributes, cover", (2, 3, 5, 16, 7, 4), "cover", 4.0, (3_000, 1_000_000)),
    ("8 yes/no questions", (2,) * 8, "independent", 4.0, (3_000, 1_000_000)),
)


def clones(epsilon: float, n: int, delta: float) -> float | None:
    """The closed form, or nothing where it does not hold."""
    if epsilon > log(n / (16.0 * log(2.0 / delta))):
        return None
    first = 8.0 * sqrt(exp(epsilon) * log(4.0 / delta)) / sqrt(n)
    return log(1.0 + (exp(epsilon) - 1.0) / (exp(epsilon) + 1.0) * (first + 8.0 * exp(epsilon) / n))


def run(quick: bool) -> dict[str, Any]:
    rows = []
    for name, sizes, design, epsilon, people in CASES:
        asked = [Attribute(f"a{i}", [str(v) for v in range(s)]) for i, s in enumerate(sizes)]
        study = Study(asked, epsilon, design)
        for n in people[:1] if quick else people:
            began = perf_counter()
            found = castell.shuffled(study, n, DELTA)
            rows.append(
                {
                    "design": name,
                    "n": n,
                    "local": found.local,
                    "proved": found.epsilon,
                    "at_least": found.at_least,
                    "clones": clones(epsilon, n, DELTA),
                    "seconds": perf_counter() - began,
                }
            )
    return {"delta": DELTA, "rows": rows}


def show(result: dict[str, Any]) -> str:
    titles = ["design", "n", "local", "proved", "at least", "clones", "seconds"]
    lines = [
        [
            row["design"],
            f"{row['n']:,}",
            f"{row['local']:.3g}",
            f"{row['proved']:.4f}",
            f"{row['at_least']:.4f}",
            "-" if row["clones"] is None else f"{row['clones']:.4f}",
            f"{row['seconds']:.1f}",
        ]
        for row in result["rows"]
    ]
    return f"delta {result['delta']:g}\n\n" + grid(titles, lines)
