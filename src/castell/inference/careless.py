"""People who answer without regard to the truth: what they look like, and how many there are.

A share c of respondents gives reports that have nothing to do with their answers: each report
equally likely, or always the same one (self-protective answers). Reports are then distributed as
(1 - c) P^T pi + c r. The inversion is linear, so the estimated table is (1 - c) pi + c u with
u the inversion of r, and pi follows for any c that is supposed. What is public is no report of
theirs: the careless are taken to be as many in each public group. How many they are shows only
where something else is known: an anchor question with known answers, or a second group whose
design has other chances (extended crosswise: Heck, Hoffmann and Moshagen 2018; an anchor question:
Atsusaka and Stevenson 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod, sqrt

import numpy as np

from castell.channels import Channel
from castell.errors import QueryError
from castell.inference.intervals import Spread, quantile
from castell.linear.operators import Floats
from castell.study.design import Block, Design, lens_on

# What the careless report for some attributes, by name: the distribution over a block's reports.
Says = Mapping[str, Floats]


def careless_table(design: Design, names: Sequence[str], says: Says) -> Floats:
    """The table that the careless alone would be estimated to have, an axis for each name.

    The names are of attributes that are randomised.
    """
    samples = [[design.hidden[i] for i in places] for places in design.hidden_samples]
    first, *others = [_table_of_blocks(blocks, names, says) for blocks in samples]
    if not others:
        held, table = first
        return np.asarray(table.transpose([held.index(name) for name in names]))
    # A table of a draw may rest on any of its samples: all of them must say the same.
    for held, table in (first, *others):
        if np.abs(table * table.size - 1.0).max() > 1e-9:
            raise QueryError(
                f"answers at random do not look the same in every block with {held[0]!r}",
                "careless answers can be allowed for where everybody reports everything",
            )
    size = {n: s for b in design.hidden for n, s in zip(b.names, b.sizes, strict=True)}
    shape = [size[name] for name in names]
    return np.full(shape, 1.0 / prod(shape))


def _table_of_blocks(
    blocks: Sequence[Block], names: Sequence[str], says: Says
) -> tuple[list[str], Floats]:
    """Those of some attributes that are in blocks reported together, and their table."""
    table, held = np.ones(()), list[str]()
    for block in blocks:
        mine = [name for name in block.names if name in names]
        if not mine:
            continue
        if block.is_coarse or not block.channel.has_matrix:
            raise QueryError(
                f"the reports of {' x '.join(block.names)} are not taken back out by a matrix",
                "careless answers can be allowed for where they are",
            )
        lens = lens_on(block, mine)
        reports = says.get(block.names[0])
        if reports is None:
            reports = at_random(block.channel, lens.inverse.columns)
        sizes = [size for name, size in zip(block.names, block.sizes, strict=True) if name in mine]
        table = np.multiply.outer(table, lens.inverse.apply_last(reports).reshape(sizes))
        held += mine
    return held, np.asarray(table)


def at_random(channel: Channel, reports: int) -> Floats:
    """Each report equally often; who answers at random does not skip."""
    if channel.may_skip:
        return np.append(np.full(reports - 1, 1.0 / (reports - 1)), 0.0)
    return np.full(reports, 1.0 / reports)


@dataclass(frozen=True, eq=False)
class WithoutCareless:
    """The error of a table from which a supposed share of careless answers was taken out."""

    of: Spread
    share: float
    table: Floats

    @property
    def variance(self) -> Floats:
        return np.asarray(self.of.variance / (1.0 - self.share) ** 2)

    @property
    def errors(self) -> Floats:
        return np.asarray(self.of.errors / (1.0 - self.share))

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        low, high = self.of.plain(self._with(values), level)
        return self.without(low), self.without(high)

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        low, high = self.of.interval(self._with(values), level)
        return np.clip(self.without(low), 0.0, 1.0), np.clip(self.without(high), 0.0, 1.0)

    def without(self, values: Floats) -> Floats:
        return np.asarray((values - self.share * self.table) / (1.0 - self.share))

    def _with(self, values: Floats) -> Floats:
        return np.asarray((1.0 - self.share) * values + self.share * self.table)


@dataclass(frozen=True, eq=False)
class Group:
    """The reports of one question under one design: how many of each, and what they may mean."""

    counts: Floats
    matrix: Floats  # answers x reports
    careless: Floats  # the distribution of careless reports

    def expected_shares(self, share: float, answers: Floats) -> Floats:
        return np.asarray((1.0 - share) * (answers @ self.matrix) + share * self.careless)


@dataclass(frozen=True)
class CarelessFit:
    """The most likely share of careless reports, and of the second answer where it is not known."""

    share: float
    second: float
    errors: tuple[float, float]
    profile: Callable[[float], float]

    def interval(self, level: float) -> tuple[float, float]:
        """The shares that a likelihood ratio test does not reject."""
        allowed = self.profile(self.share) - quantile(level) ** 2 / 2
        return _end(self.profile, self.share, 0.0, allowed), _end(
            self.profile, self.share, 1.0, allowed
        )


def fit_careless(groups: Sequence[Group], known: Floats | None) -> CarelessFit:
    """By maximum likelihood; `known` is the distribution of the answers, if it is."""
    if known is not None:
        answers = np.asarray(known, dtype=np.float64)

        def profile(share: float) -> float:
            return _likelihood(groups, share, answers)

        share = _peak(profile)
        return CarelessFit(share, float("nan"), (_error(groups, share, answers), 0.0), profile)

    def second_of(share: float) -> float:
        return _likeliest_second(groups, share)

    def best_of(share: float) -> float:
        return _likelihood(groups, share, _two(second_of(share)))

    share = _peak(best_of)
    second = second_of(share)
    errors = np.linalg.inv(_information(groups, share, second))
    return CarelessFit(share, second, (sqrt(errors[0, 0]), sqrt(errors[1, 1])), best_of)


def is_told(groups: Sequence[Group]) -> bool:
    """Whether two groups tell careless reports from answers, whatever the answers are."""
    return any(
        np.linalg.cond(_information([_even(each) for each in groups], share, second)) < 1e8
        for share, second in ((0.1, 0.2), (0.2, 0.7))
    )


def _even(group: Group) -> Group:
    return Group(np.full(len(group.counts), 1.0), group.matrix, group.careless)


def _information(groups: Sequence[Group], share: float, second: float) -> Floats:
    """Fisher's information on the careless share and the share of the second answer."""
    found = np.zeros((2, 2))
    for each in groups:
        expected = np.maximum(each.expected_shares(share, _two(second)), 1e-12)
        by_share = each.careless - _two(second) @ each.matrix
        by_second = (1.0 - share) * (each.matrix[1] - each.matrix[0])
        slopes = np.array([by_share, by_second])
        found += each.counts.sum() * (slopes / expected) @ slopes.T
    return found


def _error(groups: Sequence[Group], share: float, answers: Floats) -> float:
    told = 0.0
    for each in groups:
        slope = each.careless - answers @ each.matrix
        told += each.counts.sum() * float(
            (slope**2 / np.maximum(each.expected_shares(share, answers), 1e-12)).sum()
        )
    return 1.0 / sqrt(told)


def _two(second: float) -> Floats:
    return np.array([1.0 - second, second])


def _likelihood(groups: Sequence[Group], share: float, answers: Floats) -> float:
    return sum(
        float(each.counts @ np.log(np.maximum(each.expected_shares(share, answers), 1e-300)))
        for each in groups
    )


def _likeliest_second(groups: Sequence[Group], share: float) -> float:
    """The share of the second answer, given that of the careless: Newton's steps, kept inside."""
    counts = np.concatenate([each.counts for each in groups])
    start = np.concatenate([each.expected_shares(share, _two(0.0)) for each in groups])
    slope = np.concatenate([each.expected_shares(share, _two(1.0)) for each in groups]) - start
    if not slope.any():
        return 0.5  # nobody answers
    low, high, second = 0.0, 1.0, 0.5
    for _ in range(100):
        ratio = slope / np.maximum(start + second * slope, 1e-300)
        gradient = float(counts @ ratio)
        low, high = (second, high) if gradient > 0 else (low, second)
        step = second + gradient / max(float(counts @ ratio**2), 1e-300)
        step = step if low < step < high else (low + high) / 2.0
        if abs(step - second) < 1e-12:
            break
        second = step
    return second


def _peak(of: Callable[[float], float]) -> float:
    """Where a function with one peak is largest between 0 and 1: golden sections."""
    ratio = (sqrt(5.0) - 1.0) / 2.0
    low, high = 0.0, 1.0
    one, two = high - ratio, low + ratio
    at_one, at_two = of(one), of(two)
    for _ in range(45):
        if at_one < at_two:
            low, one, at_one = one, two, at_two
            two = low + ratio * (high - low)
            at_two = of(two)
        else:
            high, two, at_two = two, one, at_one
            one = high - ratio * (high - low)
            at_one = of(one)
    # The ends are where golden sections come close to and never look at.
    return max((0.0, (low + high) / 2.0, 1.0), key=of)


def _end(of: Callable[[float], float], inside: float, end: float, allowed: float) -> float:
    if of(end) >= allowed:
        return end
    outside = end
    for _ in range(40):
        middle = (inside + outside) / 2.0
        if of(middle) >= allowed:
            inside = middle
        else:
            outside = middle
    return inside
