"""What people ask for, as values of a schema: labels as it writes them, and their codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from castell.errors import QueryError
from castell.inference.inversion import Query
from castell.results.provenance import Labels
from castell.study.schema import Schema

# A value, or a collection of values that all count, by attribute.
Values = Mapping[str, Any]


def labels_of(schema: Schema, asked: Values) -> Labels:
    """The values asked for, as the schema writes them."""
    if not isinstance(asked, Mapping):
        raise QueryError(
            f"{asked!r} names no values", 'give values by attribute, as in {"smokes": "now"}'
        )
    found: dict[str, tuple[str, ...]] = {}
    for attribute in schema.select(asked):
        given = _values_of(asked[attribute.name])
        if not given:
            raise QueryError(f"no value of {attribute.name!r} counts", "name at least one")
        texts = (attribute.values[attribute.code(value)] for value in given)
        found[attribute.name] = tuple(dict.fromkeys(texts))
    return found


def query_of(schema: Schema, labels: Labels) -> Query:
    """The codes of values that count."""
    codes: dict[str, Any] = {}
    for name, texts in labels.items():
        found = sorted(schema[name].code(text) for text in texts)
        codes[name] = np.array(found, dtype=np.intp)
    # Attributes of which every value counts ask for nothing.
    narrow = {a: c for a, c in codes.items() if len(c) < schema[a].size}
    return narrow or codes


def is_everybody(schema: Schema, query: Query) -> bool:
    return all(len(codes) == schema[a].size for a, codes in query.items())


def refuse_both(asked: Query, given: Query) -> None:
    """An attribute is asked for or given, not both."""
    for name in asked:
        if name in given:
            raise QueryError(f"{name!r} is asked for and given", "leave it out of one of them")


def _values_of(asked: Any) -> list[Any]:
    """The values that count: one, or a collection of them."""
    return list(asked) if isinstance(asked, (list, tuple, set, frozenset)) else [asked]
