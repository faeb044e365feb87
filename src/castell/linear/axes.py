"""Tables with an axis for each of some attributes: summed over some, spread over others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

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


def group_sum(table: Floats, names: Sequence[str], group: Mapping[str, NDArray[np.intp]]) -> float:
    """The sum of the cells with some values of some attributes, and any of the others.

    >>> group_sum(np.array([[1.0, 2.0], [3.0, 4.0]]), ["a", "b"], {"b": np.array([1])})
    6.0
    """
    inside = [group.get(n, np.arange(size)) for n, size in zip(names, table.shape, strict=True)]
    return float(table[np.ix_(*inside)].sum())
