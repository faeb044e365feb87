"""What a survey is to tell: tables, shares and contrasts, each with a half-width to predict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb, prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from castell.errors import OptionError
from castell.inference.queries import Query
from castell.planning.forecast import Forecast
from castell.results.model import Model
from castell.study.schema import Schema

# Tables of each width that stand for all of them, and the most cells of each.
SOME = {1: 12, 2: 15, 3: 6}
MOST_PLANNED_CELLS = 20_000


class Target(Protocol):
    """One question."""

    @property
    def label(self) -> str: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    def half_width(self, forecast: Forecast) -> float:
        """Half the expected length of its 95 % interval, as a share."""
        ...

    def ask(self, model: Model) -> float:
        """The same, of a model that was fitted to reports."""
        ...


@dataclass(frozen=True)
class TableTarget:
    """A table: the mean over its cells."""

    names: tuple[str, ...]

    @property
    def label(self) -> str:
        return " x ".join(self.names)

    def half_width(self, forecast: Forecast) -> float:
        return forecast.half_width(self.names)

    def ask(self, model: Model) -> float:
        low, high = model.estimate(self.names).conf_int()
        return float(np.mean(high - low)) / 2


@dataclass(frozen=True)
class ShareTarget:
    """The share of those with some values, or what it is less another."""

    where: Mapping[str, tuple[str, ...]]
    versus: Mapping[str, tuple[str, ...]] | None
    given: Mapping[str, tuple[str, ...]] | None
    schema: Schema

    @property
    def label(self) -> str:
        text = _where_text(self.where)
        if self.versus:
            text += f" less {_where_text(self.versus)}"
        return text + (f" among {_where_text(self.given)}" if self.given else "")

    @property
    def names(self) -> tuple[str, ...]:
        every = [*self.where, *(self.versus or ()), *(self.given or ())]
        return tuple(dict.fromkeys(every))

    def half_width(self, forecast: Forecast) -> float:
        where = _query(self.schema, self.where)
        if self.versus:
            return forecast.difference(where, _query(self.schema, self.versus))
        if self.given:
            return forecast.conditional(where, _query(self.schema, self.given))
        return forecast.share(where)

    def ask(self, model: Model) -> float:
        if self.versus:
            low, high = model.difference(self.where, self.versus).conf_int()
        elif self.given:
            ends = model.conditional(self.where, given=self.given).conf_int()
            low, high = (float(end[0]) for end in ends)
        else:
            low, high = model.probability(self.where).conf_int()
        return (float(high) - float(low)) / 2


def _where_text(where: Mapping[str, Sequence[str]]) -> str:
    return " and ".join(f"{name} = {' or '.join(values)}" for name, values in where.items())


def _query(schema: Schema, where: Mapping[str, Sequence[str]]) -> Query:
    found: dict[str, NDArray[np.intp]] = {}
    for name, values in where.items():
        codes = sorted(schema[name].code(value) for value in values)
        found[name] = np.array(codes, dtype=np.intp)
    return found


Where = Mapping[str, Any]


def targets_of(
    schema: Schema,
    attributes: Sequence[str] | Sequence[Sequence[str]] | str | None,
    where: Where | Sequence[Where] | None,
    versus: Where | None,
    given: Where | None,
) -> tuple[Target, ...]:
    """The questions that are asked for; none where a person names none."""
    found: list[Target] = [TableTarget(names) for names in _tables(schema, attributes)]
    if versus and given:
        raise OptionError(
            "both versus and given are there",
            "plan a difference of two shares, or a share among a group",
        )
    if (versus or given) and not where:
        raise OptionError(
            "there is no share to compare",
            "say which: where={attribute: value}, or --where attribute=value",
        )
    listed = [where] if isinstance(where, Mapping) else list(where or ())
    for each in listed:
        asked = _labels(schema, each)
        less = _labels(schema, versus) if versus else None
        among = _labels(schema, given) if given else None
        if among and set(among) & set(asked):
            twice = next(iter(set(among) & set(asked)))
            raise OptionError(f"{twice!r} is asked for and given", "leave it out of one of them")
        found.append(ShareTarget(asked, less, among, schema))
    return tuple(found)


def _tables(schema: Schema, attributes: Any) -> list[tuple[str, ...]]:
    if not attributes:
        return []
    if not isinstance(attributes, Iterable):
        raise OptionError(f"attributes is {attributes!r}", "name the attributes of a table")
    listed = [attributes] if isinstance(attributes, str) else list(attributes)
    if all(isinstance(each, str) for each in listed):
        listed = [listed]
    found = []
    for names in listed:
        wide = tuple(a.name for a in schema.select(names))
        cells = prod(schema[name].size for name in wide)
        if cells > MOST_PLANNED_CELLS:
            raise OptionError(
                f"the table {' x '.join(wide)} has {cells:,} cells",
                f"plan one of at most {MOST_PLANNED_CELLS:,}, or a share of them: where=",
            )
        found.append(wide)
    return found


def _labels(schema: Schema, where: Where) -> dict[str, tuple[str, ...]]:
    if not where or not hasattr(where, "items"):
        raise OptionError(
            f"where is {where!r}", "write {attribute: value} or {attribute: [values]}"
        )
    found = {}
    for name, values in where.items():
        attribute = schema[name]
        listed = list(values) if isinstance(values, (list, tuple, set, frozenset)) else [values]
        if not listed:
            raise OptionError(f"no value of {name!r} counts", "name at least one")
        found[name] = tuple(attribute.values[attribute.code(value)] for value in listed)
    return found


def usual_tables(schema: Schema, width: int, most: int | None = None) -> tuple[TableTarget, ...]:
    """Some tables of a width that stand for all: evenly out of their list."""
    names = [a.name for a in schema]
    if width > len(names):
        return ()
    wanted, many = most or SOME[width], comb(len(names), width)
    step = max(many // wanted, 1)
    found = []
    for chosen in islice(combinations(names, width), step // 2, None, step):
        if prod(schema[name].size for name in chosen) <= MOST_PLANNED_CELLS:
            found.append(TableTarget(tuple(chosen)))
        if len(found) == wanted:
            break
    return tuple(found)
