"""The matrices of Hadamard response, applied by fast Walsh-Hadamard transforms.

Answers are dealt out over groups in turn: answer x is in group x % groups and has row
x // groups + 1 of a Hadamard matrix there. A report is a group and a column. Entries differ by
whether the report is in the answer's set (same group, +1 in the Hadamard matrix), in its group
alone, or in another one. Nothing is written out: a product takes reports x log(order) steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats

# A transform is done some bits at a time, as products with small Hadamard matrices.
_STEP = 64


def even_parity(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether numbers have an even number of ones among their bits.

    >>> even_parity(np.array([0, 1, 2, 3, 7])).tolist()
    [True, False, False, True, False]
    """
    folded = numbers
    for bits in (32, 16, 8, 4, 2, 1):
        folded = folded ^ (folded >> bits)
    return np.asarray((folded & 1) == 0)


@lru_cache(maxsize=8)
def _hadamard(order: int) -> Floats:
    line = np.arange(order)
    return np.where(even_parity(line[:, None] & line), 1.0, -1.0)


def walsh(table: Floats) -> Floats:
    """The Walsh-Hadamard transform of the last axis, whose length is a power of two.

    >>> walsh(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    shape, length = table.shape, table.shape[-1]
    first = min(_STEP, length)
    result = table.reshape(-1, first) @ _hadamard(first)
    done = first
    while done < length:
        step = min(_STEP, length // done)
        result = _hadamard(step) @ result.reshape(-1, step, done)
        done *= step
    return np.asarray(result.reshape(shape))


@dataclass(frozen=True, eq=False)
class Walsh:
    """A row for each of `size` answers: `inside` its set, `outside` it in its group, `beyond` it.

    Each of the three holds a number for each report. With `to_reports` it is the transposed
    matrix: from answers to reports.

    >>> ones, zeros = np.ones(4), np.zeros(4)
    >>> Walsh(3, 1, 4, ones, zeros, zeros).dense()
    array([[1., 0., 1., 0.],
           [1., 1., 0., 0.],
           [1., 0., 0., 1.]])
    """

    size: int
    groups: int
    order: int
    inside: Floats
    outside: Floats
    beyond: Floats
    to_reports: bool = False

    @property
    def reports(self) -> int:
        return self.groups * self.order

    @property
    def rows(self) -> int:
        return self.reports if self.to_reports else self.size

    @property
    def columns(self) -> int:
        return self.size if self.to_reports else self.reports

    @property
    def _fullest_group(self) -> int:
        """How many answers the fullest group has."""
        return -(-self.size // self.groups)

    @property
    def _own(self) -> Floats:
        return (self.inside + self.outside) / 2.0 - self.beyond

    @property
    def _sign(self) -> Floats:
        return (self.inside - self.outside) / 2.0

    def _by_group(self, table: Floats) -> Floats:
        return table.reshape(*table.shape[:-1], self.groups, self.order)

    def _to_answers(self, table: Floats) -> Floats:
        found = walsh(self._by_group(table * self._sign))[..., 1 : self._fullest_group + 1]
        found = found + self._by_group(table * self._own).sum(axis=-1, keepdims=True)
        # Answers were dealt out in turn: the group moves fastest.
        answers = np.swapaxes(found, -1, -2).reshape(*table.shape[:-1], -1)[..., : self.size]
        return np.asarray(answers + (table * self.beyond).sum(axis=-1, keepdims=True))

    def _to_reports(self, table: Floats) -> Floats:
        before = table.shape[:-1]
        dealt = np.zeros((*before, self._fullest_group * self.groups))
        dealt[..., : self.size] = table
        shown = np.zeros((*before, self.groups, self.order))
        shown[..., 1 : self._fullest_group + 1] = np.swapaxes(
            dealt.reshape(*before, self._fullest_group, self.groups), -1, -2
        )
        each = np.broadcast_to(shown.sum(axis=-1, keepdims=True), shown.shape)
        every = (*before, self.reports)
        found = walsh(shown).reshape(every) * self._sign + each.reshape(every) * self._own
        return np.asarray(found + table.sum(axis=-1, keepdims=True) * self.beyond)

    def apply_last(self, table: Floats) -> Floats:
        return self._to_reports(table) if self.to_reports else self._to_answers(table)

    def turn(self, table: Floats) -> Floats:
        return np.ascontiguousarray(self.apply_last(np.ascontiguousarray(table.T)))

    def transpose(self) -> Walsh:
        return replace(self, to_reports=not self.to_reports)

    def power(self, exponent: int) -> Walsh:
        return replace(
            self,
            inside=self.inside**exponent,
            outside=self.outside**exponent,
            beyond=self.beyond**exponent,
        )

    def combine(self, rows: NDArray[np.intp]) -> Floats:
        chosen = np.zeros(self.rows)
        chosen[rows] = 1.0
        return self.transpose().apply_last(chosen)

    def extreme(self) -> float:
        ones, zeros = np.ones(self.reports), np.zeros(self.reports)
        everybody = np.ones(self.size)
        member = replace(self, inside=ones, outside=zeros, beyond=zeros, to_reports=False)
        members = np.rint(member._to_reports(everybody))
        group = np.rint(replace(member, outside=ones)._to_reports(everybody))
        # A report may be in the set of no answer, or of all of its group.
        parts = (
            self.inside[members > 0],
            self.outside[members < group],
            self.beyond[group < self.size],
        )
        return float(max(np.abs(part).max(initial=0.0) for part in parts))

    def dense(self) -> Floats:
        answers, reports = np.arange(self.size)[:, None], np.arange(self.reports)
        group = answers % self.groups == reports // self.order
        members = group & even_parity((answers // self.groups + 1) & (reports % self.order))
        matrix = np.where(members, self.inside, np.where(group, self.outside, self.beyond))
        return matrix.T if self.to_reports else matrix
