"""Category scores: a number for each value of an attribute, as given or its place in the order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from castell.errors import QueryError
from castell.linear.operators import Floats
from castell.study.schema import Attribute

# A number for each value, by attribute.
Scores = Mapping[str, Sequence[float]]


def scores_of(attribute: Attribute, codes: Sequence[int], given: Sequence[float] | None) -> Floats:
    """Of some of its values, those that answer: as given, or 0, 1, 2, ... in their order."""
    if given is None:
        refuse_none(attribute)
        return np.arange(len(codes), dtype=np.float64)
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (len(codes),) or not np.isfinite(found).all():
        raise QueryError(
            f"the scores of {attribute.name!r} are {given!r}",
            f"give a number for each of its {len(codes)} values that are answers, in their order",
        )
    return found


def refuse_none(attribute: Attribute) -> None:
    """To have none is not one more than the largest number."""
    if attribute.may_have_none:
        none = attribute.values[attribute.none_code]
        raise QueryError(
            f"{none!r} has no place in the order of {attribute.name!r}",
            "give scores, a number for each value, or take it as a category",
        )


def refuse_other_scores(scores: Scores, names: Sequence[str]) -> None:
    """Scores of attributes that are not asked for are a slip."""
    for name in scores:
        if name not in names:
            raise QueryError(f"there are scores of {name!r}", f"give those of {', '.join(names)}")
