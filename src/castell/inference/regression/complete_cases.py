"""Regressions are of those who answered: values that are no answer are left out of a formula.

The cells of a table in which somebody did not answer one of the formula's questions are no part of
the regression. Where reports are randomised nobody knows whose these are, so their shares are
estimated along with the rest, each free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from castell.errors import QueryError
from castell.linear.operators import Floats
from castell.linear.table import Table
from castell.study.declining import answered_codes
from castell.study.schema import Attribute, Schema


def regressed_codes(attribute: Attribute) -> list[int]:
    """The codes of the values that a regression is about."""
    codes = answered_codes(attribute)
    if len(codes) < 2:
        raise QueryError(
            f"{attribute.name!r} has fewer than two values that answer it",
            "leave it out of the formula",
        )
    return codes


@dataclass(frozen=True, eq=False)
class CompleteCases:
    """The cells of a table in which all questions are answered, by the codes of each axis."""

    shape: tuple[int, ...]
    codes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, schema: Schema, names: Sequence[str]) -> CompleteCases:
        asked = [schema[name] for name in names]
        return cls(
            tuple(one.size for one in asked), tuple(tuple(regressed_codes(one)) for one in asked)
        )

    @classmethod
    def everybody(cls, shape: Sequence[int]) -> CompleteCases:
        return cls(tuple(shape), tuple(tuple(range(size)) for size in shape))

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(each) for each in self.codes)

    @cached_property
    def incomplete(self) -> NDArray[np.bool_]:
        """Which cells of the whole table are left out."""
        found = np.ones(self.shape, dtype=bool)
        found[np.ix_(*self.codes)] = False
        return found

    def part(self, table: Floats) -> Floats:
        """The cells of a table that are complete."""
        return np.asarray(table[np.ix_(*self.codes)])

    def whole(self, part: Floats, incomplete: Floats | float = 0.0) -> Floats:
        """A table with these complete cells, and those that are not."""
        table = np.zeros(self.shape)
        table[np.ix_(*self.codes)] = part.reshape(self.sizes)
        table[self.incomplete] = incomplete
        return table


def answered_by(schema: Schema, names: Sequence[str]) -> Table:
    """1 for those who answered all of some attributes, over those that somebody may not answer."""
    found = Table((), np.ones(()))
    for name in names:
        codes = regressed_codes(schema[name])
        if len(codes) < schema[name].size:
            one = np.isin(np.arange(schema[name].size), codes).astype(np.float64)
            found = Table((*found.names, name), np.multiply.outer(found.values, one))
    return found


def in_whole(schema: Schema, function: Table) -> Table:
    """A function of answers as one of all values: 0 where there is no answer."""
    if not function.names:
        return function
    return Table(function.names, CompleteCases.of(schema, function.names).whole(function.values))
