"""Two linear maps side by side: each on its own part of a code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats, Operator, Uniform


@dataclass(frozen=True, eq=False)
class KroneckerProduct:
    """The Kronecker product of two operators, which is never written out.

    A code is that of the left part times the number of codes of the right part, plus one of those.

    >>> KroneckerProduct(Uniform(2, 3.0, 1.0), Uniform(2, 1.0, 0.0)).dense()
    array([[3., 0., 1., 0.],
           [0., 3., 0., 1.],
           [1., 0., 3., 0.],
           [0., 1., 0., 3.]])
    """

    left: Operator
    right: Operator

    @property
    def rows(self) -> int:
        return self.left.rows * self.right.rows

    @property
    def columns(self) -> int:
        return self.left.columns * self.right.columns

    def apply_last(self, table: Floats) -> Floats:
        lead = table.shape[:-1]
        made = self.right.apply_last(table.reshape(*lead, self.left.columns, self.right.columns))
        made = self.left.apply_last(np.ascontiguousarray(made.swapaxes(-1, -2)))
        return np.ascontiguousarray(made.swapaxes(-1, -2)).reshape(*lead, self.rows)

    def turn(self, table: Floats) -> Floats:
        return self.apply_last(np.ascontiguousarray(table.T))

    def power(self, exponent: int) -> KroneckerProduct:
        return KroneckerProduct(self.left.power(exponent), self.right.power(exponent))

    def combine(self, rows: NDArray[np.intp]) -> Floats:
        chosen = np.zeros(self.rows)
        np.add.at(chosen, rows, 1.0)
        return self.transpose().apply_last(chosen)

    def transpose(self) -> KroneckerProduct:
        return KroneckerProduct(self.left.transpose(), self.right.transpose())

    def extreme(self) -> float:
        return self.left.extreme() * self.right.extreme()

    def dense(self) -> Floats:
        return np.asarray(np.kron(self.left.dense(), self.right.dense()), dtype=np.float64)


def identity(size: int) -> Uniform:
    """A part that stays as it is."""
    return Uniform(size, 1.0, 0.0)
