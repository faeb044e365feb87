"""Asking a model how strongly two attributes are associated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from castell.errors import QueryError
from castell.inference.association import independence, is_testable, margins_of, trend
from castell.inference.misfit import detectable
from castell.inference.reasons import Code, Reason, reason
from castell.inference.support import Checked
from castell.linear.operators import Floats
from castell.results.answering import Answering, reasons_of
from castell.results.association import Association, TrendTest, association_error, cramers_v
from castell.study.schema import Attribute

Scores = Mapping[str, Sequence[float]]


def association_of(model: Answering, one: str, two: str) -> Association:
    """Cramer's V and the test of independence."""
    names = _pair(model, one, two)
    behind = model.support(names)
    test = independence(model.counts, names) if is_testable(model.counts, names) else None
    reasons: tuple[Reason, ...] = ()
    if test is None:
        value, limit, checked = cramers_v(_table(model, names)), 1.0, Checked.NOTHING
        reasons = (reason(Code.ASSOCIATION_UNCHECKED, *names),)
    else:
        value, checked = test.v, behind.checked
        limit = detectable(model.counts, names, margins_of(model.counts, names))
    return Association(
        value=value,
        standard_error=association_error(test),
        source=model.source,
        checked=checked,
        reasons=reasons_of(model.counts, reasons, behind),
        names=names,
        detectable=limit,
        test=test,
    )


def trend_of(model: Answering, one: str, two: str, scores: Scores | None) -> TrendTest:
    """The correlation of scores, and the test that there is none."""
    names = _pair(model, one, two)
    if not is_testable(model.counts, names):
        raise QueryError(
            f"no report tells {one} and {two} together",
            "ask for two attributes that some block of the design holds",
        )
    given = scores or {}
    for name in given:
        if name not in names:
            raise QueryError(f"there are scores of {name!r}", f"give those of {one} or {two}")
    numbers = [scores_of(model.study.schema[name], given.get(name)) for name in names]
    found = trend(model.counts, names, numbers)
    if found is None:
        raise QueryError(
            f"all answers to {one} or to {two} have one score", "give values different scores"
        )
    return TrendTest(
        value=found.correlation,
        standard_error=found.error,
        source=model.source,
        checked=Checked.WHOLE,
        reasons=reasons_of(model.counts, (), model.support(names)),
        names=names,
        scores=(tuple(numbers[0].tolist()), tuple(numbers[1].tolist())),
        test=found,
    )


def scores_of(attribute: Attribute, given: Sequence[float] | None) -> Floats:
    """A number for each value: as given, or 0, 1, 2, ... in the order of the values."""
    if given is None:
        return np.arange(attribute.size, dtype=np.float64)
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (attribute.size,) or not np.isfinite(found).all():
        raise QueryError(
            f"the scores of {attribute.name!r} are {given!r}",
            f"give a number for each of its {attribute.size} values, in their order",
        )
    return found


def _pair(model: Answering, one: str, two: str) -> tuple[str, str]:
    if one == two:
        raise QueryError(f"{one!r} is asked for twice", "name two attributes")
    first, second = model.study.schema.select([one, two])
    return first.name, second.name


def _table(model: Answering, names: tuple[str, str]) -> Floats:
    return model.fitted.joint(names, None).probabilities
