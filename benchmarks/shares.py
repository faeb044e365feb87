"""What an interval of a grouped share costs, next to that of a table: a ratio, after one fit.

The default method, on the health survey; each question is asked for the first time, so nothing that
a question before it worked out is left to use but the fitted model.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import castell
from benchmarks._text import grid
from castell import Model, Study
from castell.population import SCHEMA, health_survey

TABLE = ("smokes", "health", "age")
# As many cells, other attributes.
GROUP = {
    "exercise": ["rarely", "weekly"],
    "education": ["school", "trade"],
    "region": ["north", "east"],
}


def run(quick: bool) -> dict[str, Any]:
    n, repeats = (2_000, 1) if quick else (100_000, 5)
    answers = health_survey(n)
    rows = []
    for design in ("independent", "cover"):
        reports = Study(SCHEMA, 6.0, design).randomize(answers, seed=1)
        times = {"table": float("inf"), "share": float("inf")}
        for _ in range(repeats):
            model = castell.fit(reports)
            model.estimate("region").conf_int()  # the model itself, and its margins' errors
            for name, ask in (("table", _table), ("share", _share)):
                start = perf_counter()
                ask(model)
                times[name] = min(times[name], perf_counter() - start)
        rows.append({"design": design, "n": n, **times, "ratio": times["share"] / times["table"]})
    return {"rows": rows, "repeats": repeats}


def _table(model: Model) -> None:
    model.estimate(TABLE).conf_int()


def _share(model: Model) -> None:
    model.probability(GROUP).conf_int()


def show(result: dict[str, Any]) -> str:
    rows = [
        [r["design"], f"{r['n']:,}", f"{r['table']:.3f}", f"{r['share']:.3f}", f"{r['ratio']:.2f}"]
        for r in result["rows"]
    ]
    return grid(["design", "n", "table s", "share s", "share / table"], rows)
