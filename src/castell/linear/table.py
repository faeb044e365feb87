"""A labelled table: a number for each combination of values of some attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class Table:
    """Values with an axis for each name.

    >>> table = Table(("a", "b"), np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> table.project(["b"]).values
    array([4., 6.])
    >>> table.project(["b", "a"]).values.tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    >>> table.share({"b": np.array([1])})
    6.0
    """

    names: tuple[str, ...]
    values: Floats

    def project(self, names: Sequence[str]) -> Table:
        """Summed over all other attributes, in the order of the names."""
        gone = tuple(i for i, name in enumerate(self.names) if name not in names)
        left = [name for name in self.names if name in names]
        order = [left.index(name) for name in names]
        return Table(tuple(names), np.asarray(self.values.sum(axis=gone).transpose(order)))

    def along(self, names: Sequence[str]) -> Floats:
        """The values with axes in the order of more names, of length one where it has none.

        So tables over different attributes of one question multiply and add as arrays do.
        """
        order = [self.names.index(name) for name in names if name in self.names]
        sizes = dict(zip(self.names, self.values.shape, strict=True))
        return self.values.transpose(order).reshape([sizes.get(name, 1) for name in names])

    def share(self, group: Mapping[str, NDArray[np.intp]]) -> float:
        """The sum of the cells with some values of some attributes, and any of the others."""
        sizes = zip(self.names, self.values.shape, strict=True)
        inside = [group.get(name, np.arange(size)) for name, size in sizes]
        return float(self.values[np.ix_(*inside)].sum())


def product(tables: Iterable[Table], names: Sequence[str]) -> Floats:
    """The product of tables over different attributes, with an axis for each name.

    >>> one, two = Table(("a",), np.array([1.0, 2.0])), Table(("b",), np.array([3.0, 4.0]))
    >>> product([one, two], ["b", "a"]).tolist()
    [[3.0, 6.0], [4.0, 8.0]]
    """
    along = [table.along(names) for table in tables] or [np.ones(1)]
    return np.asarray(prod(along[1:], start=along[0]))
