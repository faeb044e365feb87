"""Tables of overlapping attributes, made to agree on what they share.

One model of all attributes (`latent`) gives tables that agree. Methods that work on each table by
itself need not: the ages in a table of age and sex may not be those in a table of age and income.

For every set of attributes that several tables share, the average of their margins is taken, each
weighted by its precision, and the tables are moved there by the least that does it: the difference
is spread evenly over the cells that share the margin. Sets are taken from small to large, so that
no later move undoes an earlier one. That is the weighted least squares solution.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from castell.errors import QueryError
from castell.inference.reasons import Code, reason
from castell.linear.operators import Floats
from castell.linear.table import Table
from castell.results.joint import JointEstimate

# Margins that differ by rounding alone are left as they are.
ROUNDING = 1e-13


def consistent(estimates: Iterable[JointEstimate]) -> list[JointEstimate]:
    """The same estimates, in the same order, moved so that all margins they share agree.

    They must come from the same reports and be raw: a step that cuts off what is below zero, table
    by table, would make them disagree again. Methods may differ. What a move does to the error is
    not in the standard errors; where tables err apart it makes it smaller.
    """
    family = list(estimates)
    if not family:
        return []
    _check(family)
    tables: list[Floats] = [joint.probabilities for joint in family]
    for shared in shared_sets([joint.names for joint in family]):
        holders = [i for i, joint in enumerate(family) if shared <= set(joint.names)]
        # In one order for all; the attributes of an estimate are in the order asked.
        order = tuple(name for name in family[0].study.names if name in shared)
        margins = [Table(family[i].names, tables[i]).project(order).values for i in holders]
        agreed = margins[0] if order else np.ones(())
        size = max(1.0, *(float(np.abs(tables[i]).max()) for i in holders))
        if all(np.abs(margin - agreed).max() <= ROUNDING * size for margin in margins):
            continue
        if order:
            agreed = np.average(margins, axis=0, weights=_weights(family, holders, order))
        for i, margin in zip(holders, margins, strict=True):
            tables[i] = _shift_margin(tables[i], family[i].names, order, agreed - margin)
    return [
        joint
        if table is joint.probabilities
        else replace(
            joint,
            probabilities=table,
            unprocessed=table,
            reasons=(*joint.reasons, reason(Code.MADE_CONSISTENT)),
        )
        for joint, table in zip(family, tables, strict=True)
    ]


def shared_sets(sets: Sequence[Iterable[str]]) -> list[frozenset[str]]:
    """What two or more sets have in common, and what those have: from small to large.

    The empty one is always among them: what all tables share is that they sum to one.
    """
    closed: set[frozenset[str]] = set()
    for one in map(frozenset, sets):
        closed |= {one} | {one & other for other in closed}
    several = [s for s in closed if sum(s <= set(one) for one in sets) > 1]
    return sorted({frozenset[str](), *several}, key=lambda s: (len(s), sorted(s)))


def _check(family: Sequence[JointEstimate]) -> None:
    for joint in family:
        if not isinstance(joint, JointEstimate):
            raise QueryError(
                f"a {type(joint).__name__} is no estimate", "give what estimate(...) returned"
            )
        if joint.post != "raw":
            raise QueryError(
                f"the table of {', '.join(joint.names)} was post-processed ({joint.post})",
                "give raw estimates; steps done to one table at a time make them disagree",
            )
        first = family[0]
        if joint.study.digest != first.study.digest:
            raise QueryError("the estimates are of different studies", "give those of one")
        if (joint.n, joint.secure) != (first.n, first.secure):
            raise QueryError(
                f"the estimates are from different reports, {first.n} and {joint.n} of them",
                "estimate all tables from the same reports",
            )


def _weights(
    family: Sequence[JointEstimate], holders: Sequence[int], names: tuple[str, ...]
) -> Floats:
    """One weight for each table, or agreeing on a margin would not keep what lies below it."""
    variances = [float(np.mean(family[i].spread(names).variance)) for i in holders]
    return 1.0 / np.maximum(variances, 1e-200)


def _shift_margin(table: Floats, names: Sequence[str], over: Sequence[str], gap: Floats) -> Floats:
    """A table whose margin over some attributes was moved by `gap`, spread evenly."""
    return np.asarray(table + Table(tuple(over), gap).along(names) * (gap.size / table.size))
