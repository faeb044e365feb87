"""Small linear maps, applied to one axis of a table.

A randomisation matrix of k-ary response has only two different entries, so have its inverse, its
square and every marginal of it: `Uniform` keeps those two and works on domains of millions of
values. Anything else is a `Dense` matrix.

Both turn a table: the axis they act on is the first on the way in and the last on the way out.
After one operator per axis every axis is back where it was, and no transposed copy was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Protocol

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

    def apply_last(self, table: Floats) -> Floats:
        """Apply to the last axis of a (..., columns) table; the result is (..., rows)."""
        ...

    def power(self, exponent: int) -> Operator:
        """The operator with every entry raised to a power."""
        ...

    def combine(self, rows: NDArray[np.intp]) -> Floats:
        """The sum of the given rows, as a vector over the columns."""
        ...

    def transpose(self) -> Operator: ...

    def extreme(self) -> float:
        """The largest entry, whatever its sign."""
        ...

    def dense(self) -> Floats: ...


def apply(operators: Sequence[Operator], table: NDArray[Any]) -> Floats:
    """One operator for each axis of a table, none of them ever multiplied together."""
    shape = tuple(operator.columns for operator in operators)
    if np.shape(table) != shape:
        raise ValueError(f"a table of shape {np.shape(table)} for operators of shape {shape}")
    result = np.ascontiguousarray(table, dtype=np.float64)
    for operator in operators:
        result = operator.turn(result.reshape(operator.columns, -1))
    return result.reshape([operator.rows for operator in operators])


def _multiply_in_pieces(table: Floats, matrix: Floats) -> Floats:
    """matrix @ table, transposed, in pieces.

    Small pieces stay in the cache and below the size at which BLAS starts threads, which on a busy
    machine wait for each other much longer than the product takes.
    """
    rest = table.shape[1]
    result = np.empty((rest, matrix.shape[0]))
    step = max(64, (1 << 17) // matrix.size)
    for start in range(0, rest, step):
        piece = slice(start, start + step)
        np.matmul(table[:, piece].T, matrix.T, out=result[piece])
    return result


def left_inverse(matrix: Floats) -> Floats:
    """What undoes a stochastic matrix (columns sum to one) and keeps sums.

    With as many reports as answers it is the inverse. With more there is a choice: this is the
    weighted least squares solution that is best when all answers are equally likely. Its weights
    make it keep sums, which the plain pseudo-inverse does not.
    """
    if matrix.shape[0] == matrix.shape[1]:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    root = np.sqrt(matrix.mean(axis=1))
    return np.asarray(np.linalg.pinv(matrix / root[:, None]) / root, dtype=np.float64)


def _is_smooth(number: int) -> bool:
    """Whether it has no prime factor above 5: Fourier transforms of other lengths are slow."""
    for factor in (2, 3, 5):
        while number % factor == 0:
            number //= factor
    return number == 1


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

    def apply_last(self, table: Floats) -> Floats:
        result: Floats = table * (self.diagonal - self.rest)
        result += self.rest * table.sum(axis=-1, keepdims=True)
        return result

    def turn(self, table: Floats) -> Floats:
        # The two branches do the same; a matrix product is faster until d^2 outgrows it.
        if self.size <= 64:
            return _multiply_in_pieces(table, self.dense())
        # A transposed view would do, but what follows reshapes it, which would copy it anyway.
        result: Floats = np.ascontiguousarray(table.T) * (self.diagonal - self.rest)
        result += self.rest * table.sum(axis=0)[:, None]
        return result

    def power(self, exponent: int) -> Uniform:
        return Uniform(self.size, self.diagonal**exponent, self.rest**exponent)

    def combine(self, rows: NDArray[np.intp]) -> Floats:
        result = np.full(self.size, self.rest * len(rows))
        result[rows] += self.diagonal - self.rest
        return result

    def transpose(self) -> Uniform:
        return self

    def extreme(self) -> float:
        return max(abs(self.diagonal), abs(self.rest))

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
        return _multiply_in_pieces(table, self.matrix)

    def apply_last(self, table: Floats) -> Floats:
        result: Floats = table @ self.matrix.T
        return result

    def power(self, exponent: int) -> Dense:
        # Products: numpy's power is more than ten times slower from an exponent of three on.
        found = self.matrix
        for _ in range(exponent - 1):
            found = found * self.matrix
        return Dense(found)

    def combine(self, rows: NDArray[np.intp]) -> Floats:
        result: Floats = self.matrix[rows].sum(axis=0)
        return result

    def transpose(self) -> Dense:
        return Dense(self.matrix.T)

    def extreme(self) -> float:
        return float(np.abs(self.matrix).max())

    def dense(self) -> Floats:
        return self.matrix


@lru_cache(maxsize=64)
def _spectrum(shifts: tuple[int, ...], reports: int, length: int) -> NDArray[np.complex128]:
    """The transform of a set, which is that of its powers and transposed matrix, too."""
    member = np.zeros(reports)
    member[list(shifts)] = 1.0
    return np.asarray(np.fft.rfft(member, length))


# Numbers that are picked out at once.
_GATHERED = 1 << 20


@lru_cache(maxsize=64)
def _members(
    size: int, shifts: tuple[int, ...], reports: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The reports in the set of each answer, and the answers that have each report in theirs: in
    columns. Where there are fewer answers than elsewhere, `size` stands for none."""
    places = (np.array(shifts)[:, None] + np.arange(size)) % reports
    order = np.argsort(places, axis=None, kind="stable")
    held = np.bincount(places.ravel(), minlength=reports)
    rank = np.arange(places.size) - np.repeat(np.cumsum(held) - held, held)
    answers = np.full((int(held.max()), reports), size)
    answers[rank, places.ravel()[order]] = order % size
    return places, answers


@dataclass(frozen=True, eq=False)
class Circulant:
    """A row for each of `size` answers: `inside` where report - answer is in a set, else `outside`.

    Differences count modulo the number of reports; `inside` and `outside` hold a number for each
    report. With `to_reports` it is the transposed matrix: from answers to reports. Rows are shifts
    of one another, so a product is a circular convolution.

    >>> Circulant(2, (0, 1), np.ones(3), np.zeros(3)).dense()
    array([[1., 1., 0.],
           [0., 1., 1.]])
    """

    size: int
    shifts: tuple[int, ...]
    inside: Floats
    outside: Floats
    to_reports: bool = False

    @property
    def reports(self) -> int:
        return len(self.inside)

    @property
    def rows(self) -> int:
        return self.reports if self.to_reports else self.size

    @property
    def columns(self) -> int:
        return self.size if self.to_reports else self.reports

    @cached_property
    def _length(self) -> int:
        """Of the transform: no shift of an answer reaches round, and the factors are small."""
        length = self.reports + self.size - 1
        while not _is_smooth(length):
            length += 1
        return length

    @property
    def _spectrum(self) -> NDArray[np.complex128]:
        return _spectrum(self.shifts, self.reports, self._length)

    def _is_sparse(self, table: Floats) -> bool:
        """Whether picking out what the sets hold is faster than two transforms, and fits."""
        members = len(self.shifts) * self.size
        rows = table.size // max(table.shape[-1], 1)
        return members <= 6 * self._length and rows * members <= _GATHERED

    def _to_answers(self, table: Floats) -> Floats:
        gained = table * (self.inside - self.outside)
        if self._is_sparse(table):
            reports, _ = _members(self.size, self.shifts, self.reports)
            sums = np.take(gained, reports, axis=-1).sum(axis=-2)
        else:
            # What an answer's shift would find beyond the last report are the first ones again.
            twice = np.concatenate([gained, gained[..., : self.size - 1]], axis=-1)
            turned = np.fft.rfft(twice, self._length) * self._spectrum.conj()
            sums = np.fft.irfft(turned, self._length)[..., : self.size]
        return np.asarray(sums + (table * self.outside).sum(axis=-1, keepdims=True))

    def _to_reports(self, table: Floats) -> Floats:
        if self._is_sparse(table):
            _, answers = _members(self.size, self.shifts, self.reports)
            more = np.concatenate([table, np.zeros((*table.shape[:-1], 1))], axis=-1)
            sums = np.take(more, answers, axis=-1).sum(axis=-2)
        else:
            turned = np.fft.rfft(table, self._length) * self._spectrum
            far = np.fft.irfft(turned, self._length)
            sums, beyond = far[..., : self.reports], far[..., self.reports :][..., : self.size - 1]
            sums[..., : self.size - 1] += beyond
        base = self.outside * table.sum(axis=-1, keepdims=True)
        return np.asarray(sums * (self.inside - self.outside) + base)

    def apply_last(self, table: Floats) -> Floats:
        return self._to_reports(table) if self.to_reports else self._to_answers(table)

    def turn(self, table: Floats) -> Floats:
        return np.ascontiguousarray(self.apply_last(table.T))

    def transpose(self) -> Circulant:
        return replace(self, to_reports=not self.to_reports)

    def power(self, exponent: int) -> Circulant:
        return replace(self, inside=self.inside**exponent, outside=self.outside**exponent)

    @cached_property
    def _set(self) -> NDArray[np.intp]:
        return np.array(self.shifts, dtype=np.intp)

    def combine(self, rows: NDArray[np.intp]) -> Floats:
        if not self.to_reports and len(rows) * len(self.shifts) <= 8 * self.reports:
            # Few ones: they are counted sooner than a convolution is done, and exactly.
            places = (rows[:, None] + self._set) % self.reports
            members = np.bincount(places.ravel(), minlength=self.reports)
            return np.asarray(members * (self.inside - self.outside) + len(rows) * self.outside)
        chosen = np.zeros(self.rows)
        chosen[rows] = 1.0
        return self.transpose().apply_last(chosen)

    def extreme(self) -> float:
        member = replace(self, inside=np.ones(self.reports), outside=np.zeros(self.reports))
        members = np.rint(member._to_reports(np.ones(self.size)))
        # With fewer answers than reports a report may be in the set of none, or of all.
        inside, outside = self.inside[members > 0], self.outside[members < self.size]
        return float(max(np.abs(part).max(initial=0.0) for part in (inside, outside)))

    def dense(self) -> Floats:
        matrix = np.tile(self.outside, (self.size, 1))
        places = (np.arange(self.size)[:, None] + np.array(self.shifts)) % self.reports
        np.put_along_axis(matrix, places, self.inside[places], axis=1)
        return matrix.T if self.to_reports else matrix
