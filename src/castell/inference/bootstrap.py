"""Standard errors by simulation, for estimates that have no formula.

A parametric bootstrap: the reports are resampled, many times, from the distribution that the
fitted answers lead to through the study's own channels, and estimated again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from castell.inference.intervals import Normal, SpreadOf
from castell.inference.inversion import Observed
from castell.inference.postprocess import simplex
from castell.linear.operators import Floats
from castell.linear.table import Table

# The spread of a standard error over R resamples is about 1 / sqrt(2 R) of it: 5 % at 200.
REPLICATES = 200
FEWEST = 30
_CELLS_IN_ALL = 40_000_000


def replicates_for(cells: int) -> int:
    """Fewer for large tables, where many cells share the work of telling the noise."""
    return max(FEWEST, min(REPLICATES, _CELLS_IN_ALL // cells))


def resamples(observed: Observed) -> Iterator[Observed]:
    """Reports resampled from the distribution of answers nearest to the unbiased one."""
    # Repeatable: nobody's privacy depends on these numbers, and a result should not change when
    # it is looked at twice.
    generator = np.random.default_rng(0)
    source = simplex(observed.invert())
    reports = np.maximum(observed.expected_frequencies(source).ravel(), 0.0)
    reports /= reports.sum()
    for _ in range(replicates_for(reports.size)):
        table = generator.multinomial(observed.n, reports).astype(np.float64)
        yield observed.replace(table.reshape(observed.table.shape))


def spread_of(tables: Iterable[Floats], about: Floats | None = None) -> Normal:
    """The variance of tables, one pass, or their mean square about a table if one is given."""
    mean: Floats = np.zeros(())
    square: Floats = np.zeros(())
    rounds = 0
    for table in tables:
        rounds += 1
        step = table - mean
        mean = mean + step / rounds
        square = square + step * (table - mean)
    variance = square / (rounds - 1)
    return Normal(variance if about is None else variance + (mean - about) ** 2)


def bootstrap(observed: Observed, statistic: Callable[[Observed], Floats]) -> SpreadOf:
    """The spread of a statistic of the reports, and of any marginal of it."""
    return partial(_spread, observed, statistic)


def _spread(
    observed: Observed, statistic: Callable[[Observed], Floats], names: tuple[str, ...]
) -> Normal:
    return spread_of(
        Table(observed.names, statistic(o)).project(names).values for o in resamples(observed)
    )
