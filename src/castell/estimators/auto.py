"""The default: maximum likelihood drawn towards the latent-class model, as held-out reports ask.

`latent` models all attributes and starts from independence; held-out reports say how far it goes.
Where everybody reports everything, the table asked for is then fitted by maximum likelihood with
a prior that cells lie near what `latent` says, or near independence. How near, from exactly there
(much noise, wide tables) to hardly (little noise), is averaged over, as likely as it makes held-out
reports. From there the reports say what these very respondents answered, by Bayes' rule. Where each
respondent reports one block, the model is averaged with the blocks' unbiased table, as far as the
two differ by more than noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import prod

import numpy as np

from castell.counting import Counts
from castell.errors import ReportError
from castell.estimators._drawn import drawn
from castell.estimators._held import Blend, Held, by_model
from castell.inference.capabilities import Reads
from castell.inference.fitted import Fitted, Solution
from castell.inference.inversion import Query, names_of, observe
from castell.inference.kronecker import check_cells
from castell.inference.model_averaging import answered, weigh
from castell.inference.reasons import Code, reason
from castell.inference.shares import Shares
from castell.study.study import Study

READS = Reads(drawn=True, across=True)
# Where held-out reports want nothing but the model, the cells of larger tables are just its own.
FEW_CELLS = 1 << 14
# Larger tables are the model's: reports say next to nothing about single cells of them.
MOST_CELLS = 1 << 20


def fit(study: Study, counts: Counts) -> Fitted:
    if counts.n == 0:
        raise ReportError("there are no reports", "collect some before estimating")
    held = Held(counts)
    solve = lru_cache(maxsize=4)(partial(_solve, held))
    return Fitted(counts, partial(_joint, study, held, solve), partial(_shares, study, held, solve))


def _joint(
    study: Study,
    held: Held,
    solve: Callable[..., Blend],
    names: tuple[str, ...],
    max_cells: int | None,
) -> Solution:
    check_cells(" x ".join(names), [study.schema[name].size for name in names], max_cells)
    held.latent.intervals.require_reports(names)
    blend = solve(names)
    spread = partial(held.latent.intervals.table, names, blend.table)
    return Solution(blend.table, spread, blend.reasons)


def _shares(
    study: Study, held: Held, solve: Callable[..., Blend], queries: Sequence[Query]
) -> Shares:
    """Shares as the table of all their attributes has them, so that they agree with each other."""
    names = names_of(queries)
    intervals = held.latent.intervals
    intervals.require_reports(names)
    if prod(study.schema[name].size for name in names) > MOST_CELLS:
        found = intervals.shares(queries, held.latent.share)
        return found.because(*held.latent.reasons(names))
    blend = solve(names)

    def share(query: Query) -> float:
        inside = [query.get(name, np.arange(study.schema[name].size)) for name in names]
        return float(blend.table[np.ix_(*inside)].sum())

    return intervals.shares(queries, share).because(*blend.reasons)


def _solve(held: Held, names: tuple[str, ...]) -> Blend:
    study = held.counts.study
    cells = prod(study.schema[name].size for name in names)
    if cells > MOST_CELLS:
        return by_model(held, names, reason(Code.TOO_LARGE, cells=cells))
    if study.design.draw:
        return drawn(held, names)
    return _together(held, names)


def _together(held: Held, names: tuple[str, ...]) -> Blend:
    observed = observe(held.counts, names)
    deals = held.deals(observed)
    if not deals:
        return by_model(held, names, reason(Code.NOT_HELD_OUT))
    beliefs = weigh(deals)
    models = held.models(held.latent.mixture, names)
    if beliefs.all_model and models[0].size > FEW_CELLS:
        return Blend(answered(observed, models[0]), held.latent.reasons(names))
    table = beliefs.table(observed, models)
    prior = reason(
        Code.PRIOR_AVERAGED,
        concentration=float(f"{beliefs.typical:.1g}"),
        latent=beliefs.likely(0) if len(models) > 1 else float(held.latent.recipe.steps > 0),
    )
    return Blend(table, (prior, *held.latent.reasons(names)) if len(names) > 1 else ())
