"""What the analyst wants most of the next stage: tables and shares, and how far off they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.errors import OptionError
from castell.inference.latent.structural_zero_mixture import Answers
from castell.study.schema import Schema

Codes = NDArray[np.intp]
Members = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Wanted:
    """What the analyst wants most: tables by the places of attributes, and shares.

    Neither stands for all tables of two attributes.
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
        for names in _as_list(tables, 'tables=[["smokes", "health"]]'):
            if not isinstance(names, (list, tuple)):
                raise OptionError(
                    f"the table {names!r} is no list", "give a list of names for each"
                )
            wide.append(tuple(place[a.name] for a in schema.select(list(names))))
        asked = []
        for share in _as_list(shares, 'shares=[{"smokes": "now"}]'):
            if not isinstance(share, Mapping) or not share:
                raise OptionError(
                    f"the wanted share {share!r} names no attribute", "write {attribute: value}"
                )
            asked.append({place[schema[a].name]: _codes(schema, a, v) for a, v in share.items()})
        return cls(tuple(wide), tuple(asked), tuple(schema.sizes))

    @property
    def is_usual(self) -> bool:
        return not self.tables and not self.shares

    def indicators(self, people: Sequence[Codes]) -> list[Members] | None:
        """Who is counted by each share that is wanted; None for all cells of pairs."""
        if self.is_usual and len(self.sizes) > 1:
            return None
        found: list[Members] = []
        for places in self._all_tables:
            key = np.zeros(len(people[0]), dtype=np.intp)
            for place in places:
                key = key * self.sizes[place] + people[place]
            found += [key == cell for cell in np.unique(key)]
        for share in self.shares:
            inside = [np.isin(people[place], codes) for place, codes in share.items()]
            found.append(np.logical_and.reduce(inside))
        return found

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
        """The largest error of a cell, on average over what is wanted."""
        errors = [float(np.abs(fitted.table(t) - truth.table(t)).max()) for t in self._all_tables]
        errors += [abs(fitted.share(s) - truth.share(s)) for s in self.shares]
        return float(np.mean(errors))

    def words(self) -> str:
        if self.is_usual:
            return "all tables of two attributes" if len(self.sizes) > 1 else "its only table"
        parts = [_count_text(len(self.tables), "table")] * bool(self.tables)
        parts += [_count_text(len(self.shares), "share")] * bool(self.shares)
        return " and ".join(parts)


def _count_text(many: int, what: str) -> str:
    return f"the {what} asked for" if many == 1 else f"the {many} {what}s asked for"


def _as_list(given: object, example: str) -> Sequence[Any]:
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)):
        raise OptionError(f"{given!r} is no list of what is wanted", f"write {example}")
    return given


def _codes(schema: Schema, name: str, values: Any) -> Codes:
    listed = values if isinstance(values, (list, tuple, set, frozenset)) else [values]
    if not listed:
        raise OptionError(f"the wanted share has no value of {name!r}", "name one or more")
    return np.array(sorted(schema[name].code(value) for value in listed), dtype=np.intp)
