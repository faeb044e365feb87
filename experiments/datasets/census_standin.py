"""A stand-in for the whole US Census 1990, of its size and shape, and named as one everywhere.

It is never the real file, and no output may say so. Two ways, both with a fixed seed:

- where `census1990/exact_counts.json` is at hand (every one-way table of the whole file and 67
  two-way tables that form a tree), rows in which exactly these tables hold, and attributes are
  otherwise independent given their neighbours in the tree;
- else rows drawn again, with replacement, from the first 15,317 real ones: real combinations, but
  no more of them than these rows have.

`CASTELL_CENSUS=stand-in` puts it in the place of the census in all experiments.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell import Attribute, Schema
from experiments.datasets import census1990
from experiments.datasets.population import DataError, Population, check_cells
from experiments.datasets.source import File, local, obtain

NAME = "census1990 (stand-in)"
SEED = 1990
COUNTS = File(
    "census1990/exact_counts.json",
    "30157e6f329be16905b4004ca1b5ef10ff237263361d96d8b75dfe48ddee3f0d",
)


def load() -> Population:
    domains = census1990.domains()
    schema = Schema([Attribute(name, values) for name, values in domains.items()])
    if local(COUNTS) is not None:
        codes = drawn_by_tree(json.loads(obtain(COUNTS)), domains)
        how = "drawn so that its one-way and 67 of its two-way tables hold"
    else:
        codes = drawn_again(census1990.first_rows(), census1990.N)
        how = f"drawn again from the first {census1990.FIRST:,} of them"
    rows = len(next(iter(codes.values())))
    note = f"a STAND-IN for US Census 1990, not the real file: {rows:,} made-up rows {how}"
    return check_cells(Population(NAME, schema, codes, note), census1990.CELLS)


def drawn_again(people: Population, rows: int) -> dict[str, NDArray[Any]]:
    """Rows of a population, with replacement."""
    chosen = np.random.default_rng(SEED).integers(0, people.n, rows)
    return {name: column[chosen] for name, column in people.codes.items()}


def drawn_by_tree(
    known: Mapping[str, Any], domains: Mapping[str, list[int]]
) -> dict[str, NDArray[np.uint8]]:
    """Rows with exactly the tables that are known: each attribute given its parent in the tree."""
    generator = np.random.default_rng(SEED)
    codes: dict[str, NDArray[np.uint8]] = {}
    place = {name: {v: k for k, v in enumerate(values)} for name, values in domains.items()}
    waiting = list(domains)
    while waiting:
        ready = [n for n in waiting if known["tree"][n] is None or known["tree"][n] in codes]
        if not ready:
            raise DataError("the counts of the census form no tree", "take the file anew")
        for name in ready:
            parent = known["tree"][name]
            if parent is None:
                counts = known["counts1"][name]
                values = [place[name][int(v)] for v in counts]
                column = np.repeat(np.array(values, dtype=np.uint8), list(counts.values()))
                generator.shuffle(column)
            else:
                two = known["counts2"][f"{parent}|{name}"]
                column = np.empty(known["rows"], dtype=np.uint8)
                values = [place[name][v] for v in two["child_values"]]
                for value, counts in zip(two["parent_values"], two["table"], strict=True):
                    part = np.repeat(np.array(values, dtype=np.uint8), counts)
                    generator.shuffle(part)
                    column[codes[parent] == place[parent][value]] = part
            codes[name] = column
            waiting.remove(name)
    return codes
