"""What reports say about a mixture one by one: all that is in them, at the price of reading all.

Tables of pairs leave out what only three or more attributes together tell. With little noise that
is much. A pass takes time in proportion to reports x attributes x classes; where few reports are
possible, those that came more than once are read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, Fold
from castell.counting.folds import report_keys
from castell.counting.kernels import Integers, pack
from castell.inference.latent.em import Expectation, add_by_attribute, logs
from castell.inference.latent.mixture import Mixture
from castell.inference.latent.settings import SETTINGS
from castell.linear.operators import Floats, Operator
from castell.study.design import Axis, Block, Design

Codes = NDArray[np.int32]
Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ReportRows:
    """Reports of everybody on every block: a row of codes for each block, a column for each
    report, and how many `times` each came; with a leading axis, in each of several collections."""

    attributes: tuple[tuple[int, ...], ...]
    forward: tuple[Operator, ...]
    codes: Codes
    times: Floats
    made_before: _Indicators | None = None  # of the same codes

    def of_members(self, members: NDArray[np.intp]) -> ReportRows:
        return self if self.times.ndim == 1 else self.with_times(self.times[members])

    def with_times(self, times: Floats) -> ReportRows:
        """The same reports, come so often."""
        return replace(self, times=times, made_before=self._indicators)

    def unstack(self) -> list[ReportRows]:
        """Those that came in each of several collections."""
        found = []
        for times in self.times:
            came = times > 0.0
            found.append(replace(self, codes=self.codes[:, came], times=times[came]))
        return found

    @cached_property
    def _indicators(self) -> _Indicators:
        if self.made_before is not None and self.made_before.codes is self.codes:
            return self.made_before
        return _Indicators(self.codes, tuple(f.rows for f in self.forward))

    @cached_property
    def _backward(self) -> list[Operator]:
        return [operator.transpose() for operator in self.forward]

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        return np.cumsum([0, *(f.rows for f in self.forward)])

    def add_expectation(self, mixture: Mixture, total: Expectation) -> None:
        joints, shown = self._report_chances(mixture)
        many, lead = mixture.weights.size, mixture.weights.shape[:-1]
        blamed = np.zeros((int(self._starts[-1]), many))
        for rows, share, whole, logs_of_rows in self._pass(mixture, shown):
            times = self.times[..., rows].astype(np.float32)
            total.log_likelihood += (logs_of_rows * times).sum(axis=-1, dtype=np.float64)
            share *= (times / whole)[..., None, :]
            self._indicators.add(rows, share.reshape(many, -1), blamed)
        # Every report has one code of the first block: those of its codes are all reports.
        first = blamed[: self._starts[1]].sum(axis=0)
        total.classes += first.reshape(total.classes.shape)
        ratio = blamed.T.reshape(*lead, -1, len(blamed)) / np.maximum(shown, 1e-300)
        for i, block in enumerate(self.attributes):
            back = self._backward[i].apply_last(ratio[..., self._starts[i] : self._starts[i + 1]])
            add_by_attribute(mixture, block, joints[i] * back, total.values)

    def log_likelihood_between(
        self,
        attribute: int,  # noqa: ARG002
        low: Mixture,
        high: Mixture,
        shares: Floats,
    ) -> Floats:
        ends = self.logs(low), self.logs(high)
        # Beside the larger of the two no chance is too small to be added.
        top = np.maximum(*ends)
        one, two = (np.exp(end - top) for end in ends)
        between = one + shares[:, None] * (two - one)
        return np.asarray(logs(between) @ self.times + self.times @ top)

    def log_likelihood(self, mixture: Mixture) -> float:
        """Of all reports, of each collection under its own mixture."""
        return float((self.logs(mixture) * self.times).sum())

    def logs(self, mixture: Mixture) -> Floats:
        """The log chance of each report."""
        _, shown = self._report_chances(mixture)
        found = [each.astype(np.float64) for _, _, _, each in self._pass(mixture, shown)]
        none = np.zeros((*mixture.weights.shape[:-1], 0))
        return np.concatenate([none, *found], axis=-1)

    def _report_chances(self, mixture: Mixture) -> tuple[list[Floats], Floats]:
        """How likely the answers to each block are in each class, and all reports side by side."""
        joints = [mixture.classwise(block) for block in self.attributes]
        pairs = zip(self.forward, joints, strict=True)
        return joints, np.concatenate([f.apply_last(joint) for f, joint in pairs], axis=-1)

    def _pass(
        self, mixture: Mixture, shown: Floats
    ) -> Iterator[tuple[slice, Singles, Singles, Singles]]:
        """Some reports at a time: the chance of each with each class over its largest, the sum of
        these over the classes, and the log chance of each report."""
        many = mixture.weights.size
        table = logs(shown)
        # Every report has one code of the first block.
        table[..., : self._starts[1]] += logs(mixture.weights)[..., None]
        singles = table.astype(np.float32).reshape(many, -1)
        # Rows of several mixtures at once take more room, each.
        step = max(
            SETTINGS.rows_at_once * mixture.weights.shape[-1] // many,
            min(SETTINGS.rows_at_once, SETTINGS.fewest_rows_at_once),
        )
        for low in range(0, self.codes.shape[1], step):
            rows = slice(low, low + step)
            share = self._indicators.total(rows, singles).reshape(*mixture.weights.shape, -1)
            top = share.max(axis=-2)
            share -= top[..., None, :]
            np.exp(share, out=share)
            whole = share.sum(axis=-2)
            yield rows, share, whole, np.log(whole) + top


class _Indicators:
    """The codes of reports as a matrix of 0 and 1, a row for each code of a block with few.

    Classes come first in all that is computed: sums over them are then sums of whole rows.
    """

    def __init__(self, codes: Codes, widths: Sequence[int]) -> None:
        self.codes, self._ends = codes, np.cumsum([0, *widths])
        self._large = [i for i, width in enumerate(widths) if width > SETTINGS.few_codes]
        small = [i for i, width in enumerate(widths) if width <= SETTINGS.few_codes]
        places = [np.arange(self._ends[i], self._ends[i + 1]) for i in small]
        self._places = np.concatenate([np.zeros(0, dtype=np.intp), *places])
        starts = np.cumsum([0, *(widths[i] for i in small)])[:-1]
        self._small = codes[small] + starts[:, None].astype(np.int32)
        # Kept where there is room, else made anew for some rows at a time.
        room = codes.shape[1] * len(self._places) <= SETTINGS.most_indicators
        self._kept = self._make_indicators(slice(None)) if room else None

    def _make_indicators(self, rows: slice) -> Singles:
        small = self._small[:, rows]
        shown = np.zeros((len(self._places), small.shape[1]), dtype=np.float32)
        shown[small, np.arange(small.shape[1])] = 1.0
        return shown

    def _of_rows(self, rows: slice) -> Singles:
        return self._make_indicators(rows) if self._kept is None else self._kept[:, rows]

    def total(self, rows: slice, table: Singles) -> Singles:
        """The sum over blocks of what each report's codes mean, by the rows of a table."""
        own = table if not self._large else table[:, self._places]
        found: Singles = own @ self._of_rows(rows)
        for i in self._large:
            found += table[:, self._ends[i] : self._ends[i + 1]][:, self.codes[i, rows]]
        return found

    def add(self, rows: slice, share: Singles, blamed: Floats) -> None:
        """Add the shares of each report to its codes' rows."""
        many = len(share)
        sums = self._of_rows(rows) @ share.T
        if not self._large:
            blamed += sums
            return
        blamed[self._places] += sums
        for i in self._large:
            keys = self.codes[i, rows] * np.int64(many) + np.arange(many)[:, None]
            size = int(self._ends[i + 1] - self._ends[i]) * many
            added = np.bincount(keys.ravel(), share.ravel(), size)
            blamed[self._ends[i] : self._ends[i + 1]] += added.reshape(-1, many)


def readable(blocks: tuple[Block, ...]) -> bool:
    """Whether the blocks are small enough to keep all their combinations for every class."""
    return all(prod(block.sizes) <= SETTINGS.most_block_cells for block in blocks)


def distinct(design: Design, n: int) -> int:
    """How many columns n reports take, at most."""
    return min(n, prod(design.widths)) if _few(design) else n


def _few(design: Design) -> bool:
    return prod(design.widths) <= SETTINGS.most_possible_reports


def report_rows(counts: Counts) -> ReportRows:
    """The reports themselves."""
    return _rows_of([counts]).unstack()[0]


def fold_rows(folds: Sequence[Fold]) -> tuple[ReportRows, ReportRows]:
    """Of all folds at once: the reports to fit to, and those held out."""
    held_out = _rows_of([fold.held_out for fold in folds])
    return held_out.with_times(held_out.times.sum(axis=0) - held_out.times), held_out


def _rows_of(parts: Sequence[Counts]) -> ReportRows:
    """The reports of several parts of a collection, and how often each came in each part."""
    study = parts[0].study
    blocks = study.design.blocks
    place = {name: i for i, name in enumerate(study.names)}
    codes, times = (_put_together if _few(study.design) else _read_rows)(parts)
    return ReportRows(
        tuple(tuple(place[name] for name in block.names) for block in blocks),
        tuple(block.channel.forward for block in blocks),
        codes,
        times,
    )


def _put_together(parts: Sequence[Counts]) -> tuple[Codes, Floats]:
    """Every report that came, and how often."""
    widths = parts[0].study.design.widths
    axes = [Axis(i, 1, width, inner=False) for i, width in enumerate(widths)]
    # A table that is mostly empty takes longer than looking at each report.
    dense = sum(part.n for part in parts) * 8 > prod(widths)
    found = [(_count_kinds if dense else _sort_kinds)(part, axes) for part in parts]
    every = np.unique(np.concatenate([came for came, _ in found]))
    times = np.zeros((len(parts), len(every)))
    for line, (came, often) in zip(times, found, strict=True):
        line[np.searchsorted(every, came)] = often
    return np.array(np.unravel_index(every, widths), dtype=np.int32), times


def _count_kinds(part: Counts, axes: Sequence[Axis]) -> tuple[Integers, Integers]:
    """Which reports came, as one number each, and how often."""
    table = part.table(axes).ravel()
    came = np.flatnonzero(table)
    return came, table[came]


def _sort_kinds(part: Counts, axes: Sequence[Axis]) -> tuple[Integers, Integers]:
    """The same without a table."""
    blocks = [axis.block for axis in axes]
    packed = [
        pack(dict(zip(blocks, columns, strict=True)), axes, slice(None))
        for columns in part.batches(blocks)
    ]
    return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *packed]), return_counts=True)


def _read_rows(parts: Sequence[Counts]) -> tuple[Codes, Floats]:
    """One report after the other, ordered by what they say: sums round alike whoever holds them."""
    blocks = range(len(parts[0].study.design.blocks))
    found = [[np.array(columns, dtype=np.int32) for columns in p.batches(blocks)] for p in parts]
    none = np.zeros((len(blocks), 0), dtype=np.int32)
    each = [np.concatenate([none, *batches], axis=1) for batches in found]
    each = [codes[:, np.argsort(report_keys(list(codes)), kind="stable")] for codes in each]
    owners = np.repeat(np.arange(len(parts)), [codes.shape[1] for codes in each])
    times = np.equal.outer(np.arange(len(parts)), owners).astype(np.float64)
    return np.concatenate(each, axis=1), times
