"""Joint distributions from randomised Bloom filters: Lasso regression on rates, EM on reports.

What LoPub is made of (Ren et al., IEEE TIFS 2018). A combination of values is a candidate; a
distribution is a list of candidates and their shares, so no table is needed however wide it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from castell.channels import BloomResponse
from castell.counting import Counts
from castell.errors import ReportError, StudyError
from castell.linear.operators import Floats
from castell.study.design import Block

Codes = NDArray[np.intp]

_STEP = 1 << 15


@dataclass(frozen=True, eq=False)
class Shares:
    """A distribution over few combinations: a row of codes and a share for each."""

    codes: Codes
    shares: Floats

    @classmethod
    def of(cls, table: Floats) -> Shares:
        """All combinations of a table."""
        codes = np.stack(np.unravel_index(np.arange(table.size), table.shape), axis=1)
        return cls(codes, table.ravel())

    def table(self, sizes: Sequence[int]) -> Floats:
        """The same as a table, where it is small."""
        keys = np.ravel_multi_index(tuple(self.codes.T), tuple(sizes))
        table: Floats = np.bincount(keys, self.shares, minlength=prod(sizes)).astype(np.float64)
        return table.reshape(tuple(sizes))


@dataclass(frozen=True, eq=False)
class Filters:
    """What the reports of Bloom filters say of each attribute.

    `rates` are the bits' rates before they were randomised, as estimated; `logs` holds, for each
    report and value, the log of the report's likelihood, up to what all values share.
    """

    n: int
    matrices: dict[str, Floats]
    rates: dict[str, Floats]
    logs: dict[str, NDArray[np.float32]]

    @classmethod
    def of(cls, counts: Counts) -> Filters:
        study = counts.study
        if counts.n == 0:
            raise ReportError("there are no reports", "collect some before estimating")
        channels = {block.names[0]: _filter_of(block) for block in study.design.blocks}
        matrices: dict[str, Floats] = {}
        rates: dict[str, Floats] = {}
        logs: dict[str, NDArray[np.float32]] = {}
        for (name, channel), column in zip(channels.items(), _sorted_columns(counts), strict=True):
            flip, weight = channel.other / channel.total, np.log(channel.same / channel.other)
            # A report is e^weight times less likely for each bit in which it differs.
            scale = (2.0 * weight * channel.matrix).astype(np.float32)
            offset = (weight * channel.matrix.sum(axis=0)).astype(np.float32)
            ones, parts = np.zeros(len(channel.matrix)), []
            for start in range(0, len(column), _STEP):
                bits = bits_of(column[start : start + _STEP])
                ones += bits.sum(axis=0, dtype=np.float64)
                parts.append(bits @ scale - offset)
            matrices[name], logs[name] = channel.matrix, np.concatenate(parts)
            rates[name] = (ones / counts.n - flip) / (1.0 - 2.0 * flip)
        return cls(counts.n, matrices, rates, logs)

    def lasso(self, names: Sequence[str], penalty: float) -> Shares:
        """Non-negative Lasso of the bits' rates on the filters of all combinations.

        A combination's column is its values' filters, one below the other, so the column that
        fits best is found value by value, and columns are made only when they are chosen. From
        nothing, the best one comes in at a time (Lawson and Hanson's active set): as with any
        Lasso the fit is sparse. The rates hold the margins only; which of the many joint
        distributions with these margins comes out is the algorithm's doing, not the data's.
        """
        matrices = [self.matrices[name] for name in names]
        wanted = np.concatenate([self.rates[name] for name in names])
        ends = np.cumsum([len(m) for m in matrices])[:-1]
        chosen: list[tuple[int, ...]] = []
        columns = np.empty((len(wanted), 0))
        size = np.empty(0)
        for _ in range(4 * len(wanted)):
            left = np.split(wanted - columns @ size, ends)
            gains = [m.T @ r for m, r in zip(matrices, left, strict=True)]
            best = tuple(int(gain.argmax()) for gain in gains)
            if best in chosen or sum(gain.max() for gain in gains) <= penalty + 1e-9:
                break
            chosen.append(best)
            new = np.concatenate([m[:, k] for m, k in zip(matrices, best, strict=True)])
            columns, size = np.column_stack([columns, new]), np.append(size, 0.0)
            size = _coordinate_descent(columns, wanted, size, penalty)
            kept = size > 0.0
            chosen = [c for c, k in zip(chosen, kept, strict=True) if k]
            columns, size = columns[:, kept], size[kept]
        if not chosen:
            return Shares(np.zeros((1, len(names)), dtype=np.intp), np.ones(1))
        return Shares(np.array(chosen, dtype=np.intp), size / size.sum())

    def margins(self, names: Sequence[str], penalty: float) -> list[Floats]:
        """Each attribute alone, by Lasso: here the rates do tell the shares."""
        sizes = [self.matrices[name].shape[1] for name in names]
        return [
            self.lasso([n], penalty).table([size]) for n, size in zip(names, sizes, strict=True)
        ]

    def em(self, names: Sequence[str], start: Floats, close: float, most: int) -> Floats:
        """The most likely table, by expectation maximisation from one that is nowhere 0.

        It ends when no share moves by more than `close` in a step, as LoPub does.
        """
        cut = _where_to_cut(start.shape)
        one, two = (self._likely(part) for part in (names[:cut], names[cut:]))
        pi = start.reshape(one.shape[1], two.shape[1]).astype(np.float32)
        for _ in range(most):
            # A report's chance is a sum over pairs of halves; no array is reports times cells.
            chances = np.einsum("ij,ij->i", one @ pi, two)
            step = pi * (one.T @ (two / chances[:, None])) / np.float32(self.n)
            moved = float(np.abs(step - pi).max())
            pi = step
            if moved < close:
                break
        table = pi.reshape(start.shape).astype(np.float64)
        return np.asarray(table / table.sum())

    def em_of(self, names: Sequence[str], start: Shares, close: float, most: int) -> Shares:
        """The same over the combinations of `start` only."""
        logs = np.zeros((self.n, len(start.codes)), dtype=np.float32)
        for k, name in enumerate(names):
            logs += self.logs[name][:, start.codes[:, k]]
        logs -= logs.max(axis=1, keepdims=True)
        likely = np.exp(logs, out=logs)
        pi = start.shares.astype(np.float32)
        for _ in range(most):
            step = pi * (likely.T @ (1.0 / (likely @ pi))) / np.float32(self.n)
            moved = float(np.abs(step - pi).max())
            pi = step
            if moved < close:
                break
        shares = pi.astype(np.float64)
        return Shares(start.codes, shares / shares.sum())

    def _likely(self, names: Sequence[str]) -> NDArray[np.float32]:
        """How likely each report is for each combination, up to a factor for each report."""
        logs = np.zeros((self.n, 1), dtype=np.float32)
        for name in names:
            wide = logs[:, :, None] + self.logs[name][:, None, :]
            logs = wide.reshape(self.n, -1)
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)), dtype=np.float32)


def _filter_of(block: Block) -> BloomResponse:
    if not isinstance(block.channel, BloomResponse):
        raise StudyError(
            f"the reports of {block.names[0]!r} are no Bloom filters",
            'those of the design "bloom" are',
        )
    return block.channel


def _sorted_columns(counts: Counts) -> list[NDArray[np.uint64]]:
    """The codes of each block, the reports in the order of what they say.

    The last bits of a sum depend on the order of what is summed, and rows are sampled from what EM
    adds up: a database that gives the same reports in another order is to give the same rows.
    """
    blocks = range(len(counts.study.design.blocks))
    batches = list(counts.batches(list(blocks)))
    columns = [np.concatenate([batch[i] for batch in batches]) for i in blocks]
    order = np.lexsort(columns)
    return [column[order] for column in columns]


def _where_to_cut(shape: Sequence[int]) -> int:
    """Where to cut a table in two so that the larger half is as small as can be."""
    return min(range(len(shape) + 1), key=lambda k: max(prod(shape[:k]), prod(shape[k:])))


def bits_of(codes: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Reports of 64 bits as rows of zeros and ones, the lowest bit first."""
    rows = np.ascontiguousarray(codes, dtype="<u8").view(np.uint8).reshape(len(codes), 8)
    return np.unpackbits(rows, axis=1, bitorder="little").astype(np.float32)


def _coordinate_descent(columns: Floats, wanted: Floats, size: Floats, penalty: float) -> Floats:
    """Coefficients of the chosen columns: the unbounded fit, or the way to it up to zero."""
    active = np.ones(len(size), dtype=bool)
    while active.any():
        some = columns[:, active]
        goal = np.zeros(len(size))
        right = some.T @ wanted - penalty
        goal[active] = np.linalg.lstsq(some.T @ some, right, rcond=None)[0]
        if (goal[active] > 0).all():
            return goal
        falling = active & (goal <= 0)
        steps = size[falling] / np.maximum(size[falling] - goal[falling], 1e-300)
        size = size + min(1.0, float(steps.min())) * (goal - size)
        size = np.where(size > 1e-12, size, 0.0)
        active &= size > 0.0
    return size
