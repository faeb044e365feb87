"""Maximum likelihood on the simplex, shrunk towards independence by cross-validation.

The most likely joint table given the reports, by accelerated expectation maximisation through the
channels (iterative Bayesian update), with a prior of pseudo-respondents whose answers are
independent. How many of them is not fixed: it is the number under which reports that were held out
are most likely, so noise is not fitted and real associations are not shrunk away. For one attribute
there is nothing to shrink to and the maximum of k-ary response is found in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts
from castell.counting.folds import FOLDS
from castell.errors import OptionError
from castell.inference.association_error import (
    AssociationError,
    HeldOut,
    association_error,
    groups_of,
    residuals,
)
from castell.inference.inversion import Observed, observe
from castell.inference.likelihood import CLOSE, DirichletPrior, Likelihood, margin
from castell.inference.margins import Margins
from castell.inference.method import Fitted, Reads, Solution
from castell.inference.model_error import ModelError
from castell.inference.model_intervals import ModelIntervals
from castell.inference.queries import Query, names_of
from castell.inference.raking import rake
from castell.inference.reasons import Code, Reason, reason
from castell.inference.shares import Shares, product_shares
from castell.linear.operators import Floats
from castell.linear.table import Table, product

READS = Reads()
# Pseudo-respondents for each real one, from "the margins only" to "the table only".
CONCENTRATIONS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0)
DOUBT = 0.5
# Held-out reports are looked at often; larger tables get fewer looks.
_CELLS_IN_ALL = 100_000
# Simulated tables need not be found more closely than they vary.
COARSE = 0.05
# Single shares of tables larger than this are not worth the table.
MOST_FITTED_CELLS = 1 << 16


def fit(counts: Counts, *, concentration: float | None = None) -> Fitted:
    """`concentration`, pseudo-respondents for each real one; found from held-out reports if
    None."""
    if concentration is not None and not (
        _is_number(concentration) and 0.0 <= concentration < float("inf")
    ):
        raise OptionError(f"concentration is {concentration!r}", "give a number from 0 up, or none")
    # A model is asked for many cells of one table; the last few tables are kept.
    solve = lru_cache(maxsize=4)(partial(_fit_table, counts, concentration))
    margins = Margins(counts)
    return Fitted(counts, partial(_joint, margins, solve), partial(_shares, margins, solve))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.floating)) and not isinstance(value, bool)


def independent(observed: Observed) -> Floats:
    """The product of the most likely margins, in the order asked.

    Where some cells are impossible it is quasi-independence: the product on the others, raked to
    the same margins.
    """
    margins = [Table((name,), margin(observed.project([name]))) for name in observed.names]
    # No cell starts at exactly zero, or it could never be left: nobody is in those that do.
    result = product(margins, observed.names) + 1e-9
    zeros = observed.study.schema.impossible
    if zeros.empty_cells_in(observed.names):
        result = np.where(zeros.impossible_cells(observed.names, observed.shape), 0.0, result)
        result = rake(result, [np.maximum(table.values, 1e-9) for table in margins])
    return np.asarray(result / result.sum())


def maximum(
    observed: Observed,
    concentration: float,
    start: Floats | None = None,
    close: float = CLOSE,
) -> Floats:
    """The table at one concentration, in the order asked."""
    if len(observed.names) == 1:
        return margin(observed)
    plain = observed.in_block_order(independent(observed))
    likelihood = Likelihood.of(observed)
    begin = plain if start is None else observed.in_block_order(start)
    return observed.in_order_asked(
        likelihood.fit(begin, DirichletPrior(concentration * likelihood.n * plain), close)
    )


@dataclass(frozen=True, eq=False)
class Fold:
    """Reports to fit to, and those held out."""

    seen: Observed
    held_out: Observed


def folds(observed: Observed) -> list[Fold]:
    """Reports parted at random, fewer times for large tables; none where there are too few.

    Repeatable: the parts have a fixed seed, since nobody's privacy depends on them.
    """
    generator = np.random.default_rng(0)
    left = observed.table.astype(np.int64)
    found = []
    for k in range(max(1, min(FOLDS, _CELLS_IN_ALL // left.size))):
        fold = generator.binomial(left, 1.0 / (FOLDS - k))
        left = left - fold
        if 0 < fold.sum() < observed.n:
            seen = observed.replace(observed.table - fold)
            found.append(Fold(seen, observed.replace(fold.astype(np.float64))))
    return found


def choose(observed: Observed, parts: Sequence[Fold]) -> float:
    """The prior concentration of the best cross-validated log-likelihood.

    The largest concentration is taken that does as well as the best one up to half the standard
    error of their difference: where the reports cannot tell, relying on the plainer model costs
    least.
    """
    if len(observed.names) == 1:
        return 0.0
    if not parts:
        return CONCENTRATIONS[0]
    numbers, logs = [], []
    for part in parts:
        unseen = Likelihood.of(part.held_out).counts
        numbers.append(unseen[unseen > 0])
        logs.append(_held_out(part.seen, Likelihood.of(part.seen), unseen > 0))
    weights, table = np.concatenate(numbers), np.concatenate(logs, axis=1)
    scores = table @ weights
    behind = table[scores.argmax()] - table
    mean = behind @ weights / weights.sum()
    error = np.sqrt(np.maximum(behind**2 @ weights - mean**2 * weights.sum(), 0.0))
    return CONCENTRATIONS[int(np.flatnonzero(scores.max() - scores <= DOUBT * error)[0])]


def _held_out(seen: Observed, train: Likelihood, reported: NDArray[np.bool_]) -> Floats:
    """The log likelihood of each held-out report, for each concentration fitted to the others."""
    plain = seen.in_block_order(independent(seen))
    pi, rows = plain, []
    for concentration in CONCENTRATIONS:
        begin = np.where(plain > 0.0, np.maximum(pi, 1e-12), 0.0)
        pi = train.fit(begin, DirichletPrior(concentration * train.n * plain), COARSE)
        rows.append(train.logs(pi, reported))
    return np.array(rows)


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A table that was fitted, and the folds its concentration was chosen by."""

    observed: Observed
    concentration: float
    table: Floats
    parts: tuple[Fold, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return self.observed.names

    @cached_property
    def association(self) -> AssociationError:
        """The mean squared error of its pair associations, by the reports held out."""
        tables = [maximum(p.seen, self.concentration, self.table, COARSE) for p in self.parts]
        # In the order of the schema: what is found must not depend on the order asked.
        names = [name for name in self.observed.study.names if name in self.names]
        generator = np.random.default_rng(0)
        whole = Table(self.names, self.table)
        groups = {name: groups_of(whole.project([name]).values, generator) for name in names}
        found = {
            frozenset(pair): residuals(
                [
                    HeldOut(
                        [part.held_out.project(pair) for part in self.parts],
                        self.observed.project(pair).expected_frequencies(
                            whole.project(pair).values
                        ),
                    )
                ],
                [Table(self.names, table).project(pair).values for table in tables],
                groups[pair[0]],
                groups[pair[1]],
            )
            for pair in combinations(names, 2)
        }
        return association_error({p: [each] for p, each in found.items() if each is not None})


def _fit_table(
    counts: Counts,
    concentration: float | None,
    names: tuple[str, ...],
    max_cells: int | None = None,
) -> FittedTable:
    observed = observe(counts, names, max_cells)
    parts = folds(observed)
    used = choose(observed, parts) if concentration is None else concentration
    return FittedTable(observed, used, maximum(observed, used), tuple(parts))


def _intervals(margins: Margins, fitted: FittedTable) -> ModelIntervals:
    return ModelIntervals(ModelError(margins, fitted.association))


def _reasons(fitted: FittedTable, intervals: ModelIntervals) -> tuple[Reason, ...]:
    if not fitted.concentration:
        return intervals.reasons(fitted.names)
    shrunk = reason(Code.SHRUNK_TO_INDEPENDENCE, pseudo_respondents=fitted.concentration)
    return shrunk, *intervals.reasons(fitted.names)


def _joint(
    margins: Margins,
    solve: Callable[..., FittedTable],
    names: tuple[str, ...],
    max_cells: int | None,
) -> Solution:
    fitted = solve(names, max_cells)
    intervals = _intervals(margins, fitted)
    spread = partial(intervals.table, names, fitted.table)
    return Solution(fitted.table, spread, _reasons(fitted, intervals))


def _shares(
    margins: Margins, solve: Callable[..., FittedTable], queries: Sequence[Query]
) -> Shares:
    """Shares as the table of all their attributes has them, so that they agree with each other."""
    counts = margins.counts
    names = names_of(queries)
    sizes = [counts.study.schema[name].size for name in names]
    if prod(sizes) > MOST_FITTED_CELLS:
        # Too wide for a table, and so for the likelihood of one: the unbiased share, and said so.
        found = product_shares(counts, queries, [names], "population")
        return found.because(reason(Code.UNBIASED_INSTEAD))
    fitted = solve(names, None)
    intervals = _intervals(margins, fitted)
    share = Table(names, fitted.table).share
    return intervals.shares(queries, share).because(*_reasons(fitted, intervals))
