"""Maximum likelihood on the simplex, drawn towards independence as far as held-out reports ask for.

The most likely joint table given the reports, by accelerated expectation maximisation through the
channels (iterative Bayesian update), with a prior of pseudo-respondents whose answers are
independent. How many of them is not fixed: it is the number under which reports that were held out
are most likely, so noise is not fitted and real associations are not shrunk away. For one attribute
there is nothing to shrink to and the maximum of k-ary response is found in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.bootstrap import draws, replicates_for, spread_of, summed
from castell.capabilities import Reads
from castell.counting import Counts
from castell.errors import OptionError
from castell.grouped import cell, expand
from castell.inversion import Observed, Query, observe
from castell.likelihood import CLOSE, Likelihood, Pseudo, margin
from castell.model import Cell, Model, Solution
from castell.operators import Floats
from castell.spread import Spread
from castell.study import Study

READS = Reads()
# Pseudo-respondents for each real one, from "believe the margins only" to "believe the table".
STRENGTHS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0)
WIDE = "too wide for a table to be likely or not: this is the unbiased share of method castell"
CAUTION = "the intervals hold only part of the error of that; those of castell hold all of its own"
FOLDS = 5
DOUBT = 0.5
# Held-out reports are looked at often; larger tables get fewer looks.
_CELLS_IN_ALL = 100_000
# Simulated tables need not be found more closely than they scatter.
COARSE = 0.05
# Single shares of tables larger than this are not worth the table.
MOST_CELLS = 1 << 16
# As many numbers of simulated tables are kept for the next question.
KEPT = 8_000_000


def fit(study: Study, counts: Counts, *, strength: float | None = None) -> Model:  # noqa: ARG001
    """`strength`, pseudo-respondents for each real one; found from held-out reports if None."""
    if strength is not None and not (_is_number(strength) and 0.0 <= strength < float("inf")):
        raise OptionError(f"strength is {strength!r}", "give a number from 0 up, or none")
    # A model is asked for many cells of one table; the last few tables are kept.
    solve = lru_cache(maxsize=4)(partial(_fitted, counts, strength))
    return Model(counts, partial(_joint, solve), partial(_cell, counts, solve))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.floating)) and not isinstance(value, bool)


def independent(observed: Observed) -> Floats:
    """The product of the most likely margins, in the order asked."""
    result: Floats = np.ones([1] * len(observed.names))
    for name in observed.names:
        result = result * expand(margin(observed.project([name])), [name], observed.names)
    # No cell starts at exactly zero, or it could never be left.
    result = result + 1e-9
    return np.asarray(result / result.sum())


def maximum(
    observed: Observed,
    strength: float,
    start: Floats | None = None,
    close: float = CLOSE,
) -> Floats:
    """The table at one strength, in the order asked."""
    if len(observed.names) == 1:
        return margin(observed)
    plain = observed.in_block_order(independent(observed))
    likelihood = Likelihood.of(observed)
    begin = plain if start is None else observed.in_block_order(start)
    return observed.in_order_asked(
        likelihood.fit(begin, Pseudo(strength * likelihood.n * plain), close)
    )


def choose(observed: Observed) -> float:
    """The strength under which held-out reports are most likely.

    Reports are dealt into folds; each is predicted from the others. The largest strength is taken
    that does as well as the best one up to half the standard error of their difference: where the
    reports cannot tell, believing the plainer model costs least. Repeatable: the deal has a fixed
    seed, since nobody's privacy hangs on it.
    """
    if len(observed.names) == 1:
        return 0.0
    generator = np.random.default_rng(0)
    likelihood = Likelihood.of(observed)
    left = likelihood.counts.astype(np.int64)
    held: list[Floats] = []
    logs: list[Floats] = []
    for k in range(max(1, min(FOLDS, _CELLS_IN_ALL // left.size))):
        fold = generator.binomial(left, 1.0 / (FOLDS - k))
        left = left - fold
        if 0 < fold.sum() < likelihood.n:
            train = likelihood.counts - fold
            seen = observed.replace(train.reshape(observed.table.shape))
            held.append(fold[fold > 0].astype(np.float64))
            logs.append(_held_out(seen, likelihood.replace(train), fold > 0))
    if not held:
        return STRENGTHS[0]
    weights, table = np.concatenate(held), np.concatenate(logs, axis=1)
    scores = table @ weights
    behind = table[scores.argmax()] - table
    mean = behind @ weights / weights.sum()
    error = np.sqrt(np.maximum(behind**2 @ weights - mean**2 * weights.sum(), 0.0))
    return STRENGTHS[int(np.flatnonzero(scores.max() - scores <= DOUBT * error)[0])]


def _held_out(seen: Observed, train: Likelihood, held: NDArray[np.bool_]) -> Floats:
    """The log likelihood of each held-out report, for each strength fitted to the others."""
    plain = seen.in_block_order(independent(seen))
    pi, rows = plain, []
    for strength in STRENGTHS:
        pi = train.fit(np.maximum(pi, 1e-12), Pseudo(strength * train.n * plain), COARSE)
        rows.append(train.logs(pi, held))
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A table that was fitted, and what it would have been for reports drawn from it.

    Errors are about the fitted table itself. What shrinking took away from the truth before that
    does not show in them.
    """

    observed: Observed
    strength: float
    table: Floats

    def again(self) -> Iterable[Floats]:
        """The tables of reports drawn again; kept where they are small."""
        rounds = replicates_for(self.table.size)
        return self._kept if rounds * self.table.size <= KEPT else self._drawn()

    @cached_property
    def _kept(self) -> list[Floats]:
        return list(self._drawn())

    def _drawn(self) -> Iterator[Floats]:
        for reports in draws(self.observed, self.table):
            yield maximum(reports, self.strength, self.table, COARSE)

    def spread(self, names: tuple[str, ...]) -> Spread:
        every = self.observed.names
        tables = (summed(table, every, names) for table in self.again())
        return spread_of(tables, summed(self.table, every, names))

    def cell(self, asked: tuple[NDArray[Any], ...]) -> Cell:
        value = self.table[asked].sum()
        tables = (np.asarray(table[asked].sum()) for table in self.again())
        return Cell(float(value), spread_of(tables, np.asarray(value)))


def _fitted(
    counts: Counts, strength: float | None, names: tuple[str, ...], max_cells: int | None = None
) -> Fitted:
    observed = observe(counts, names, max_cells)
    used = choose(observed) if strength is None else strength
    return Fitted(observed, used, maximum(observed, used))


def _joint(solve: Callable[..., Fitted], names: tuple[str, ...], max_cells: int | None) -> Solution:
    fitted = solve(names, max_cells)
    if not fitted.strength:
        return Solution(fitted.table, fitted.spread)
    drawn = f"drawn towards independence: {fitted.strength:g} pseudo-respondents for each real one"
    return Solution(fitted.table, fitted.spread, (drawn, CAUTION))


def _cell(counts: Counts, solve: Callable[..., Fitted], query: Query) -> Cell:
    names = tuple(query)
    if prod(counts.study.schema[name].size for name in names) > MOST_CELLS:
        # Too wide for a table, and so for the likelihood of one: the unbiased share, and said so.
        return replace(cell(counts, query, [names], "population"), notes=(WIDE,))
    return solve(names, None).cell(np.ix_(*(query[name] for name in names)))
