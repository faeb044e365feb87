"""What may be done to an estimate afterwards, each step by its name.

An estimator never does any of this silently: the unbiased estimate and its error would be lost.

>>> simplex(np.array([0.7, 0.5, -0.2])).round(12)
array([0.6, 0.4, 0. ])
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from castell.errors import OptionError
from castell.linear.operators import Floats
from castell.study.schema import suggest


def raw(table: Floats) -> Floats:
    """As estimated: unbiased where the method is; cells may be negative."""
    return table


def clip(table: Floats) -> Floats:
    """Negative cells become 0 and the rest are scaled to sum to one."""
    kept: Floats = np.maximum(table, 0.0)
    total = float(kept.sum())
    return kept / total if total > 0.0 else np.full_like(table, 1.0 / table.size)


def simplex(table: Floats) -> Floats:
    """The nearest distribution: the least squares projection onto non-negative, sum one."""
    # A constant added to all cells changes nothing, so measure from the largest: however large
    # the noise, the 1 that is to be shared out is not lost beside it.
    table = table - table.max()
    flat = np.sort(table, axis=None)[::-1]
    excess = (np.cumsum(flat) - 1.0) / np.arange(1, flat.size + 1)
    # The largest cell always stays, so there is always a last one that does.
    last = int(np.flatnonzero(flat > excess)[-1])
    result: Floats = np.maximum(table - excess[last], 0.0)
    return result


STEPS: dict[str, Callable[[Floats], Floats]] = {"raw": raw, "clip": clip, "simplex": simplex}


def step(name: str) -> Callable[[Floats], Floats]:
    if name not in STEPS:
        raise OptionError(f"there is no post-processing {name!r}", suggest(str(name), STEPS))
    return STEPS[name]
