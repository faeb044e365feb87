"""Tables from Hadamard coefficients, each reported by those who drew it: the design "inpht".

Unbiased, for attributes of two values and tables as wide as the sets that were drawn. A table of
the attributes b is 2^-|b| times the sum over all sets a within b of the coefficient of a times
(-1)^(sum of x over a); that of no attribute is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import prod, sqrt

import numpy as np

from castell.counting import Counts, samples_of
from castell.errors import QueryError, ReportError
from castell.inference.intervals import Normal
from castell.inference.method import Fitted, Solution
from castell.inference.queries import Query, names_of
from castell.inference.shares import Shares
from castell.inference.support import Support
from castell.linear.operators import Floats
from castell.study.schema import check_cells

# For each set of attributes the coefficient, and its variance.
Coefficients = dict[frozenset[str], tuple[float, float]]


def coefficient_model(counts: Counts) -> Fitted:
    """A model that answers every question from coefficients."""
    found = _coefficients(counts)
    return Fitted(
        counts,
        partial(_joint, counts, found),
        partial(_shares, counts, found),
        behind=partial(_behind, counts),
    )


def _behind(counts: Counts, names: Sequence[str]) -> Support:
    """Those who drew a coefficient of the attributes, or of some of them."""
    pairs = {pair: _within(counts, pair) for pair in combinations(names, 2)}
    return Support(tuple(names), counts.n, _within(counts, names), True, pairs)


def _within(counts: Counts, names: Sequence[str]) -> int:
    return sum(s.n for s in samples_of(counts) if set(s.study.names) <= set(names))


def _coefficients(counts: Counts) -> Coefficients:
    """From the samples that drew each set; several stages with the same set are pooled."""
    sums: dict[frozenset[str], list[tuple[float, float]]] = {}
    for sample in samples_of(counts):
        (block,) = sample.study.design.blocks
        gain = block.channel.parity_gain
        if gain is not None and sample.n:
            even, odd = sample.table(block.axes(0, block.names)).ravel().astype(np.float64)
            n = even + odd
            value = gain * (even - odd) / n
            # As if sqrt(n) more reports had come, evenly: a few show too little variance.
            smooth = value * n / (n + sqrt(n))
            each = (value, (gain**2 - smooth**2) / n)
            sums.setdefault(frozenset(block.names), []).append(each)
    return {names: _pool(parts) for names, parts in sums.items()}


def _pool(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    precision = [1.0 / variance for _, variance in parts]
    value = sum(p * v for p, (v, _) in zip(precision, parts, strict=True)) / sum(precision)
    return value, 1.0 / sum(precision)


def _needed_sets(counts: Counts, found: Coefficients, names: Sequence[str]) -> list[frozenset[str]]:
    sets = [frozenset(s) for k in range(1, len(names) + 1) for s in combinations(names, k)]
    drawn = {frozenset(sample.study.names) for sample in samples_of(counts)}
    missing = [s for s in sets if s not in drawn]
    if missing:
        widest = max(map(len, drawn))
        raise QueryError(
            f"nobody was asked for the coefficient of {', '.join(sorted(missing[-1]))}",
            f"ask for {widest} attributes or fewer, or collect with sample = {len(names)}",
        )
    unseen = [s for s in sets if s not in found]
    if unseen:
        raise ReportError(
            f"nobody reported the coefficient of {', '.join(sorted(unseen[0]))} yet",
            "collect some more",
        )
    return sets


def _joint(
    counts: Counts, found: Coefficients, names: tuple[str, ...], max_cells: int | None
) -> Solution:
    shape = (2,) * len(names)
    check_cells(" x ".join(names), shape, max_cells)
    sets = _needed_sets(counts, found, names)
    table = np.ones(shape)
    for some in sets:
        signs = [np.array([1.0, -1.0 if name in some else 1.0]) for name in names]
        table += found[some][0] * prod(np.ix_(*signs), start=np.ones(()))

    def spread(kept: tuple[str, ...]) -> Normal:
        # Coefficients come from different people, and every cell takes all of them, or minus them.
        variance = sum(found[some][1] for some in _needed_sets(counts, found, kept))
        return Normal(np.full((2,) * len(kept), variance / 4.0 ** len(kept)))

    return Solution(table / table.size, spread)


def _shares(counts: Counts, found: Coefficients, queries: Sequence[Query]) -> Shares:
    names = names_of(queries)
    sets = _needed_sets(counts, found, names)
    rows = np.array([_loading(names, sets, query) for query in queries])
    coefficients = np.array([found[some] for some in sets])
    constant = np.array([_part(names, frozenset(), query) for query in queries])
    covariance: Floats = (rows * coefficients[:, 1]) @ rows.T
    values = constant + rows @ coefficients[:, 0]
    n = sum(sample.n for sample in samples_of(counts))
    return Shares(values, Normal(np.diag(covariance).copy()), (covariance,), one_over_n=1.0 / n)


def _loading(names: Sequence[str], sets: Sequence[frozenset[str]], query: Query) -> list[float]:
    return [_part(names, some, query) for some in sets]


def _part(names: Sequence[str], some: frozenset[str], query: Query) -> float:
    """What a coefficient adds to a share: the mean of its sign over the cells asked for."""
    part = 1.0
    for name in names:
        asked = query.get(name, np.arange(2))
        part *= sum(-1.0 if name in some and value == 1 else 1.0 for value in asked) / 2.0
    return part
