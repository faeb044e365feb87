"""Tables with an axis for each of some attributes: summed over some, spread over others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.linear.operators import Floats


def summed(table: Floats, names: Sequence[str], kept: Sequence[str]) -> Floats:
    """A table summed over all but some of its attributes, in the order of those."""
    gone = tuple(i for i, name in enumerate(names) if name not in kept)
    left = [name for name in names if name in kept]
    return np.asarray(table.sum(axis=gone).transpose([left.index(name) for name in kept]))


def expand(table: Floats, names: Sequence[str], over: Sequence[str]) -> Floats:
    """A table over some names with axes of length one for the others, ready to broadcast."""
    order = [names.index(name) for name in over if name in names]
    shape = [table.shape[names.index(name)] if name in names else 1 for name in over]
    return table.transpose(order).reshape(shape)
