"""Shares of groups of values, or among some respondents: a table that is asked cell by cell.

Sums and ratios of a table's cells have no interval that follows from theirs. So each cell is a
question of its own: `model.probability` for groups of values, `model.conditional` among some.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from castell.collector.results.question import Question
from castell.linear.operators import Floats
from castell.results.chart_data import NUMBERS
from castell.results.model import Model

Group = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ShareTable:
    """The groups of values on each axis, four numbers of each cell, and reasons in words."""

    attributes: tuple[str, ...]
    groups: tuple[tuple[Group, ...], ...]
    numbers: Floats
    notes: tuple[str, ...]

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(name_of(group) for group in axis) for axis in self.groups)

    def columns(self) -> dict[str, Any]:
        """A row for each cell: its values and its numbers, as `JointEstimate.columns`."""
        cells = list(product(*self.values))
        result: dict[str, Any] = {
            name if name not in NUMBERS else f"{name} (attribute)": [cell[k] for cell in cells]
            for k, name in enumerate(self.attributes)
        }
        # What is not known is left empty.
        tables = (np.ravel(table).tolist() for table in self.numbers)
        known = ([x if x == x else None for x in table] for table in tables)
        return result | dict(zip(NUMBERS, known, strict=True))


def groups_of(values: Group, merged: Group) -> tuple[Group, ...]:
    """The values of an attribute one by one, but those merged together, where the first one was.

    >>> groups_of(("a", "b", "c"), ("c", "b"))
    (('a',), ('b', 'c'))
    """
    together = tuple(value for value in values if value in merged)
    return tuple(
        together if value in together else (value,) for value in values if value not in together[1:]
    )


def name_of(group: Group) -> str:
    """
    >>> name_of(("a", "b")), name_of(("a", "b", "c", "d"))
    ('a or b', 'a or 3 others')
    """
    return " or ".join(group) if len(group) <= 3 else f"{group[0]} or {len(group) - 1} others"


def share_table(model: Model, question: Question) -> ShareTable:
    """Every cell as the share of its group, among those given and within its value of `within`."""
    schema, merged = model.study.schema, dict(question.merged)
    names = question.shown
    groups = tuple(groups_of(schema[name].values, merged.get(name, ())) for name in names)
    numbers, notes = [], dict[str, None]()
    for cell in product(*groups):
        found, said = _share(model, question, dict(zip(names, cell, strict=True)))
        numbers.append(found)
        notes |= dict.fromkeys(said)
    shape = (len(NUMBERS), *(len(axis) for axis in groups))
    return ShareTable(names, groups, np.array(numbers).T.reshape(shape), tuple(notes))


def _share(
    model: Model, question: Question, where: dict[str, Group]
) -> tuple[list[float], tuple[str, ...]]:
    given = dict(question.given)
    if question.within:
        given[question.within] = where.pop(question.within)
    if not given:
        share = model.probability(where)
        return [share.value, share.standard_error, *share.conf_int(question.level)], share.notes
    among = model.conditional(where, given=given)
    low, high = among.conf_int(question.level)
    numbers = [among.probabilities[0], among.standard_errors[0], low[0], high[0]]
    return [float(number) for number in numbers], among.notes
