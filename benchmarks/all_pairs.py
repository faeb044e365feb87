"""All 2,278 pairs of 68 attributes: counted in one pass, inverted, with errors.

A stand-in for the US census of 1990: 2,458,285 respondents, 68 attributes of 2 to 18 values. Run
from memory and from a folder of Parquet files, with half the respondents and a quarter of them, to
see how the time grows. Peers count the same pairs: pandas.crosstab, and a GROUP BY of Polars and
DuckDB, on few pairs, for each pair. Every size has a process of its own, whose peak of memory is
told.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from benchmarks._text import grid
from benchmarks._timing import race, show_laps
from castell import Attribute, Reports, Schema, Study, fit, scan_reports
from castell.counting import MemoryCounts
from castell.inference.inversion import parts_of

RESPONDENTS, ATTRIBUTES = 2_458_285, 68


def run(quick: bool) -> dict[str, Any]:
    n, many = (4_000, 6) if quick else (RESPONDENTS, ATTRIBUTES)
    sizes = [n // 4, n // 2, n]
    context = multiprocessing.get_context("spawn")
    found = []
    for place in ("memory", "folder"):
        for some in sizes if place == "memory" else sizes[-1:]:
            if quick:
                found.append(measure(some, many, place))
                continue
            with context.Pool(1) as pool:
                found.append(pool.apply(measure, (some, many, place)))
    return {"pairs": many * (many - 1) // 2, "runs": found, "peers": _peers(n, many, quick)}


def study_of(many: int) -> Study:
    generator = np.random.default_rng(1)
    sizes = np.minimum(2 + generator.geometric(0.25, many), 18)
    schema = Schema(Attribute(f"a{i}", range(size)) for i, size in enumerate(sizes))
    return Study(schema, 2.0 * many)


def reports_of(study: Study, n: int) -> Reports:
    """Any codes do: what they say costs nothing."""
    generator = np.random.default_rng(2)
    columns = [
        np.minimum(generator.geometric(2.5 / width, n) - 1, width - 1).astype(np.uint8)
        for width in study.design.widths
    ]
    return Reports(study, columns, secure=False)


def measure(n: int, many: int, place: str) -> dict[str, Any]:
    """One run in a process of its own."""
    study = study_of(many)
    reports = reports_of(study, n)
    with tempfile.TemporaryDirectory() as folder:
        if place == "folder":
            for k in range(4):
                part = Reports(study, [c[k::4] for c in reports.columns], secure=False)
                part.save(Path(folder) / f"{k}.parquet")
            del reports, part
            source: Any = scan_reports(folder, study)
        else:
            source = reports
        start, begun = perf_counter(), process_time()
        every = fit(source, "castell").estimate_all(2)
        next(iter(every.values()))
        counted = perf_counter() - start
        for joint in every.values():
            joint.conf_int()
        seconds, processor = perf_counter() - start, process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "place": place,
        "reports": n,
        "pairs": len(every),
        "counting": counted,
        "seconds": seconds,
        "processor_seconds": processor,
        "gigabytes": peak,
    }


def _peers(n: int, many: int, quick: bool) -> dict[str, Any]:
    """A few pairs, each counted by itself."""
    study = study_of(many)
    reports = reports_of(study, n)
    pairs = list(combinations(study.names, 2))[:: max(1, many * many // 12)][:6]
    table = pa.table(dict(zip(study.names, reports.columns, strict=True)))
    frame, held, counts = table.to_pandas(), pl.DataFrame(table), MemoryCounts(reports)
    axes = [[a for p in parts_of(study, pair) for a in p.axes] for pair in pairs]
    with duckdb.connect() as engine:
        engine.register("reports", table)
        runners: dict[str, Callable[[], object]] = {
            "castell, one by one": lambda: [counts.table(each) for each in axes],
            "pandas.crosstab": lambda: [pd.crosstab(frame[a], frame[b]) for a, b in pairs],
            "Polars": lambda: [held.group_by([a, b]).len() for a, b in pairs],
            "DuckDB": partial(_duckdb, engine, pairs),
        }
        return {"pairs": len(pairs), "reports": n, "laps": race(runners, 1 if quick else 3)}


def _duckdb(engine: Any, pairs: list[tuple[str, str]]) -> None:
    for a, b in pairs:
        engine.sql(f"SELECT {a}, {b}, count(*) FROM reports GROUP BY {a}, {b}").to_arrow_table()


def show(result: dict[str, Any]) -> str:
    rows = [
        [
            run["place"],
            f"{run['reports']:,}",
            f"{run['counting']:.1f}",
            f"{run['seconds']:.1f}",
            f"{run['processor_seconds']:.1f}",
            f"{1e6 * run['processor_seconds'] / run['reports']:.1f}",
            f"{run['gigabytes']:.2f}",
        ]
        for run in result["runs"]
    ]
    titles = ["from", "reports", "counting s", "in all s", "processor s", "us a report", "peak GB"]
    peers = result["peers"]
    return "\n".join(
        [
            f"{result['pairs']:,} pairs",
            "",
            grid(titles, rows),
            "",
            f"{peers['pairs']} pairs of {peers['reports']:,} reports",
            "",
            show_laps(peers["laps"]),
        ]
    )
