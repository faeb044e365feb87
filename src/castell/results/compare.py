"""Comparing an answer between two groups of a study, or between two waves or studies."""

from __future__ import annotations

from castell.errors import QueryError
from castell.inference.independent_shares import everybody, independent
from castell.inference.queries import Query
from castell.inference.shares import Shares
from castell.inference.support import Checked
from castell.results.comparison import Comparison, Group
from castell.results.provenance import Labels
from castell.results.questions import (
    Answering,
    Values,
    is_everybody,
    labels_of,
    query_of,
    reasons_of,
    refuse_both,
)

# The worst first.
_ORDER = (Checked.NOTHING, Checked.PAIRS, Checked.WHOLE)


def compare_groups(model: Answering, asked: Values, given: Values, versus: Values) -> Comparison:
    """An answer among some respondents and among others, from the same reports."""
    schema = model.study.schema
    where, one, other = (labels_of(schema, each) for each in (asked, given, versus))
    answer, first, second = (query_of(schema, each) for each in (where, one, other))
    if is_everybody(schema, answer):
        raise QueryError("every value counts", "leave out a value: everybody has one of them")
    for group in (first, second):
        refuse_both(answer, group)
    queries = [{**answer, **first}, first, {**answer, **second}, second]
    # Asked for together, so that they err together.
    whole = model.fitted.shares(queries)
    behind = model.support(tuple(dict.fromkeys((*answer, *first, *second))))
    return Comparison(
        asked=where,
        one=Group(one),
        other=Group(other),
        shares=whole,
        each=(model.fitted.shares(queries[:2]), model.fitted.shares(queries[2:])),
        source=model.source,
        checked=behind.checked,
        reasons=reasons_of(model.counts, whole.reasons, behind),
    )


def compare(
    one: Answering, other: Answering, asked: Values, *, given: Values | None = None
) -> Comparison:
    """An answer in two waves or studies, of different people: `compare(spring, autumn, {"health":
    "poor"})`; with `given`, among those with some values in each.

    The two are estimated apart, each from its own reports, so what was fitted may be two designs,
    two methods, or two schemas that both know the values asked for.
    """
    if one.counts is other.counts:
        raise QueryError(
            "both models read the same reports",
            "compare groups of them: model.compare(asked, given=..., versus=...)",
        )
    labels, shares, reasons, checked = [], [], [], []
    for model in (one, other):
        found, where, group, names = _share_in(model, asked, given)
        behind = model.support(names)
        labels.append((where, group))
        shares.append(found)
        reasons.append(reasons_of(model.counts, found.reasons, behind))
        checked.append(behind.checked)
    titles = _titles(one, other)
    return Comparison(
        asked=labels[0][0],
        one=Group(labels[0][1], titles[0]),
        other=Group(labels[1][1], titles[1]),
        shares=independent(*shares),
        each=(shares[0], shares[1]),
        source=one.source.join(other.source),
        checked=min(checked, key=_ORDER.index),
        reasons=(*reasons[0], *(each for each in reasons[1] if each not in reasons[0])),
    )


def _titles(one: Answering, other: Answering) -> tuple[str, str]:
    """The studies' names, told apart where they are alike."""
    names = one.study.name, other.study.name
    if names[0] != names[1]:
        return f"{names[0]!r}", f"{names[1]!r}"
    return f"the first {names[0]!r}", f"the second {names[1]!r}"


def _share_in(
    model: Answering, asked: Values, given: Values | None
) -> tuple[Shares, Labels, Labels, tuple[str, ...]]:
    """The share with the answer and of the group it is asked of, and the words for both."""
    schema = model.study.schema
    where = labels_of(schema, asked)
    answer = query_of(schema, where)
    if is_everybody(schema, answer):
        raise QueryError("every value counts", "leave out a value: everybody has one of them")
    if given is None:
        found = independent(model.fitted.shares([answer]), everybody())
        return found, where, {}, tuple(answer)
    group = labels_of(schema, given)
    among: Query = query_of(schema, group)
    refuse_both(answer, among)
    found = model.fitted.shares([{**answer, **among}, among])
    return found, where, group, (*answer, *among)
