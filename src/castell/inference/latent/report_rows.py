"""What reports say about a mixture one by one: all that is in them, at the price of reading all.

Tables of pairs leave out what only three or more attributes together tell. With little noise that
is much. A pass takes time in proportion to reports x attributes x classes; where few reports are
possible, those that came more than once are read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts
from castell.counting.folds import report_keys
from castell.inference.latent.expectation import Expectation, add_by_attribute, e_step, logs
from castell.inference.latent.mixture import Mixture
from castell.linear.operators import Floats, Operator
from castell.study.design import Axis, Block, Design

# Rows at a time: they stay in the cache. Fewer of several mixtures, but no less than these.
STEP = 1 << 12
FEWEST_ROWS = 1 << 9
# Codes of a block are looked up by a matrix product with indicators up to this many: faster than
# picking them out one by one.
FEW_CODES = 64
# The combinations of a block that are kept for every class.
MOST_CELLS = 1 << 14
# Equal reports are put together where no more than these are possible: one table counts them all.
MOST_REPORTS = 1 << 22

Codes = NDArray[np.int32]
Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ReportRows:
    """Reports of everybody on every block: a row of codes for each block, a column for each
    report, and how many `times` each came."""

    attributes: tuple[tuple[int, ...], ...]
    forward: tuple[Operator, ...]
    codes: Codes
    times: Floats

    @cached_property
    def _backward(self) -> list[Operator]:
        return [operator.transpose() for operator in self.forward]

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        return np.cumsum([0, *(f.rows for f in self.forward)])

    def of_members(self, members: NDArray[np.intp]) -> ReportRows:  # noqa: ARG002
        return self

    def add_expectation(self, mixture: Mixture, total: Expectation) -> None:
        joints, shown = self._shown(mixture)
        blamed = np.zeros((int(self._starts[-1]), mixture.weights.size))
        for looked, share, whole in self._pass(mixture, shown):
            total.log_likelihood += np.asarray(whole @ looked.times, dtype=np.float64)
            share *= looked.times
            total.classes += share.sum(axis=-1, dtype=np.float64)
            looked.add(share.reshape(mixture.weights.size, -1), blamed, self._starts)
        for i, block in enumerate(self.attributes):
            blame = blamed[self._starts[i] : self._starts[i + 1]].T.reshape(shown[i].shape)
            ratio = blame / np.maximum(shown[i], 1e-300)
            answers = joints[i] * self._backward[i].apply_last(ratio)
            add_by_attribute(mixture, block, answers, total.values)

    def log_likelihood_between(
        self,
        attribute: int,  # noqa: ARG002
        low: Mixture,
        high: Mixture,
        shares: Floats,
    ) -> Floats:
        one, two = self.logs(low), self.logs(high)
        with np.errstate(divide="ignore"):
            near, far = np.log(1.0 - shares), np.log(shares)
        pairs = zip(near, far, strict=True)
        return np.array([self.times @ np.logaddexp(one + a, two + b) for a, b in pairs])

    def logs(self, mixture: Mixture) -> Floats:
        """The log chance of each report."""
        _, shown = self._shown(mixture)
        found = [whole.astype(np.float64) for _, _, whole in self._pass(mixture, shown)]
        return np.concatenate([np.zeros(0), *found], axis=-1)

    def _shown(self, mixture: Mixture) -> tuple[list[Floats], list[Floats]]:
        """How likely the answers to each block are in each class, and the reports."""
        joints = [mixture.classwise(block) for block in self.attributes]
        pairs = zip(self.forward, joints, strict=True)
        return joints, [forward.apply_last(joint) for forward, joint in pairs]

    def _pass(
        self, mixture: Mixture, shown: list[Floats]
    ) -> Iterator[tuple[_Looked, Singles, Singles]]:
        """Some reports at a time: the share of each class in each, and the log chance of each."""
        many = mixture.weights.size
        tables = [logs(part).astype(np.float32).reshape(many, -1) for part in shown]
        base = logs(mixture.weights).astype(np.float32)[..., None]
        # Rows of several mixtures at once take more room, each.
        step = max(STEP * mixture.weights.shape[-1] // many, min(STEP, FEWEST_ROWS))
        for low in range(0, self.codes.shape[1], step):
            rows = slice(low, low + step)
            looked = _Looked(self.codes[:, rows], self.times[rows].astype(np.float32), tables)
            share = looked.total().reshape(*mixture.weights.shape, -1)
            share += base
            top = share.max(axis=-2)
            share -= top[..., None, :]
            np.exp(share, out=share)
            whole = share.sum(axis=-2)
            share /= whole[..., None, :]
            yield looked, share, np.log(whole) + top


@dataclass(frozen=True, eq=False)
class RowsOfEach:
    """Other reports for each of several mixtures."""

    rows: tuple[ReportRows, ...]

    def of_members(self, members: NDArray[np.intp]) -> RowsOfEach:
        return RowsOfEach(tuple(self.rows[member] for member in members))

    def add_expectation(self, mixture: Mixture, total: Expectation) -> None:
        for i, (rows, own) in enumerate(zip(self.rows, mixture.unstack(), strict=True)):
            found = e_step(own, [rows])
            total.classes[i] += found.classes
            total.values[i] += found.values
            total.log_likelihood[i] += found.log_likelihood

    def log_likelihood(self, mixture: Mixture) -> float:
        """Of all reports, each under its own mixture."""
        pairs = zip(self.rows, mixture.unstack(), strict=True)
        return sum(float(rows.logs(own) @ rows.times) for rows, own in pairs)


class _Looked:
    """Some reports and the tables of what their codes mean, a column for each code.

    Classes come first in all that is computed: sums over them are then sums of whole rows.
    """

    def __init__(self, codes: Codes, times: Singles, tables: list[Singles]) -> None:
        self.times, self._codes, self._tables = times, codes, tables
        self._small = [i for i, table in enumerate(tables) if table.shape[1] <= FEW_CODES]
        self._large = [i for i, table in enumerate(tables) if table.shape[1] > FEW_CODES]
        self._ends = np.cumsum([0, *(tables[i].shape[1] for i in self._small)])
        self._shown = np.zeros((int(self._ends[-1]), codes.shape[1]), dtype=np.float32)
        line = np.arange(codes.shape[1])
        for i, start in zip(self._small, self._ends, strict=False):
            self._shown[start + codes[i], line] = 1.0

    def total(self) -> Singles:
        """The sum over blocks of what each report's codes mean, for each class."""
        found = np.zeros((len(self._tables[0]), self._codes.shape[1]), dtype=np.float32)
        if self._small:
            found += np.concatenate([self._tables[i] for i in self._small], axis=1) @ self._shown
        for i in self._large:
            found += self._tables[i][:, self._codes[i]]
        return found

    def add(self, share: Singles, blamed: Floats, starts: NDArray[np.intp]) -> None:
        """Add the shares of each report to its codes' rows."""
        many = len(share)
        if self._small:
            sums = self._shown @ share.T
            for i, low, high in zip(self._small, self._ends, self._ends[1:], strict=False):
                blamed[starts[i] : starts[i + 1]] += sums[low:high]
        for i in self._large:
            keys = self._codes[i] * np.int64(many) + np.arange(many)[:, None]
            size = self._tables[i].shape[1] * many
            added = np.bincount(keys.ravel(), share.ravel(), size)
            blamed[starts[i] : starts[i + 1]] += added.reshape(-1, many)


def readable(blocks: tuple[Block, ...]) -> bool:
    """Whether the blocks are small enough to keep all their combinations for every class."""
    return all(prod(block.sizes) <= MOST_CELLS for block in blocks)


def distinct(design: Design, n: int) -> int:
    """How many columns n reports take, at most."""
    return min(n, prod(design.widths)) if _few(design) else n


def _few(design: Design) -> bool:
    return prod(design.widths) <= MOST_REPORTS


def report_rows(counts: Counts) -> ReportRows:
    """The reports themselves."""
    study = counts.study
    blocks = study.design.blocks
    place = {name: i for i, name in enumerate(study.names)}
    codes, times = _put_together(counts) if _few(study.design) else _read(counts)
    return ReportRows(
        tuple(tuple(place[name] for name in block.names) for block in blocks),
        tuple(block.channel.forward for block in blocks),
        codes,
        times,
    )


def _put_together(counts: Counts) -> tuple[Codes, Floats]:
    """Every report that came, and how often."""
    widths = enumerate(counts.study.design.widths)
    table = counts.table([Axis(i, 1, width, inner=False) for i, width in widths])
    came = np.nonzero(table)
    return np.array(came, dtype=np.int32), table[came].astype(np.float64)


def _read(counts: Counts) -> tuple[Codes, Floats]:
    """One report after the other, ordered by what they say: sums round alike whoever holds them."""
    blocks = range(len(counts.study.design.blocks))
    parts = [np.array(columns, dtype=np.int32) for columns in counts.batches(blocks)]
    codes = np.concatenate([np.zeros((len(blocks), 0), dtype=np.int32), *parts], axis=1)
    codes = codes[:, np.argsort(report_keys(list(codes)), kind="stable")]
    return codes, np.ones(codes.shape[1])
