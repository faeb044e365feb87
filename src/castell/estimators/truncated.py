"""Truncated: castell with every cell cut at the estimates of the tables one attribute smaller.

Paper: Algorithm 4, to the letter. Negative cells become 0, then each cell is cut at the (w-1)-way
estimates of its own values. Those may be negative themselves, so a cell may be too, and the table
need not sum to one: `post="clip"` or `post="simplex"` mend that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from castell.counting import Counts
from castell.inference.bootstrap import bootstrap
from castell.inference.inversion import Observed, observe
from castell.inference.method import Fitted, Reads, Solution
from castell.inference.queries import Query, measure
from castell.inference.reasons import Code, reason
from castell.inference.shares import Shares
from castell.linear.operators import Floats
from castell.linear.table import Table

READS = Reads()
_REPLICATES = 4000


def fit(counts: Counts) -> Fitted:
    return Fitted(counts, partial(_joint, counts), partial(_shares, counts))


def truncate(observed: Observed) -> Floats:
    """Algorithm 4 on a table of reports."""
    names = observed.names
    table = np.maximum(observed.invert(), 0.0)
    for name in names:
        rest = tuple(other for other in names if other != name)
        # With one attribute the table one smaller is the certain event.
        cut = Table(rest, observed.project(rest).invert()).along(names) if rest else 1.0
        table = np.minimum(table, cut)
    return table


def _joint(counts: Counts, names: tuple[str, ...], max_cells: int | None) -> Solution:
    observed = observe(counts, names, max_cells)
    return Solution(truncate(observed), bootstrap(observed, truncate), (reason(Code.TRUNCATED),))


def _shares(counts: Counts, queries: Sequence[Query]) -> Shares:
    asked: list[Query] = []
    own = []
    for query in queries:
        names = tuple(query)
        smaller = [tuple(other for other in names if other != name) for name in names]
        groups = [names, *(group for group in smaller if group)]
        own.append(range(len(asked), len(asked) + len(groups)))
        asked += [{name: query[name] for name in group} for group in groups]
    cells = measure(counts, asked, "population")
    # The estimates that are compared are means over reports: normal, with known covariance.
    generator = np.random.default_rng(0)
    resampled = generator.multivariate_normal(
        cells.values, cells.covariance, _REPLICATES, method="eigh"
    )
    values = np.array([float(_cut_at_margins(cells.values[list(each)])) for each in own])
    found = np.stack([_cut_at_margins(resampled[:, list(each)]) for each in own], axis=1)
    return Shares.from_replicates(values, found, (reason(Code.TRUNCATED),))


def _cut_at_margins(values: Floats) -> Floats:
    # With one attribute there is nothing smaller: the certain event cuts.
    cut = values[..., 1:].min(axis=-1, initial=np.inf if values.shape[-1] > 1 else 1.0)
    result: Floats = np.minimum(np.maximum(values[..., 0], 0.0), cut)
    return result
