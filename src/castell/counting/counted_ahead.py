"""Tables counted ahead: many in one pass over the reports, kept until they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from castell.counting.counts import Counts, add_reports
from castell.counting.kernels import Integers, PairSum, Sum, TableSum
from castell.study.design import Axis

Axes = tuple[Axis, ...]
_NAME = f"{__name__}.tables"
# An entry of the matrix of all pairs takes so much of the time that one table takes for a report:
# products of indicators are matrix products, on all cores.
_ENTRY = 0.005


def count_ahead(counts: Counts, tables: Iterable[Sequence[Axis]]) -> None:
    """Count some tables in one pass; those that were kept before are dropped."""
    wanted = [tuple(axes) for axes in tables]
    every = list(dict.fromkeys(axis for axes in wanted for axis in axes))
    entries = sum(axis.size for axis in every) ** 2
    pairs = all(len(axes) <= 2 for axes in wanted) and _ENTRY * entries < len(wanted)
    total: Sum = PairSum(every) if pairs else TableSum(wanted)
    add_reports(counts, total)
    found = (
        _cut(total, wanted)
        if isinstance(total, PairSum)
        else zip(wanted, total.arrays, strict=True)
    )
    vars(counts)[_NAME] = dict(found)


def counted(counts: Counts, axes: Sequence[Axis]) -> Integers:
    """A table: kept, or counted now."""
    kept: Mapping[Axes, Integers] = vars(counts).get(_NAME, {})
    found = kept.get(tuple(axes))
    return counts.table(axes) if found is None else found


def forget(counts: Counts) -> None:
    """Drop what was kept."""
    vars(counts).pop(_NAME, None)


def _cut(total: PairSum, wanted: Sequence[Axes]) -> Iterable[tuple[Axes, Integers]]:
    """The tables of pairs out of the matrix of all."""
    starts = dict(zip(total.axes, total.starts.tolist(), strict=False))
    for axes in wanted:
        one, two = axes[0], axes[-1]
        rows = slice(starts[one], starts[one] + one.size)
        block = total.total[rows, starts[two] : starts[two] + two.size]
        yield axes, block.copy() if len(axes) == 2 else block.diagonal().copy()
