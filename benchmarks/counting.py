"""Counting reports into a full joint table, against a GROUP BY of DuckDB and of Polars.

Five million reports on eight attributes, 1,814,400 cells, from memory and from a Parquet file. The
peers get the same integer columns in the same process and as many threads as they like; DuckDB is
also given one packed key to group by. A GROUP BY returns the cells that occur, castell the whole
table. All counts are checked to be equal.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks._population import ADULT_SIZES, generate_population
from benchmarks._timing import race, show_laps
from castell import Reports, Study, scan_reports
from castell.counting import Counts, MemoryCounts
from castell.device.random_words import seeded_words
from castell.device.respond import respond
from castell.inference.inversion import parts_of

# What a peer returns: an Arrow table of the cells that occur, the last column their counts.
Groups = Callable[[], Any]


def run(quick: bool) -> dict[str, Any]:
    n, rounds, sizes = (50_000, 1, ADULT_SIZES[3:]) if quick else (5_000_000, 7, ADULT_SIZES)
    people = generate_population(sizes, n)
    study, words = people.study(4.0), seeded_words(0)
    columns = [respond(b.channel, people.codes[b.names[0]], words) for b in study.design.blocks]
    reports = Reports(study, columns, secure=False)
    frame = pa.table(dict(zip(study.names, reports.columns, strict=True)))
    names = list(study.names)
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as engine:
        path = Path(folder) / "reports.parquet"
        reports.save(path)
        engine.register("reports", frame)
        held = pl.from_arrow(frame)
        memory = {
            **_duckdb(study, engine, "reports"),
            "Polars": lambda: held.group_by(names).len().to_arrow(),
        }
        parquet = {
            **_duckdb(study, engine, f"read_parquet('{path}')"),
            "Polars": lambda: pl.scan_parquet(path).group_by(names).len().collect().to_arrow(),
        }
        return {
            "reports": n,
            "cells": prod(study.schema.sizes),
            "parquet_bytes": path.stat().st_size,
            "memory": _compare(MemoryCounts(reports), memory, rounds),
            "parquet": _compare(scan_reports(path, study), parquet, rounds),
        }


def _duckdb(study: Study, engine: Any, source: str) -> dict[str, Groups]:
    listed = ", ".join(study.names)
    key = "0"
    for attribute in study.schema:
        key = f"({key} * {attribute.size} + {attribute.name}::INTEGER)"
    plain = f"SELECT {listed}, count(*) FROM {source} GROUP BY {listed}"
    packed = f"SELECT {key} AS key, count(*) FROM {source} GROUP BY key"
    return {
        "DuckDB": lambda: engine.sql(plain).to_arrow_table(),
        "DuckDB, packed key": lambda: engine.sql(packed).to_arrow_table(),
    }


def _compare(counts: Counts, peers: dict[str, Groups], rounds: int) -> dict[str, Any]:
    axes = [axis for part in parts_of(counts.study, counts.study.names) for axis in part.axes]
    ours = counts.table(axes)
    equal = {name: _same(ours, groups()) for name, groups in peers.items()}
    laps = race({"castell": partial(counts.table, axes), **peers}, rounds)
    return {"equal": equal, "laps": laps}


def _same(table: NDArray[Any], groups: Any) -> bool:
    """Whether a peer's cells and counts are those of a table."""
    *digits, counted = [column.to_numpy() for column in groups.itercolumns()]
    if len(digits) > 1:
        digits = [np.ravel_multi_index([d.astype(np.intp) for d in digits], table.shape)]
    other = np.zeros(table.size, dtype=np.int64)
    other[digits[0]] = counted
    return bool((other.reshape(table.shape) == table).all())


def show(result: dict[str, Any]) -> str:
    lines = [f"{result['reports']:,} reports, {result['cells']:,} cells"]
    size = result["parquet_bytes"] / result["reports"]
    places = {"memory": "from memory", "parquet": f"from Parquet, {size:.2f} bytes a report"}
    for key, title in places.items():
        equal = result[key]["equal"]
        wrong = [name for name, same in equal.items() if not same]
        verdict = f"NOT EQUAL: {', '.join(wrong)}" if wrong else "all counts equal"
        lines += ["", f"{title}: {verdict}", "", show_laps(result[key]["laps"])]
    return "\n".join(lines)
