"""Randomising and estimating beside multi-freq-ldpy, pure-ldp, OpenDP, pandas, Polars and DuckDB.

Everybody does the same work in turn, in one process: k-ary response on answers (domain sizes of
Adult, epsilon 4 each), the shares of one attribute from its reports, and a table of w attributes,
counted. Slow peers do fewer answers; times are processor time for each answer, all threads added
up. A ratio is taken within a round; told are its median, least and most. Then how castell's time
grows with the respondents n, the attributes m, the values d and the width w of a table.
`pip install castell[bench]` has the peers; who is not installed is left out and named.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from time import process_time
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import castell
from benchmarks._population import ADULT_SIZES, generate_population
from benchmarks._text import grid
from castell import Attribute, Reports, Schema, Study
from castell.counting import MemoryCounts
from castell.inference.inversion import parts_of

EPSILON = 4.0
PEERS = {"multi-freq-ldpy": "multi_freq_ldpy", "pure-ldp": "pure_ldp", "OpenDP": "opendp"}
# What is done, and how much of it: answers or reports.
Work = tuple[Callable[[], object], int]


def run(quick: bool) -> dict[str, Any]:
    n, rounds = (2_000, 1) if quick else (1_000_000, 3)
    few = 200 if quick else 4_000
    people = generate_population(ADULT_SIZES, n)
    study = people.study(EPSILON)
    missing = [name for name, module in PEERS.items() if find_spec(module) is None]
    reports = study.randomize(_labels(people.schema, people.codes), seed=0)
    return {
        "missing": missing,
        "load": os.getloadavg()[0],
        "randomise": compare(_randomise(study, people.codes, few), rounds),
        "estimate": compare(_estimate(study, reports, few), rounds),
        "count": compare(_count(study, reports), rounds),
        "growth": _growth(quick),
    }


def compare(work: dict[str, Work], rounds: int) -> dict[str, Any]:
    """Nanoseconds of processor time for each answer, and how many times those of the first.

    Processor time, all threads added up, says what work costs on a machine that others use too.
    """
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for number in range(rounds + 1):
        for name, (do, many) in work.items():
            start = process_time()
            do()
            if number:  # the round before the first is not timed
                seconds[name].append(max(process_time() - start, 1e-6) / many)
    first = next(iter(seconds.values()))
    found = {}
    for name, each in seconds.items():
        ratios = [a / b for a, b in zip(each, first, strict=True)]
        found[name] = {
            "nanoseconds": 1e9 * min(each),
            "ratio": median(ratios),
            "least": min(ratios),
            "most": max(ratios),
        }
    return found


def _labels(schema: Schema, codes: Any) -> Any:
    columns = {a.name: np.array(a.values, dtype=object)[codes[a.name]] for a in schema}
    return pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})


def _randomise(study: Study, codes: Any, few: int) -> dict[str, Work]:
    frame, names = _labels(study.schema, codes), study.names
    n = len(frame)
    some = max(1, few // len(names))
    work: dict[str, Work] = {
        "castell, from labels": (lambda: study.randomize(frame), n * len(names)),
        "random bytes alone": (partial(_bytes, 8 * n * len(names)), n * len(names)),
    }
    jobs = [(codes[a.name], a.size) for a in study.schema]
    if find_spec("multi_freq_ldpy"):
        client = import_module("multi_freq_ldpy.pure_frequency_oracles.GRR").GRR_Client
        several = 25 * some  # compiled, hence faster than the other two
        work["multi-freq-ldpy"] = (
            lambda: [client(x, d, EPSILON) for column, d in jobs for x in column[:several]],
            len(jobs) * min(several, n),
        )
    if find_spec("pure_ldp"):
        made = import_module("pure_ldp.frequency_oracles.direct_encoding").DEClient
        clients = [made(EPSILON, d, index_mapper=lambda x: x) for _, d in jobs]
        pairs = [(c, [int(x) for x in column[:some]]) for c, (column, _) in zip(clients, jobs)]  # noqa: B905
        work["pure-ldp"] = (
            lambda: [client.privatise(x) for client, column in pairs for x in column],
            len(jobs) * min(some, n),
        )
    if find_spec("opendp"):
        dp = import_module("opendp.prelude")
        dp.enable_features("contrib")
        measures = [
            (
                dp.m.make_randomized_response(list(range(d)), prob=_truth(d)),
                [int(x) for x in column[: max(1, some // 10)]],
            )
            for column, d in jobs
        ]
        work["OpenDP"] = (
            lambda: [measure(x) for measure, column in measures for x in column],
            sum(len(column) for _, column in measures),
        )
    return work


def _truth(d: int) -> float:
    return float(np.exp(EPSILON) / (np.exp(EPSILON) + d - 1))


def _bytes(many: int, piece: int = 1 << 18) -> None:
    for _ in range(-(-many // piece)):
        os.urandom(piece)


def _estimate(study: Study, reports: Reports, few: int) -> dict[str, Work]:
    name = study.names[0]
    d, column = study.schema[name].size, reports.columns[0]

    def ours() -> None:
        joint = castell.estimate(reports, name, "castell")
        _ = joint.standard_errors, joint.conf_int()

    work: dict[str, Work] = {"castell, with intervals": (ours, len(column))}
    if find_spec("multi_freq_ldpy"):
        add_up = import_module("multi_freq_ldpy.pure_frequency_oracles.GRR").GRR_Aggregator_MI
        some = column[: 25 * few].astype(np.int64)
        work["multi-freq-ldpy"] = (lambda: add_up(some, d, EPSILON), len(some))
    if find_spec("pure_ldp"):
        server = import_module("pure_ldp.frequency_oracles.direct_encoding").DEServer
        fewer = [int(x) for x in column[:few]]
        work["pure-ldp"] = (partial(_pure_ldp, server, d, fewer), len(fewer))
    return work


def _pure_ldp(server: Any, d: int, column: list[int]) -> None:
    each = server(EPSILON, d, index_mapper=lambda x: x)
    each.aggregate_all(column)
    each.estimate_all(range(d), suppress_warnings=True)


def _count(study: Study, reports: Reports) -> dict[str, Work]:
    """The table of two attributes."""
    names, n = list(study.names[:2]), len(reports)
    table = pa.table(dict(zip(study.names, reports.columns, strict=True))).select(names)
    frame, held, counts = table.to_pandas(), pl.DataFrame(table), MemoryCounts(reports)
    axes = [axis for part in parts_of(study, names) for axis in part.axes]
    engine = duckdb.connect()
    engine.register("reports", table)
    listed = ", ".join(names)
    asked = f"SELECT {listed}, count(*) FROM reports GROUP BY {listed}"
    return {
        "castell": (lambda: counts.table(axes), n),
        "pandas.crosstab": (lambda: pd.crosstab(frame[names[0]], frame[names[1]]), n),
        "Polars": (lambda: held.group_by(names).len(), n),
        "DuckDB": (lambda: engine.sql(asked).to_arrow_table(), n),
    }


def _growth(quick: bool) -> list[dict[str, Any]]:
    """Processor seconds of each step as one of n, m, d and w grows and the others stay."""
    usual = {"n": 1_000 if quick else 100_000, "m": 8, "d": 8, "w": 2}
    more = {"n": [1_000] if quick else [10_000, 100_000, 1_000_000], "m": [2, 8]}
    more |= {"d": [2, 8], "w": [1, 2, 3]}
    if not quick:
        more = {**more, "m": [2, 8, 32], "d": [2, 16, 128, 1024], "w": [1, 2, 4, 6, 7]}
    return [
        {"what": what, "value": value, **_steps(**{**usual, what: value})}
        for what, values in more.items()
        for value in values
    ]


def _steps(n: int, m: int, d: int, w: int) -> dict[str, float]:
    schema = Schema(Attribute(f"a{i}", range(d)) for i in range(m))
    study, generator = Study(schema, EPSILON * m), np.random.default_rng(0)
    codes = {name: generator.integers(0, d, n) for name in schema.names}
    frame = _labels(schema, codes)
    start = process_time()
    reports = study.randomize(frame, seed=0)
    randomised = process_time()
    joint = castell.estimate(reports, schema.names[:w], "castell")
    estimated = process_time()
    joint.conf_int()
    return {
        "randomise": randomised - start,
        "estimate": estimated - randomised,
        "errors": process_time() - estimated,
    }


def show(result: dict[str, Any]) -> str:
    lines = []
    for what in ("randomise", "estimate", "count"):
        rows = [
            [
                name,
                f"{one['nanoseconds']:,.1f}",
                f"{one['ratio']:,.2f}",
                f"{one['least']:,.2f} to {one['most']:,.2f}",
            ]
            for name, one in result[what].items()
        ]
        first = next(iter(result[what]))
        lines += [what, "", grid(["", "ns each", f"x {first}", "over rounds"], rows), ""]
    rows = [
        [one["what"], f"{one['value']:,}"]
        + [f"{one[step]:.3f}" for step in ("randomise", "estimate", "errors")]
        for one in result["growth"]
    ]
    lines += ["growth: n = 100,000, m = 8, d = 8, w = 2 but for one of them", ""]
    lines += [grid(["", "is", "randomise s", "estimate s", "errors s"], rows)]
    if result["missing"]:
        lines += ["", f"not installed, left out: {', '.join(result['missing'])}"]
    return "\n".join([*lines, "", f"load of the machine: {result['load']:.1f}"])


def draw(result: dict[str, Any], path: str) -> None:
    """Times as long as castell, with their spread, on a logarithmic scale."""
    alt = import_module("altair")
    rows = [
        {"what": what, "who": name, **one}
        for what in ("randomise", "estimate", "count")
        for name, one in list(result[what].items())[1:]
    ]
    base = alt.Chart(alt.Data(values=rows))
    across = {"scale": alt.Scale(type="log"), "title": "times as long as castell (1 = as fast)"}
    y = alt.Y("who:N", title=None, sort="-x")
    ends = base.mark_rule(strokeWidth=3).encode(x=alt.X("least:Q", **across), x2="most:Q", y=y)
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("ratio:Q", **across), y=y
    )
    texts = base.mark_text(dy=-11).encode(
        x="ratio:Q", y=y, text=alt.Text("ratio:Q", format=",.3~r")
    )
    chart = alt.layer(ends, dots, texts).properties(width=460, height=alt.Step(30))
    faceted = chart.facet(
        row=alt.Row("what:N", title=None, sort=["randomise", "estimate", "count"])
    )
    faceted.resolve_scale(y="independent").save(path, scale_factor=2)
