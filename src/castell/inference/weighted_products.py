"""Products over groups of attributes, weighted: the tables of `products` with errors by design.

The point estimate inverts the weighted table of reports. Its error is read from the reports one by
one: what each adds to a cell, to first order where several groups are multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, samples_of
from castell.counting.kernels import pack
from castell.inference.drawn_scores import DrawnScores
from castell.inference.intervals import Normal
from castell.inference.inversion import Groups, Observed, moment_slope, parts_of, restrict
from castell.inference.method import Fitted, Solution
from castell.inference.queries import Query, names_of
from castell.inference.reasons import Reason, Reasons, no_reasons
from castell.inference.report_scores import ReportScores
from castell.inference.sampling_design import DesignSpread, SampleDesign
from castell.inference.shares import Pieces, Shares
from castell.linear.operators import Floats
from castell.linear.table import Table, product
from castell.study.schema import check_cells

Scores = ReportScores | DrawnScores

# So many numbers at a time: a score for each report and cell.
_MOST = 1 << 22


def weighted_model(
    counts: Counts, groups: Groups, design: SampleDesign, reasons: Reasons = no_reasons
) -> Fitted:
    """A model that answers every question with the product over the groups, weighted."""
    several = len(samples_of(counts)) > 1
    scores = DrawnScores(counts, design.weights) if several else ReportScores(counts)

    def all_reasons(names: tuple[str, ...]) -> tuple[Reason, ...]:
        return (*reasons(names), design.design_reason())

    def joint(names: tuple[str, ...], max_cells: int | None) -> Solution:
        counts.study.schema.check_cells(names, max_cells)
        own = restrict(groups, names)
        tables = [_table(scores, design, tuple(group)) for group in own]
        return Solution(
            product(tables, names), partial(_spread, scores, groups, design), all_reasons(names)
        )

    def shares(queries: Sequence[Query]) -> Shares:
        return replace(
            _shares(scores, groups, design, queries), reasons=all_reasons(names_of(queries))
        )

    return Fitted(counts, joint, shares, sampling=design)


def _observe(scores: ReportScores, design: SampleDesign, names: tuple[str, ...]) -> Observed:
    """The weighted table of reports, scaled to as many reports as there are."""
    study, n = scores.counts.study, scores.counts.n
    parts = parts_of(study, names)
    axes = [axis for part in parts for axis in part.axes]
    shape = [axis.size for axis in axes]
    check_cells(f"reports of {' x '.join(names)}", shape, None)
    codes = pack(scores.columns, axes, slice(None))
    size = int(np.prod(shape))
    table = np.bincount(codes, design.weights * (n / design.weights.sum()), size)
    weighted: Floats = np.asarray(table, dtype=np.float64).reshape(shape)
    return Observed(study, study.schema.select(names), parts, weighted, n)


def _table(scores: Scores, design: SampleDesign, group: tuple[str, ...]) -> Table:
    if isinstance(scores, ReportScores):
        return Table(group, _observe(scores, design, group).invert())
    shape = [scores.counts.study.schema[name].size for name in group]
    cells = _chunks(scores.counts.n, int(np.prod(shape)))
    means = [design.means(scores.of_cells(group, some)) for some in cells]
    return Table(group, np.concatenate(means).reshape(shape))


def _chunks(n: int, cells: int) -> Iterator[NDArray[np.intp]]:
    step = max(1, _MOST // max(n, 1))
    for start in range(0, cells, step):
        yield np.arange(start, min(start + step, cells))


def _spread(
    scores: Scores, groups: Groups, design: SampleDesign, names: tuple[str, ...]
) -> DesignSpread:
    own = [tuple(group) for group in restrict(groups, names)]
    tables = [_table(scores, design, group) for group in own]
    shape = tuple(scores.counts.study.schema[name].size for name in names)
    variance = np.empty(int(np.prod(shape)))
    slope, bend = np.zeros_like(variance), np.zeros_like(variance)
    for cells in _chunks(scores.counts.n, len(variance)):
        digits = dict(zip(names, np.unravel_index(cells, shape), strict=True))
        total: Floats = np.zeros(1)
        for c, group in enumerate(own):
            sizes = [scores.counts.study.schema[name].size for name in group]
            place = np.ravel_multi_index([digits[name] for name in group], sizes)
            others = product([*tables[:c], *tables[c + 1 :]], names)
            weight = np.broadcast_to(others, shape).ravel()[cells]
            total = total + scores.of_cells(group, place) * weight
        variance[cells] = design.variance(total)
        if len(own) == 1 and not isinstance(scores, ReportScores):
            near = _by_moments(total, variance[cells], design)
            slope[cells], bend[cells] = near.slope, near.bend
    found = variance.reshape(shape)
    if len(own) > 1:
        return DesignSpread(Normal(found), design.freedom)
    if not isinstance(scores, ReportScores):
        return DesignSpread(
            Normal(found, slope.reshape(shape), bend.reshape(shape)), design.freedom
        )
    return DesignSpread(_wilson(_observe(scores, design, names), found), design.freedom)


def _wilson(observed: Observed, variance: Floats) -> Normal:
    """The slope of the variance in the share, times the design effect (Korn and Graubard 1998)."""
    share = observed.invert()
    plain = np.maximum(observed.second_moment() - share**2, 0.0) / observed.n
    effect = _effect(variance, plain)
    slope = (observed.moment_slope() - 2.0 * share) / observed.n
    return Normal(variance, effect * slope, -effect / observed.n)


def _effect(variance: Floats, plain: Floats) -> Floats:
    """How much larger a variance is than without the design; 1 where neither is anything."""
    return np.where(plain > 0.0, variance / np.where(plain > 0.0, plain, 1.0), 1.0)


def _by_moments(each: Floats, variance: Floats, design: SampleDesign) -> Normal:
    """The same from what each report adds: the slope of the variance in the share."""
    n = len(each)
    one, two, three = (design.means(each**power) for power in (1, 2, 3))
    effect = _effect(variance, np.maximum(two - one**2, 0.0) / n)
    slope = effect * (moment_slope([one, two, three], n) - 2.0 * one) / n
    return Normal(variance, slope, -effect / n)


def _shares(
    scores: Scores, groups: Groups, design: SampleDesign, queries: Sequence[Query]
) -> Shares:
    pieces = Pieces.cut(queries, groups)
    each = scores.of_queries(pieces.queries)
    values, covariance = design.means(each), design.covariance(each)
    found = pieces.shares(values, covariance, _by_moments(each, np.diag(covariance), design))
    spread = DesignSpread(cast(Normal, found.spread), design.freedom)
    return replace(found, spread=spread, freedom=design.freedom)
