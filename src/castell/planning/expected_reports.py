"""The reports to expect from a population under a design: tables of expected numbers.

They are read by all that reads counted ones, so that a prediction is the very formula of an
interval, evaluated at what is expected. Numbers are not whole; how many report each block is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from castell.channels import Channel
from castell.counting import Counts, Factor, Moments, Stages, sample_studies
from castell.counting.kernels import Integers, pack
from castell.linear.operators import Floats, Operator, apply
from castell.planning.population import Population
from castell.study.design import Axis, Block, lens_on
from castell.study.schema import check_cells
from castell.study.study import Study

Shares = dict[tuple[Axis, ...], Floats]


@dataclass(frozen=True, eq=False)
class ExpectedSample:
    """What n respondents who report the same blocks are expected to report."""

    study: Study
    population: Population
    n: int
    secure: bool = True
    backend: str | None = None
    shares: Shares = field(default_factory=dict)  # the expected share of each report, kept

    def table(self, axes: Sequence[Axis]) -> Integers:
        """Expected numbers: no integers, but read like them."""
        key = tuple(axes)
        if key not in self.shares:
            self.shares[key] = self._expected_table(key)
        return self.shares[key] * self.n  # type: ignore[return-value]

    def _expected_table(self, axes: tuple[Axis, ...]) -> Floats:
        blocks = sorted({axis.block for axis in axes})
        names: list[str] = []
        shape: list[int] = []
        forwards: list[Operator] = []
        order: list[Axis] = []
        for i in blocks:
            block = self.study.design.blocks[i]
            asked = _names_of_axes(block, i, [axis for axis in axes if axis.block == i])
            mine = block.axes(i, asked)
            names += asked
            shape.append(int(np.prod([self.study.schema[name].size for name in asked])))
            forwards.append(_forward(block, asked))
            order += mine
        check_cells(" x ".join(names), [axis.size for axis in order], None)
        answers = self.population.table(names).reshape(shape)
        reports = np.maximum(apply(forwards, answers), 0.0)
        reports = reports.reshape([axis.size for axis in order])
        kept = [order.index(axis) for axis in axes]
        gone = tuple(k for k in range(len(order)) if k not in kept)
        left = [k for k in range(len(order)) if k in kept]
        if gone:
            reports = reports.sum(axis=gone)
        return np.asarray(reports.transpose([left.index(k) for k in kept]) / reports.sum())

    def pairs(self, axes: Sequence[Axis]) -> Integers:  # noqa: ARG002
        _no_reports()

    def moments(self, queries: Sequence[Sequence[Factor]]) -> Moments:
        axes = tuple(dict.fromkeys(axis for factors in queries for f in factors for axis in f.axes))
        table = self.table(axes)
        digits = np.unravel_index(np.arange(table.size), table.shape)
        codes: dict[int, NDArray[Any]] = {}
        for axis, digit in zip(axes, digits, strict=True):
            codes[axis.block] = codes.get(axis.block, 0) + digit * axis.stride
        values = np.ones((len(queries), table.size))
        for i, factors in enumerate(queries):
            for factor in factors:
                values[i] *= factor.values[pack(codes, factor.axes, slice(0, table.size))]
        shares = table.ravel() / self.n
        return Moments(self.n, values @ shares, (values * shares) @ values.T)

    def batches(self, blocks: Sequence[int]) -> Iterator[list[NDArray[Any]]]:  # noqa: ARG002
        _no_reports()


def _no_reports() -> NoReturn:
    raise NotImplementedError("expected reports are numbers, not rows")


def _names_of_axes(block: Block, index: int, axes: Sequence[Axis]) -> tuple[str, ...]:
    """The attributes that some digits of a block's report belong to."""
    found = [name for name in block.names if set(block.axes(index, [name])) <= set(axes)]
    return tuple(found)


def _forward(block: Block, names: Sequence[str]) -> Operator:
    channel: Channel = block.channel
    return channel.forward if len(names) == len(block.names) else lens_on(block, names).forward


@dataclass(frozen=True, eq=False)
class ExpectedReports:
    """The expected reports of a study, for any number of respondents."""

    study: Study
    population: Population
    _alone: list[tuple[Study, Shares]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._alone.extend((study, {}) for study in sample_studies(self.study))

    def of(self, n: int) -> Counts:
        """What n respondents are expected to report."""
        if len(self._alone) == 1:
            study, kept = self._alone[0]
            return ExpectedSample(study, self.population, n, shares=kept)
        weights = np.array(self.study.design.weights, dtype=np.float64)
        ends = np.rint(n * np.cumsum(weights) / weights.sum()).astype(int)
        each = np.diff(ends, prepend=0)
        # A stage for each block: samples of different people, whatever study they are of.
        parts = [
            ExpectedSample(study, self.population, int(many), shares=kept)
            for (study, kept), many in zip(self._alone, each, strict=True)
        ]
        return ExpectedStages(tuple(parts), self.study)


@dataclass(frozen=True, eq=False)
class ExpectedStages(Stages):
    """Expected reports of drawn blocks, of one study that has all attributes."""

    whole: Study

    @property
    def study(self) -> Study:
        return self.whole
