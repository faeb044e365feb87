"""Lasso on the counts of Bloom filters' bits, as LoPub's authors run it.

They leave open in print what their public code does: the counts of all bits, with an intercept,
are regressed on the filters of all combinations, penalty 1/2 in

    sum (count - intercept - filters . coefficients)^2 / (2 bits) + penalty sum |coefficients|

with coefficients of either sign, by cyclic coordinate descent. The rates hold margins only, so many
joint distributions fit equally; which one comes out is the descent's doing. Combinations with a
positive coefficient are the candidates of the EM that follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import copysign

import numpy as np

from castell.inference.bloom_filters import Filters, Shares
from castell.linear.operators import Floats

PENALTY = 0.5
SWEEPS = 100
# A sweep that moves no coefficient by more than this part of the largest one is the last.
_STILL = 1e-4


def candidates(filters: Filters, names: Sequence[str], penalty: float = PENALTY) -> Shares:
    """The combinations that Lasso keeps, with shares in proportion to their coefficients."""
    sizes = [filters.matrices[name].shape[1] for name in names]
    codes = np.array(list(product(*(range(size) for size in sizes))), dtype=np.intp)
    columns = np.concatenate(
        [filters.matrices[name][:, codes[:, k]] for k, name in enumerate(names)]
    )
    counts = filters.n * np.concatenate([filters.rates[name] for name in names])
    found = descend(columns, counts, penalty)
    kept = found > 0.0
    if not kept.any():
        return Shares(codes, np.full(len(codes), 1.0 / len(codes)))
    return Shares(codes[kept], found[kept] / found[kept].sum())


def descend(columns: Floats, wanted: Floats, penalty: float, sweeps: int = SWEEPS) -> Floats:
    """Cyclic coordinate descent from zero; the intercept is the mean of what is left."""
    threshold = len(wanted) * penalty
    centred = np.ascontiguousarray((columns - columns.mean(axis=0)).T)
    left = wanted - wanted.mean()
    # All that is looked up in the innermost loop lies in lists: it runs millions of times.
    norms = (centred**2).sum(axis=1).tolist()
    some = [(k, column, column.dot, norms[k]) for k, column in enumerate(centred) if norms[k] > 0.0]
    found = [0.0] * len(norms)
    for _ in range(sweeps):
        moved = 0.0
        for k, column, dot, norm in some:
            before = found[k]
            along = float(dot(left)) + norm * before
            size = abs(along) - threshold
            after = copysign(size / norm, along) if size > 0.0 else 0.0
            if after != before:
                left -= (after - before) * column
                found[k] = after
                moved = max(moved, abs(after - before))
        if moved <= _STILL * max(map(abs, found), default=0.0):
            break
    return np.array(found)
