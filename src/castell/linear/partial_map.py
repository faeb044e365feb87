"""A linear map on one part of a code, beside another part that stays as it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats, Operator


@dataclass(frozen=True, eq=False)
class PartialMap:
    """The Kronecker product of an operator and an identity, which is never written out.

    A code is that of the operator's part times `plain`, plus one of `plain` values.

    >>> from castell.linear.operators import Uniform
    >>> PartialMap(Uniform(2, 3.0, 1.0), 2).dense()
    array([[3., 0., 1., 0.],
           [0., 3., 0., 1.],
           [1., 0., 3., 0.],
           [0., 1., 0., 3.]])
    """

    inner: Operator
    plain: int

    @property
    def rows(self) -> int:
        return self.inner.rows * self.plain

    @property
    def columns(self) -> int:
        return self.inner.columns * self.plain

    def apply_last(self, table: Floats) -> Floats:
        lead = table.shape[:-1]
        apart = table.reshape(*lead, self.inner.columns, self.plain).swapaxes(-1, -2)
        made = self.inner.apply_last(np.ascontiguousarray(apart))
        return np.ascontiguousarray(made.swapaxes(-1, -2)).reshape(*lead, self.rows)

    def turn(self, table: Floats) -> Floats:
        return self.apply_last(np.ascontiguousarray(table.T))

    def power(self, exponent: int) -> PartialMap:
        return PartialMap(self.inner.power(exponent), self.plain)

    def combine(self, rows: NDArray[np.intp]) -> Floats:
        chosen = np.zeros(self.rows)
        np.add.at(chosen, rows, 1.0)
        return self.transpose().apply_last(chosen)

    def transpose(self) -> PartialMap:
        return PartialMap(self.inner.transpose(), self.plain)

    def extreme(self) -> float:
        return self.inner.extreme()

    def dense(self) -> Floats:
        return np.asarray(np.kron(self.inner.dense(), np.eye(self.plain)), dtype=np.float64)
