"""Respondents whose answers are known: what an experiment hides, and compares estimates with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell import Attribute, CastellError, Schema
from castell.linear.operators import Floats

Codes = Mapping[str, NDArray[Any]]


class DataError(CastellError):
    """A data set that cannot be had, or is not the one the paper used."""


@dataclass(frozen=True, eq=False)
class Population:
    """Answers as integer codes; `note` says what the rows are, on every output."""

    name: str
    schema: Schema
    codes: Codes
    note: str

    @property
    def n(self) -> int:
        return len(self.codes[self.schema.names[0]])

    @property
    def cells(self) -> int:
        """The product of the domain sizes, exact however large."""
        return prod(self.schema.sizes)

    def table(self, names: Sequence[str]) -> Floats:
        """The exact joint distribution of some attributes."""
        shape = tuple(self.schema[name].size for name in names)
        keys = np.ravel_multi_index([self.codes[name] for name in names], shape)
        return (np.bincount(keys, minlength=prod(shape)) / self.n).reshape(shape)

    def take(self, rows: NDArray[Any], note: str | None = None) -> Population:
        """Some of the respondents, or some more than once."""
        codes = {name: column[rows] for name, column in self.codes.items()}
        return Population(self.name, self.schema, codes, note or self.note)

    def select(self, names: Sequence[str]) -> Population:
        """All respondents, some of the questions."""
        schema = Schema(self.schema.select(names))
        return Population(self.name, schema, {n: self.codes[n] for n in names}, self.note)

    def frame(self) -> Any:
        """The answers as labels, in an Arrow table: what `study.randomize` takes."""
        import pyarrow as pa

        return pa.table(
            {
                a.name: pa.DictionaryArray.from_arrays(
                    pa.array(self.codes[a.name].astype(np.int32)), pa.array(a.values, pa.string())
                )
                for a in self.schema
            }
        )


def from_labels(name: str, columns: Mapping[str, Sequence[str]], note: str) -> Population:
    """A population from columns of labels; the values of an attribute are those that occur."""
    attributes, codes = [], {}
    for attribute, labels in columns.items():
        values, found = np.unique(np.asarray(labels), return_inverse=True)
        attributes.append(Attribute(attribute, values.tolist()))
        codes[attribute] = found.astype(np.intp)
    return Population(name, Schema(attributes), codes, note)


def check_cells(people: Population, expected: int) -> Population:
    """The population, if its domains multiply to what the paper's do."""
    if people.cells != expected:
        raise DataError(
            f"the domains of {people.name!r} multiply to {people.cells:,}, not {expected:,}",
            "take the file as UCI publishes it",
        )
    return people
