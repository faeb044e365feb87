"""Standard errors by simulation, for estimates that have no formula.

A parametric bootstrap: the reports are drawn again, many times, from the distribution that the
fitted answers lead to through the study's own channels, and estimated again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from castell.inversion import Observed
from castell.operators import Floats
from castell.postprocess import simplex
from castell.spread import Spread, SpreadOf

# The spread of a standard error over R draws is about 1 / sqrt(2 R) of it: 5 % at 200.
REPLICATES = 200
FEWEST = 30
_CELLS_IN_ALL = 40_000_000


def replicates_for(cells: int) -> int:
    """Fewer for large tables, where many cells share the work of telling the noise."""
    return max(FEWEST, min(REPLICATES, _CELLS_IN_ALL // cells))


def bootstrap(observed: Observed, statistic: Callable[[Observed], Floats]) -> SpreadOf:
    """The spread of a statistic of the reports, and of any marginal of it."""
    return partial(_spread, observed, statistic)


def _spread(
    observed: Observed, statistic: Callable[[Observed], Floats], names: tuple[str, ...]
) -> Spread:
    # Repeatable: nobody's privacy hangs on these draws, and a result should not change when
    # it is looked at twice.
    generator = np.random.default_rng(0)
    reports = observed.expected(simplex(observed.invert())).ravel()
    reports = np.maximum(reports, 0.0)
    reports /= reports.sum()
    gone = tuple(i for i, name in enumerate(observed.names) if name not in names)
    kept = [name for name in observed.names if name in names]
    rounds = replicates_for(reports.size)
    mean: Floats | float = 0.0
    spread: Floats | float = 0.0
    for k in range(1, rounds + 1):
        drawn = generator.multinomial(observed.n, reports).astype(np.float64)
        table = statistic(observed.replace(drawn.reshape(observed.table.shape)))
        table = table.sum(axis=gone) if gone else table
        step = table - mean
        mean = mean + step / k
        spread = spread + step * (table - mean)
    variance = np.asarray(spread / (rounds - 1))
    return Spread(variance.transpose([kept.index(name) for name in names]))
