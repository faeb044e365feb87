"""Randomising securely, against drawing the random bytes that it needs.

A million respondents answer eight questions (domain sizes of Adult, epsilon 4 each). The yardstick
is `os.urandom` for the same 8 bytes an answer, in pieces of the size that is fastest. Below: the
same answers from a Parquet file into one, by one thread and by one for each core.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks._population import ADULT_SIZES, generate_population
from benchmarks._timing import race, show_laps
from castell.device.random_words import secure_words
from castell.device.randomize import randomize_file
from castell.device.respond import respond
from castell.linear.cores import usable_cores

_PIECE = 1 << 18  # bytes


def run(quick: bool) -> dict[str, Any]:
    n, rounds = (20_000, 2) if quick else (1_000_000, 9)
    people = generate_population(ADULT_SIZES, n)
    study = people.study(4.0)
    frame = pa.table(
        {
            a.name: pa.array(np.array(a.values, dtype=object)[people.codes[a.name]], pa.string())
            for a in people.schema
        }
    )
    blocks = study.design.blocks

    def draw_bytes() -> None:
        left = 8 * n * len(blocks)
        while left > 0:
            os.urandom(min(left, _PIECE))
            left -= _PIECE

    def from_codes() -> None:
        for block in blocks:
            respond(block.channel, people.codes[block.names[0]], secure_words)

    laps = race(
        {
            "os.urandom": draw_bytes,
            "from codes": from_codes,
            "from a frame": lambda: study.randomize(frame),
        },
        rounds,
    )
    with TemporaryDirectory() as folder:
        answers, reports = Path(folder, "answers.parquet"), Path(folder, "reports.parquet")
        pq.write_table(frame, answers)
        by = partial(randomize_file, study, answers, reports)
        threads = dict.fromkeys((1, usable_cores()))
        files = race({f"{k} threads": partial(by, threads=k) for k in threads}, rounds)
    return {
        "respondents": n,
        "attributes": len(blocks),
        "epsilon": study.epsilon,
        "laps": laps,
        "file": files,
    }


def show(result: dict[str, Any]) -> str:
    n, attributes = result["respondents"], result["attributes"]
    answers = n * attributes
    best = result["laps"]["from a frame"]["best"]
    return (
        f"{n:,} respondents x {attributes} answers, epsilon {result['epsilon']:.4g} in all, "
        f"{8 * answers / 1e6:,.0f} MB of random bytes\n\n{show_laps(result['laps'])}\n\n"
        f"{answers / best / 1e6:,.0f} million answers a second from a frame of labels, one core"
        f"\n\n{show_laps(result['file'])}"
    )
