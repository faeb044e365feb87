"""Product queries: the share of respondents with given values, from the reports; no table is built.

What a report adds to such a share is a product over blocks, so the share is a mean over reports and
its covariance with others a mean of products, in O(n w) for w attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, Factor
from castell.counting.kernels import Integers
from castell.inference.inversion import Part, moment_slope, parts_of, require_reports
from castell.linear.operators import Floats
from castell.study.schema import check_cells
from castell.study.study import Study

# The codes of the values that count, by attribute.
Query = Mapping[str, NDArray[np.intp]]


def factors(study: Study, query: Query) -> list[Factor]:
    """What one report adds to the share of respondents with the given values, as a product.

    `query` says for each attribute which of its values count. No table is built: each block adds
    the sum of the rows of its inverse that belong to the values.
    """
    result = []
    for part in parts_of(study, list(query)):
        check_cells(" x ".join(part.names), [axis.size for axis in part.axes], None)
        result.append(Factor(part.axes, part.lens.inverse.combine(_rows(part, query))))
    return result


def _rows(part: Part, query: Query) -> NDArray[np.intp]:
    """The combinations of a part's values that a query asks for."""
    chosen = np.broadcast_arrays(*np.ix_(*(query[name] for name in part.names)))
    return np.ravel_multi_index(tuple(chosen), part.sizes).ravel()


def names_of(queries: Sequence[Query]) -> tuple[str, ...]:
    """The attributes of some queries, in the order they come."""
    return tuple(dict.fromkeys(name for query in queries for name in query))


def intersection(one: Query, two: Query) -> Query | None:
    """Who is counted by both of two product queries; None if nobody can be."""
    both = {**one, **two}
    for name in set(one) & set(two):
        both[name] = np.intersect1d(one[name], two[name])
        if not both[name].size:
            return None
    return both


@dataclass(frozen=True, eq=False)
class Cells:
    """Unbiased estimates of some product queries, and their covariance."""

    n: int
    values: Floats
    covariance: Floats


def measure(counts: Counts, queries: Sequence[Query], target: str) -> Cells:
    """Some product queries, from the reports: O(n w) for each, no table."""
    seen = counts.moments([factors(counts.study, query) for query in queries])
    n = require_reports(seen.n)
    # A respondent's expected contributions to two queries are both 1 for those in both.
    everybody = target == "population"
    lost = np.outer(seen.mean, seen.mean) if everybody else _in_both(counts, queries)
    return Cells(n, seen.mean, (seen.product - lost) / n)


def smooth_covariance(cells: Cells, even: Cells) -> Cells:
    """The same estimates with the covariance of a smooth distribution of reports.

    `even` is measured on reports that are spread evenly; see `Observed.smoothed`.
    """
    share = 1.0 / (1.0 + sqrt(cells.n))  # sqrt(n) of n + sqrt(n)
    products = [c.covariance * c.n + np.outer(c.values, c.values) for c in (cells, even)]
    product = (1.0 - share) * products[0] + share * products[1]
    mean = (1.0 - share) * cells.values + share * even.values
    return Cells(cells.n, cells.values, (product - np.outer(mean, mean)) / cells.n)


def _in_both(counts: Counts, queries: Sequence[Query]) -> Floats:
    pairs = {
        (i, k): both
        for i, one in enumerate(queries)
        for k, two in enumerate(queries)
        if (both := intersection(one, two)) is not None
    }
    seen = counts.moments([factors(counts.study, both) for both in pairs.values()])
    lost = np.zeros((len(queries), len(queries)))
    for place, mean in zip(pairs, seen.mean, strict=True):
        lost[place] = mean
    return lost


def moment_slopes(counts: Counts, queries: Sequence[Query], n: int) -> Floats:
    """How the variance of each unbiased share goes along with the share, times n."""
    found = []
    for query in queries:
        powers = np.ones(3)
        for factor in factors(counts.study, query):
            powers *= margin_powers(factor, counts.table(factor.axes))
        found.append(float(moment_slope(list(powers), n)))
    return np.array(found)


def margin_powers(factor: Factor, counts: Integers) -> Floats:
    """The means of g, g^2 and g^3 for one block, with one report added to each code.

    Over several blocks they are multiplied, as if the blocks' reports were independent: it is
    the stable part of the slope that counts, and single blocks have many reports for each code.
    """
    share = (counts.ravel() + 1.0) / (counts.sum() + counts.size)
    return np.array([(factor.values**power * share).sum() for power in (1, 2, 3)])
