"""Answers to work on: data sets from the folder CASTELL_DATA names, and generated ones."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from castell import Attribute, CastellError, Schema, Study
from castell.device.encode import encode
from experiments.datasets import adult, german, nursery

# The domain sizes of the paper's eight attributes of Adult: 1,814,400 cells.
ADULT_SIZES = (9, 16, 7, 15, 6, 5, 2, 2)

Codes = dict[str, NDArray[np.intp]]


class DataMissingError(CastellError):
    """A data set is not where it was looked for."""


@dataclass(frozen=True, eq=False)
class Population:
    """Respondents and their answers, as integer codes."""

    name: str
    schema: Schema
    codes: Codes

    @property
    def n(self) -> int:
        return len(self.codes[self.schema.names[0]])

    def study(self, each: float) -> Study:
        """The design `independent` with one epsilon for each attribute."""
        shares = dict.fromkeys(self.schema.names, each)
        return Study(self.schema, shares=shares, name=self.name)

    def table(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The exact joint distribution of some attributes."""
        shape = tuple(self.schema[name].size for name in names)
        keys = np.ravel_multi_index([self.codes[name] for name in names], shape)
        counts = np.bincount(keys, minlength=int(np.prod(shape)))
        return (counts / self.n).reshape(shape)


def generate_population(
    sizes: Sequence[int], n: int, *, classes: int = 4, seed: int = 0
) -> Population:
    """A population of several kinds of people, each with its own margins: attributes depend."""
    generator = np.random.default_rng(seed)
    kinds = generator.choice(classes, n, p=generator.dirichlet(np.full(classes, 5.0)))
    attributes = [Attribute(f"a{i}", [f"value {j}" for j in range(d)]) for i, d in enumerate(sizes)]
    codes = {}
    for attribute in attributes:
        ends = np.cumsum(generator.dirichlet(np.ones(attribute.size), classes), axis=1)
        drawn, column = generator.random(n), np.empty(n, dtype=np.intp)
        for kind in range(classes):
            ours = kinds == kind
            column[ours] = np.searchsorted(ends[kind, :-1], drawn[ours], side="right")
        codes[attribute.name] = column
    return Population("generated", Schema(attributes), codes)


@dataclass(frozen=True)
class _File:
    path: str
    delimiter: str
    columns: Mapping[str, int]


_FILES = {
    "adult": _File(
        "adult/adult.data",
        ",",
        adult.COLUMNS,
    ),
    # The attributes coded A..: the others are numbers, the last one is the class.
    "german": _File(
        "german/german.data",
        " ",
        german.COLUMNS,
    ),
    "nursery": _File(
        "nursery/nursery.data",
        ",",
        nursery.COLUMNS,
    ),
}


def load(name: str) -> Population:
    """A data set of the paper; '?' is a value like any other."""
    file = _FILES[name]
    folder = os.environ.get("CASTELL_DATA")
    remedy = f"set it to the folder that holds {file.path}, the file as UCI publishes it"
    if not folder:
        raise DataMissingError("CASTELL_DATA is not set", remedy)
    path = Path(folder) / file.path
    if not path.is_file():
        raise DataMissingError(f"CASTELL_DATA is {folder}, which has no {file.path}", remedy)
    with path.open(encoding="utf-8", newline="") as stream:
        lines = csv.reader(stream, delimiter=file.delimiter, skipinitialspace=True)
        rows = [row for row in lines if row]
    answers = {attribute: [row[k] for row in rows] for attribute, k in file.columns.items()}
    schema = Schema(Attribute(a, sorted(set(values))) for a, values in answers.items())
    return Population(name, schema, encode(schema, answers))
