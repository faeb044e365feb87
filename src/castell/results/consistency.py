"""Tables of overlapping attributes, made to agree on what they share.

One model of all attributes (`latent`) gives tables that agree. Methods that work on each table by
itself need not: the ages in a table of age and sex may not be those in a table of age and income.

For every set of attributes that several tables share, the average of their margins is taken, each
weighted by its precision, and the tables are moved there by the least that does it: the difference
is spread evenly over the cells that share the margin. Sets are taken from small to large, so that
no later move undoes an earlier one. That is the weighted least squares solution.

Cells that the study declares impossible become 0 and stay so: a difference is spread over the other
cells. A move may then undo an earlier one a little, so that sets are gone through again until
nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from castell.errors import QueryError
from castell.inference.intervals import Spread, known_zeros
from castell.inference.reasons import Code, Reason, impossible_reasons, reason
from castell.linear.operators import Floats
from castell.linear.table import Table
from castell.results.joint import JointEstimate

# Margins that differ by rounding alone are left as they are.
ROUNDING = 1e-13
MOST_SWEEPS = 1000


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
    possible = [~joint.impossible for joint in family]
    ruled = not all(each.all() for each in possible)
    both = zip(tables, possible, strict=True)
    tables = [np.where(able, table, 0.0) if table[~able].any() else table for table, able in both]
    weights = cache(partial(_weights, family))
    for _ in range(MOST_SWEEPS if ruled else 1):
        if not _agree(family, tables, possible, weights):
            break
    return [_replace_table(joint, table) for joint, table in zip(family, tables, strict=True)]


def _agree(
    family: Sequence[JointEstimate],
    tables: list[Floats],
    possible: Sequence[NDArray[np.bool_]],
    weights: Callable[[tuple[int, ...], tuple[str, ...]], Floats],
) -> bool:
    """Move tables to common margins, set by set; whether any had to move."""
    moved = False
    for shared in shared_sets([joint.names for joint in family]):
        holders = tuple(i for i, joint in enumerate(family) if shared <= set(joint.names))
        # In one order for all; the attributes of an estimate are in the order asked.
        order = tuple(name for name in family[0].study.names if name in shared)
        margins = [Table(family[i].names, tables[i]).project(order).values for i in holders]
        agreed = margins[0] if order else np.ones(())
        size = max(1.0, *(float(np.abs(tables[i]).max()) for i in holders))
        if all(np.abs(margin - agreed).max() <= ROUNDING * size for margin in margins):
            continue
        if order:
            agreed = np.average(margins, axis=0, weights=weights(holders, order))
        for i, margin in zip(holders, margins, strict=True):
            gap = agreed - margin
            tables[i] = _shift_margin(tables[i], family[i].names, order, gap, possible[i])
        moved = True
    return moved


def _replace_table(joint: JointEstimate, table: Floats) -> JointEstimate:
    if table is joint.probabilities:
        return joint
    return replace(
        joint,
        probabilities=table,
        unprocessed=table,
        spread=partial(_spread, joint),
        why=partial(_reasons, joint),
    )


def _reasons(joint: JointEstimate) -> tuple[Reason, ...]:
    told = [reason(Code.MADE_CONSISTENT)]
    if Code.IMPOSSIBLE not in {each.code for each in joint.reasons}:
        told = [*impossible_reasons(joint.study.schema, joint.names), *told]
    return (*joint.reasons, *told)


def _spread(joint: JointEstimate, names: tuple[str, ...]) -> Spread:
    return known_zeros(joint.spread(names), joint.study.schema.impossible_cells(names))


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


def _shift_margin(
    table: Floats,
    names: tuple[str, ...],
    over: tuple[str, ...],
    gap: Floats,
    possible: NDArray[np.bool_],
) -> Floats:
    """A table whose margin over some attributes was moved by `gap`, spread evenly over the cells
    that are possible."""
    if possible.all():
        return np.asarray(table + Table(over, gap).along(names) * (gap.size / table.size))
    cells = Table(names, possible.astype(np.float64)).project(over).values
    each = Table(over, gap / np.maximum(cells, 1.0)).along(names)
    return np.asarray(table + np.where(possible, each, 0.0))
