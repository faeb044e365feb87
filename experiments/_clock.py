"""The three inversions, timed and weighed: castell, reduced, naive on tables of 3^w cells."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from castell import KaryResponse
from castell.inference import kronecker

VALUES = 3
WAYS: dict[str, Callable[..., Any]] = {
    "naive": kronecker.naive,
    "reduced": kronecker.reduced,
    "castell": kronecker.castell,
}
# From here on a way takes seconds, then minutes.
LAST = {"naive": 6, "reduced": 7, "castell": 12}


def problem(width: int) -> dict[str, Callable[[], Any]]:
    """The paper's: w attributes of three values, p = 1/2."""
    channels = [KaryResponse(VALUES, 2, 1)] * width
    table = np.random.default_rng(0).dirichlet(np.ones(VALUES**width)).reshape([VALUES] * width)
    return {n: partial(way, table, channels) for n, way in WAYS.items() if width <= LAST[n]}


def seconds(call: Callable[[], Any], repeats: int) -> dict[str, float]:
    """The median and the best of several runs, after one that is not timed."""
    call()
    found = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        found.append(perf_counter() - start)
    return {"median": median(found), "best": min(found)}


def peak(call: Callable[[], Any]) -> int:
    """The most memory a call holds at once, in bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
