"""CALM's tables: those of drawn blocks made to agree, and the maximum entropy between them.

`castell.fit(reports, calm)` is a method to compare with (Zhang et al. 2018). The unbiased tables of
all blocks are moved to agree on what they share (`castell.consistent`), made distributions, and a
table that no block holds is the one of largest entropy with these margins, by iterative
proportional fitting. It has no standard errors, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.counting import Counts, samples_of, tells
from castell.counting.counts import once
from castell.inference.method import Reads
from castell.inference.postprocess import simplex
from castell.inference.products import product_model
from castell.inference.table_method import table_method
from castell.linear.operators import Floats
from castell.linear.table import Table
from castell.results.consistency import consistent
from castell.results.model import Model

MOST_SWEEPS = 200
CLOSE = 1e-9


@table_method(reads=Reads(everybody=False, drawn=True, across=True))
def calm(counts: Counts, names: tuple[str, ...]) -> Floats:
    """CALM: consistent tables of drawn blocks, maximum entropy between them."""
    margins = _widest([_shared_margin(table, names) for table in block_tables(counts)])
    sizes = {name: counts.study.schema[name].size for name in names}
    return maximum_entropy([table for table in margins if table.names], names, sizes)


@once
def block_tables(counts: Counts) -> tuple[Table, ...]:
    """The tables of all blocks that somebody drew, as distributions that agree on their margins."""
    model = Model(product_model(counts, [counts.study.names], "population"), "castell")
    some = [s.study.names for s in samples_of(counts) if s.n and tells(s, s.study.names)]
    sets = list(dict.fromkeys(some))
    agreed = consistent([model.estimate(one) for one in sets])
    return tuple(Table(joint.names, simplex(joint.probabilities)) for joint in agreed)


def _shared_margin(table: Table, names: Sequence[str]) -> Table:
    return table.project([name for name in names if name in table.names])


def _widest(tables: Sequence[Table]) -> list[Table]:
    """Tables that are no margin of another one; of the same attributes their mean."""
    together: dict[tuple[str, ...], list[Floats]] = {}
    for table in tables:
        together.setdefault(table.names, []).append(table.values)
    kept = [names for names in together if not any(set(names) < set(o) for o in together)]
    return [Table(names, np.mean(together[names], axis=0)) for names in kept]


def maximum_entropy(
    margins: Sequence[Table], names: Sequence[str], sizes: dict[str, int]
) -> Floats:
    """The distribution of largest entropy with given margins, by iterative proportional fitting.

    Where margins disagree a little, as nothing keeps them apart after cutting off what is below
    zero, the fit goes round and round between them; it is left after a fixed number of sweeps.
    """
    shape = [sizes[name] for name in names]
    table: Floats = np.full(shape, 1.0 / float(np.prod(shape)))
    for _ in range(MOST_SWEEPS):
        before = table
        for margin in margins:
            present = Table(tuple(names), table).project(margin.names).values
            ratio = np.divide(
                margin.values, present, out=np.zeros_like(present), where=present > 0.0
            )
            table = table * Table(margin.names, ratio).along(names)
        if np.abs(table - before).sum() < CLOSE:
            break
    total = table.sum()
    return table / total if total > 0.0 else np.full(shape, 1.0 / float(np.prod(shape)))
