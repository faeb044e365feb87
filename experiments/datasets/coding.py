"""Questions read off a table of codes and numbers: which column, and what entries are called."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from castell import Attribute, Schema
from experiments.datasets.population import DataError, Population

Columns = Mapping[str, Sequence[str]]
Bins = Mapping[float, str]
_REMEDY = "take the file as it was published, or name the value in the question"


@dataclass(frozen=True)
class Coded:
    """A column of codes. Each has a label; an entry without one is an error, never a guess."""

    column: str
    labels: Mapping[str, str]

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.labels.values())

    def codes(self, entries: Sequence[str]) -> NDArray[np.intp]:
        place = {entry: code for code, entry in enumerate(self.labels)}
        unknown = sorted(set(entries) - set(place))
        if unknown:
            raise DataError(f"{unknown[0]!r} is no value of {self.column!r}", _REMEDY)
        return np.array([place[entry] for entry in entries], dtype=np.intp)


@dataclass(frozen=True)
class Binned:
    """A column of numbers. Each bin begins at its number, and ends before the next one's."""

    column: str
    bins: Bins

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.bins.values())

    def codes(self, entries: Sequence[str]) -> NDArray[np.intp]:
        try:
            numbers = np.array([float(entry) for entry in entries])
        except ValueError as error:
            raise DataError(f"{self.column!r} holds no number ({error})", _REMEDY) from None
        codes = np.searchsorted(list(self.bins), numbers, side="right") - 1
        if not np.isfinite(numbers).all() or (codes < 0).any():
            raise DataError(f"a number of {self.column!r} is in no bin", _REMEDY)
        return codes.astype(np.intp)


Questions = Mapping[str, Coded | Binned]


def scale(column: str, first: int, *labels: str) -> Coded:
    """Codes that count up from `first`.

    >>> scale("health", 1, "poor", "good").labels
    {'1': 'poor', '2': 'good'}
    """
    return Coded(column, {str(code): label for code, label in enumerate(labels, first)})


def plain(column: str, *codes: str) -> Coded:
    """Codes that are their own labels."""
    return Coded(column, {code: code for code in codes})


def columns_of(content: bytes, delimiter: str = ",", quote: str = '"') -> dict[str, list[str]]:
    """The columns of a file with a line of names, by name.

    >>> columns_of(b"a,b\\n1,2\\n3,4\\n")
    {'a': ['1', '3'], 'b': ['2', '4']}
    """
    lines = content.decode().splitlines()
    names, *rows = csv.reader(lines, delimiter=delimiter, quotechar=quote)
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def answers(name: str, columns: Columns, questions: Questions, note: str) -> Population:
    """Everybody's answers to the questions; the values are in the order in which they are named."""
    schema = Schema([Attribute(asked, q.values) for asked, q in questions.items()])
    codes = {asked: q.codes(columns[q.column]) for asked, q in questions.items()}
    return Population(name, schema, codes, note)
