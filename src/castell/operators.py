"""Small linear maps, applied to one axis of a table.

A randomisation matrix of k-ary response has only two different entries, so have its inverse, its
square and every marginal of it: `Uniform` keeps those two and works on domains of millions of
values. Anything else is a `Dense` matrix.

Both turn a table: the axis they act on is the first on the way in and the last on the way out.
After one operator per axis every axis is back where it was, and no transposed copy was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Operator(Protocol):
    """A linear map from vectors of length `columns` to vectors of length `rows`."""

    @property
    def rows(self) -> int: ...

    @property
    def columns(self) -> int: ...

    def turn(self, table: Floats) -> Floats:
        """Apply to axis 0 of a (columns, rest) table; the result is (rest, rows)."""
        ...

    def squared(self) -> Operator:
        """The operator with every entry squared."""
        ...

    def combine(self, rows: NDArray[np.intp]) -> Floats:
        """The sum of the given rows, as a vector over the columns."""
        ...

    def pull(self, vector: Floats) -> Floats:
        """The transpose applied to a vector over the rows."""
        ...

    def diagonal_with(self, other: Operator) -> Floats:
        """The diagonal of this operator times another one."""
        ...

    def dense(self) -> Floats: ...


def left_inverse(matrix: Floats) -> Floats:
    """What undoes a stochastic matrix (columns sum to one) and keeps sums.

    With as many reports as answers it is the inverse. With more there is a choice: this is the
    weighted least squares solution that is best when all answers are equally likely. Its weights
    make it keep sums, which the plain pseudo-inverse does not.
    """
    if matrix.shape[0] == matrix.shape[1]:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    weighted = matrix.T / matrix.mean(axis=1)
    return np.asarray(np.linalg.solve(weighted @ matrix, weighted), dtype=np.float64)


@dataclass(frozen=True)
class Uniform:
    """`diagonal` on the diagonal and `rest` everywhere else.

    >>> Uniform(2, 3.0, 1.0).dense()
    array([[3., 1.],
           [1., 3.]])
    """

    size: int
    diagonal: float
    rest: float

    @property
    def rows(self) -> int:
        return self.size

    @property
    def columns(self) -> int:
        return self.size

    def turn(self, table: Floats) -> Floats:
        # The two branches do the same; a matrix product is faster until d^2 outgrows it.
        if self.size <= 64:
            return table.T @ self.dense()
        # A transposed view would do, but what follows reshapes it, which would copy it anyway.
        result: Floats = np.ascontiguousarray(table.T) * (self.diagonal - self.rest)
        result += self.rest * table.sum(axis=0)[:, None]
        return result

    def squared(self) -> Uniform:
        return Uniform(self.size, self.diagonal**2, self.rest**2)

    def combine(self, rows: NDArray[np.intp]) -> Floats:
        result = np.full(self.size, self.rest * len(rows))
        result[rows] += self.diagonal - self.rest
        return result

    def pull(self, vector: Floats) -> Floats:
        result: Floats = (self.diagonal - self.rest) * vector + self.rest * vector.sum()
        return result

    def diagonal_with(self, other: Operator) -> Floats:
        if isinstance(other, Uniform):
            same = self.diagonal * other.diagonal
            return np.full(self.size, same + (self.size - 1) * self.rest * other.rest)
        return Dense(self.dense()).diagonal_with(other)

    def dense(self) -> Floats:
        matrix = np.full((self.size, self.size), self.rest)
        np.fill_diagonal(matrix, self.diagonal)
        return matrix


@dataclass(frozen=True, eq=False)
class Dense:
    """Any matrix, `rows` by `columns`."""

    matrix: Floats

    @property
    def rows(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def columns(self) -> int:
        return int(self.matrix.shape[1])

    def turn(self, table: Floats) -> Floats:
        return table.T @ self.matrix.T

    def squared(self) -> Dense:
        return Dense(self.matrix**2)

    def combine(self, rows: NDArray[np.intp]) -> Floats:
        result: Floats = self.matrix[rows].sum(axis=0)
        return result

    def pull(self, vector: Floats) -> Floats:
        return self.matrix.T @ vector

    def diagonal_with(self, other: Operator) -> Floats:
        result: Floats = np.einsum("ij,ji->i", self.matrix, other.dense())
        return result

    def dense(self) -> Floats:
        return self.matrix
