"""What the analyst wants most of the next stage: tables and shares, and how far off they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.errors import OptionError
from castell.inference.latent.structural_zero_mixture import Answers
from castell.planning.attribute_sets import some_sets
from castell.study.schema import Schema

Codes = NDArray[np.intp]
Members = NDArray[np.bool_]

# Unless it is said what is wanted: tables of so many attributes, and of wide schemas so many of
# each width. Of their cells those with so large a share, and the largest: the error of a table is
# that of its large cells.
USUAL_WIDTHS = (2, 3, 4)
MOST_TABLES = {1: 400, 2: 400, 3: 100, 4: 100}
LARGE_CELL = 0.01


@dataclass(frozen=True, eq=False)
class Wanted:
    """What the analyst wants most: tables by the places of attributes, and shares.

    Neither stands for the large cells of all tables of two to four attributes.
    """

    tables: tuple[tuple[int, ...], ...]
    shares: tuple[Mapping[int, Codes], ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(
        cls,
        schema: Schema,
        tables: Sequence[Sequence[str]] | None,
        shares: Sequence[Mapping[str, Any]] | None,
    ) -> Wanted:
        place = {name: i for i, name in enumerate(schema.names)}
        wide = []
        for names in tables or ():
            if isinstance(names, str):
                raise OptionError(f"the table {names!r} is a name", "give a list of names for each")
            wide.append(tuple(place[a.name] for a in schema.select(list(names))))
        asked = []
        for share in shares or ():
            if not share:
                raise OptionError("a wanted share names no attribute", "write {attribute: value}")
            asked.append({place[schema[a].name]: _codes(schema, a, v) for a, v in share.items()})
        return cls(tuple(wide), tuple(asked), tuple(schema.sizes))

    @property
    def is_usual(self) -> bool:
        return not self.tables and not self.shares

    def indicators(self, people: Sequence[Codes]) -> list[Members]:
        """Who is counted by each share that is wanted."""
        found: list[Members] = []
        if self.is_usual:
            for places in self._usual_tables():
                found += self._cells(people, places, LARGE_CELL)
        for places in self.tables:
            found += self._cells(people, places, 0.0)
        for share in self.shares:
            inside = [np.isin(people[place], codes) for place, codes in share.items()]
            found.append(np.logical_and.reduce(inside))
        return found

    def _cells(
        self, people: Sequence[Codes], places: tuple[int, ...], least: float
    ) -> Iterator[Members]:
        """Who is in each cell of a table; not in small cells, but always in the largest."""
        key = np.zeros(len(people[0]), dtype=np.intp)
        for place in places:
            key = key * self.sizes[place] + people[place]
        cells, counts = np.unique(key, return_counts=True)
        for cell in cells[counts >= min(least * len(key), counts.max())]:
            yield key == cell

    def _usual_tables(self) -> Iterator[tuple[int, ...]]:
        """All tables of the usual widths, or some of each: always the same, for all populations."""
        generator = np.random.default_rng(0)
        for width in [w for w in USUAL_WIDTHS if w <= len(self.sizes)] or [1]:
            yield from some_sets(len(self.sizes), width, MOST_TABLES[width], generator)

    @property
    def _all_tables(self) -> tuple[tuple[int, ...], ...]:
        if not self.is_usual:
            return self.tables
        return tuple(combinations(range(len(self.sizes)), 2)) or ((0,),)

    @property
    def many(self) -> int:
        """How many tables and shares are wanted."""
        return len(self._all_tables) + len(self.shares)

    def error(self, fitted: Answers, truth: Answers) -> float:
        """The largest error of a cell, on average over what is wanted; over pairs of attributes if
        that was not said, for wider tables take too long to fill again and again."""
        errors = [float(np.abs(fitted.table(t) - truth.table(t)).max()) for t in self._all_tables]
        errors += [abs(fitted.share(s) - truth.share(s)) for s in self.shares]
        return float(np.mean(errors))

    def words(self) -> str:
        if self.is_usual:
            return "all tables of two attributes"
        parts = [_count_text(len(self.tables), "table")] * bool(self.tables)
        parts += [_count_text(len(self.shares), "share")] * bool(self.shares)
        return " and ".join(parts)


def _count_text(many: int, what: str) -> str:
    return f"the {what} asked for" if many == 1 else f"the {many} {what}s asked for"


def _codes(schema: Schema, name: str, values: Any) -> Codes:
    listed = values if isinstance(values, (list, tuple, set, frozenset)) else [values]
    return np.array(sorted(schema[name].code(value) for value in listed), dtype=np.intp)
