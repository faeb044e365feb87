"""Cross-validation folds: reports parted at random, to fit to all but one part and judge by it.

Which fold a report is in depends on what it says and on how many equal ones are counted before it,
not on where it stands. So the same reports fall into the same folds whatever holds them, and in any
order: a store, a file and an engine give the same tables. Equal reports are parted as if by dice,
each for itself: were they kept together, or dealt round in turn, the folds would differ by more or
by less than random parts do, and cross-validation would be misled.

    key_i  = sum_j a_i^j (code_j + 1) mod p            two keys of a report, i = 1, 2
    fold   = 5 mix(key_1 + key_2 b + r) / p            r: equal reports before it
    mix(x) = three rounds of x <- (x + c)^5 mod p      a permutation, since 5 does not divide p - 1

With p = 2^31 - 1 every product is below 2^62: whole numbers that SQL can compute too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting.counts import ByBatches, Counts, once
from castell.counting.kernels import Integers
from castell.counting.stages import Stages
from castell.counting.tallies import Tally, is_narrow, tally_of
from castell.study.study import Study

FOLDS = 5

PRIME = 2**31 - 1
# Any numbers below the prime do. These are digits of pi, e, sqrt(2), gamma and the golden ratio.
BASES = (314159265, 271828182)
ROUNDS = (141421356, 577215664, 161803398)


def report_keys(columns: Sequence[NDArray[Any]]) -> Integers:
    """What each report says, as one number below p^2: equal for equal reports, and hardly else."""
    keys = []
    for base in BASES:
        key: Integers = np.zeros(len(columns[0]), dtype=np.int64)
        for column in columns:
            key = (key * base + column.astype(np.int64) + 1) % PRIME
        keys.append(key)
    return keys[0] * PRIME + keys[1]


def repetitions(keys: Integers) -> Integers:
    """How many equal keys stand before each."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(keys)])
    lengths = np.diff(np.append(first, len(keys)))
    found: Integers = np.empty(len(keys), dtype=np.int64)
    found[order] = np.arange(len(keys)) - np.repeat(first, lengths)
    return found


def fold_of(keys: Integers, repetition: Integers) -> NDArray[np.uint8]:
    """The fold of each report."""
    found = np.empty(len(keys), dtype=np.uint8)
    for start in range(0, len(keys), _STEP):
        some = slice(start, start + _STEP)
        found[some] = _fold_of_sum(_hash(keys[some]) + repetition[some])
    return found


def _hash(keys: Integers) -> Integers:
    """Both keys of reports as one number below the prime."""
    one = keys // PRIME
    return _remainder(one + (keys - one * PRIME) * ROUNDS[0])


def _fold_of_sum(numbers: Integers) -> Integers:
    """The fold of reports, by what they say plus how many equal ones stand before each."""
    mixed = _remainder(numbers)
    for constant in ROUNDS:
        one = _remainder(mixed + constant)
        square = _remainder(one * one)
        mixed = _remainder(_remainder(square * square) * one)
    return mixed * FOLDS // PRIME


def _remainder(numbers: Integers) -> Integers:
    """Of a division of numbers below 2^62 by the prime: 2^31 leaves 1, so nothing is divided.

    >>> _remainder(np.array([0, PRIME - 1, PRIME, 2 * PRIME + 5, (PRIME - 1) ** 2])).tolist()
    [0, 2147483646, 0, 5, 1]
    """
    # Twice, as the first sum may have a bit more than 31.
    found = (numbers & PRIME) + (numbers >> 31)
    found = (found & PRIME) + (found >> 31)
    found[found == PRIME] = 0
    return found


# Reports at a time: what is worked out of so many on the way stays in the cache.
_STEP = 1 << 16


@dataclass(frozen=True, eq=False)
class Part(ByBatches):
    """The reports of one fold, or all others."""

    every: Counts
    folds: NDArray[np.uint8]  # of each report
    fold: int
    held_out: bool

    @property
    def study(self) -> Study:
        return self.every.study

    @property
    def secure(self) -> bool:
        return self.every.secure

    @property
    def backend(self) -> str | None:
        return self.every.backend

    def _mine(self, rows: slice) -> NDArray[np.bool_]:
        return np.asarray((self.folds[rows] == self.fold) == self.held_out)

    @cached_property
    def n(self) -> int:
        return int(self._mine(slice(None)).sum())

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:
        start = 0
        for columns in self.every.batches(blocks):
            mine = self._mine(slice(start, start + len(columns[0])))
            start += len(columns[0])
            yield [column[mine] for column in columns]


@dataclass(frozen=True, eq=False)
class Fold:
    """The reports to fit to, and those held out."""

    training: Counts
    held_out: Counts


@once
def folds_of(counts: Counts) -> tuple[Fold, ...]:
    """Five folds, in one pass over the reports.

    Of few possible reports it takes their table. Of many it takes eight bytes for each report,
    then one. Those of several studies are each parted for themselves.
    """
    if isinstance(counts, Stages):
        return tuple(
            Fold(
                Stages(tuple(fold.training for fold in same)),
                Stages(tuple(fold.held_out for fold in same)),
            )
            for same in zip(*map(folds_of, counts.parts), strict=True)
        )
    if isinstance(counts, Tally) or is_narrow(counts.study):
        return _tallied_folds(tally_of(counts))
    columns = range(len(counts.study.design.widths))
    none = np.zeros(0, dtype=np.int64)
    keys = np.concatenate([none, *(report_keys(b) for b in counts.batches(columns) if len(b[0]))])
    each = fold_of(keys, repetitions(keys))
    return tuple(
        Fold(Part(counts, each, k, held_out=False), Part(counts, each, k, held_out=True))
        for k in range(FOLDS)
    )


def _tallied_folds(tally: Tally) -> tuple[Fold, ...]:
    """The same folds of a tally: equal reports are numbered through."""
    keys = report_keys(tally.columns) if len(tally.times) else np.zeros(0, dtype=np.int64)
    # Expected numbers need not be whole: a report is of the one in whose stretch it begins.
    ends = np.maximum.accumulate(np.ceil(np.cumsum(tally.times)).astype(np.int64))
    hashes, begins = _hash(keys), np.concatenate([[0], ends[:-1]])
    times_held_out = np.zeros((len(keys), FOLDS), dtype=np.int64)
    for start in range(0, tally.n, _STEP):
        end = min(start + _STEP, tally.n)
        first, last = np.searchsorted(ends, [start, end - 1], side="right")
        some = slice(first, last + 1)
        times = np.minimum(ends[some], end) - np.maximum(begins[some], start)
        which = np.repeat(np.arange(len(times)), times)
        folds = _fold_of_sum((hashes[some] - begins[some])[which] + np.arange(start, end))
        found = np.bincount(which * FOLDS + folds, minlength=FOLDS * len(times))
        times_held_out[some] += found.reshape(-1, FOLDS)
    each = times_held_out.T
    return tuple(Fold(_some(tally, tally.times - out), _some(tally, out)) for out in each)


def _some(tally: Tally, times: Integers) -> Tally:
    came = times > 0
    columns = tuple(column[came] for column in tally.columns)
    return Tally(tally.study, columns, times[came], tally.secure, tally.backend)
