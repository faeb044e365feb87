"""The default: maximum likelihood with a prior around the latent-class model, by cross-validation.

Where everybody reports everything, the table asked for has a gamma prior around what `latent` says,
or around independence; its concentration, from "the model" (much noise, wide tables) to hardly a
prior (little noise), is averaged over by the likelihood of held-out reports. From there the
finite-population posterior mean is one step of Bayes' rule. Where each respondent reports one
block, or the reports of a block can only be read as a whole, the model is averaged with the
unbiased table by a James-Stein share. The equations are in docs/methods.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from math import prod
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from castell.counting import Counts, anybody_reported, folds_of, is_coarse, samples_of
from castell.inference.inversion import Observed, observe
from castell.inference.latent.model import Latent, learn, require_reports_of_each
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.structural_zero_mixture import Answers
from castell.inference.method import Fitted, Reads, Solution
from castell.inference.model_averaging import (
    HeldOutFold,
    ModelAverage,
    average_models,
    finite_population_mean,
)
from castell.inference.pooled_table import expected_variance, james_stein_weight, pooled_table
from castell.inference.postprocess import simplex
from castell.inference.queries import Query, names_of
from castell.inference.reasons import Code, Reason, reason
from castell.inference.sampling_design import SampleDesign
from castell.inference.shares import Shares
from castell.inference.weighted_shrinkage import shrunk_weighted_model
from castell.linear.operators import Floats
from castell.linear.table import Table


@dataclass(frozen=True, eq=False)
class CrossFit:
    """The latent class model of some reports, and what it says without each fold."""

    counts: Counts

    @cached_property
    def latent(self) -> Latent:
        return learn(self.counts, None, None, SETTINGS.starts)

    def models(self, latent: Answers, names: Sequence[str]) -> tuple[Floats, ...]:
        """The models of a table to average: the latent class model, and independence."""
        places = self.latent.places(names)
        if len(names) == 1 or not self.latent.associated:
            return (latent.table(places),)
        return latent.table(places), latent.independent_table(places)

    def folds(self, whole: Observed) -> list[tuple[HeldOutFold, ...]]:
        """By model and fold: reports to fit to, reports held out, the model without these."""
        found = []
        # There are none where the hyper-parameters were not cross-validated.
        for fold, trained in zip(folds_of(self.counts), self.latent.fold_models, strict=False):
            if 0 < fold.held_out.n < self.counts.n:
                unseen = observe(fold.held_out, whole.names)
                seen = whole.replace(whole.table - unseen.table)
                found.append(HeldOutFold.each(seen, unseen, self.models(trained, whole.names)))
        return list(zip(*found, strict=True))


@dataclass(frozen=True, eq=False)
class Combined:
    """A table, and what makes the reasons why it was made so."""

    table: Floats
    why: Callable[[], tuple[Reason, ...]]


def by_model(latent: Latent, names: tuple[str, ...], code: Code, **numbers: float) -> Combined:
    return Combined(latent.table(names), partial(_reasons_of_model, latent, names, code, numbers))


def _reasons_of_model(
    latent: Latent, names: tuple[str, ...], code: Code, numbers: dict[str, Any]
) -> tuple[Reason, ...]:
    return (reason(code, **numbers), *latent.reasons(names))


READS = Reads(drawn=True, across=True, sets=True, whole=True, coarse=True)
# Of larger tables with all weight on the model, only the finite-population mean is computed.
FEW_CELLS = 1 << 14
# Larger tables are the model's: reports say next to nothing about single cells of them.
MOST_AVERAGED_CELLS = 1 << 20


def fit(counts: Counts) -> Fitted:
    return _as_fitted(CrossFit(counts))


def weighted(counts: Counts, design: SampleDesign) -> Fitted:
    """With weights there is no latent class model: the weighted unbiased table, shrunk."""
    return shrunk_weighted_model(counts, design)


def resume(counts: Counts, learned: dict[str, Any]) -> Fitted:
    """The same from what was kept."""
    cross_fit = CrossFit(counts)
    vars(cross_fit)["latent"] = Latent.restore(learned)
    return _as_fitted(cross_fit)


def _as_fitted(cross_fit: CrossFit) -> Fitted:
    solve = lru_cache(maxsize=4)(partial(_solve, cross_fit))
    return Fitted(
        cross_fit.counts,
        partial(_joint, cross_fit, solve),
        partial(_shares, cross_fit, solve),
        sample=partial(_sample, cross_fit),
        learned=lambda: cross_fit.latent.to_keep(),
        # Tables too large to build are the model's.
        prefixes=lambda names: cross_fit.latent.prefixes(names),
    )


def _sample(
    cross_fit: CrossFit, names: tuple[str, ...], people: int, generator: Generator
) -> list[NDArray[np.intp]]:
    """From the latent class model: the tables of `auto` are fitted one by one, and need not be
    margins of one joint distribution."""
    return cross_fit.latent.sample(names, people, generator)


def _joint(
    cross_fit: CrossFit,
    solve: Callable[..., Combined],
    names: tuple[str, ...],
    max_cells: int | None,
) -> Solution:
    cross_fit.counts.study.schema.check_cells(names, max_cells)
    require_reports_of_each(cross_fit.counts, names)
    combined = solve(names)
    spread = partial(cross_fit.latent.spread, names, combined.table)
    return Solution(combined.table, spread, combined.why)


def _shares(
    cross_fit: CrossFit, solve: Callable[..., Combined], queries: Sequence[Query]
) -> Shares:
    """Shares as the table of all their attributes has them, so that they agree with each other."""
    names = names_of(queries)
    require_reports_of_each(cross_fit.counts, names)
    intervals, study = cross_fit.latent.intervals, cross_fit.counts.study
    if prod(study.schema[name].size for name in names) > MOST_AVERAGED_CELLS:
        found = intervals.shares(queries, cross_fit.latent.share)
        return found.because(*cross_fit.latent.reasons(names))
    combined = solve(names)
    share = Table(names, combined.table).share
    return intervals.shares(queries, share).because(*combined.why())


def _solve(cross_fit: CrossFit, names: tuple[str, ...]) -> Combined:
    study = cross_fit.counts.study
    cells = prod(study.schema[name].size for name in names)
    if cells > MOST_AVERAGED_CELLS:
        return by_model(cross_fit.latent, names, Code.TOO_LARGE, cells=cells)
    if len(samples_of(cross_fit.counts)) > 1 or study.design.whole_blocks:
        return _average_with_pooled(cross_fit, names)
    return _together(cross_fit, names)


def _together(cross_fit: CrossFit, names: tuple[str, ...]) -> Combined:
    observed = observe(cross_fit.counts, names)
    folds = cross_fit.folds(observed)
    if not folds:
        return by_model(cross_fit.latent, names, Code.NOT_HELD_OUT)
    average = average_models(folds)
    models = cross_fit.models(cross_fit.latent.answers, names)
    if average.only_model and models[0].size > FEW_CELLS:
        return Combined(
            finite_population_mean(observed, models[0]), partial(cross_fit.latent.reasons, names)
        )
    return Combined(
        average.table(observed, models), partial(_reasons_of_average, cross_fit, names, average)
    )


def _reasons_of_average(
    cross_fit: CrossFit, names: tuple[str, ...], average: ModelAverage
) -> tuple[Reason, ...]:
    if len(names) == 1:
        return ()
    latent = cross_fit.latent
    weight = average.weight_of(0) if latent.associated else 0.0
    prior = reason(
        Code.PRIOR_AVERAGED,
        concentration=float(f"{average.concentration:.1g}"),
        latent=weight,
    )
    return (prior, *latent.reasons(names))


def _average_with_pooled(cross_fit: CrossFit, names: tuple[str, ...]) -> Combined:
    """The model's table, averaged with the samples' unbiased one as far as they differ."""
    counts, latent = cross_fit.counts, cross_fit.latent
    model = latent.table(names)
    if not anybody_reported(counts, names) or any(map(is_coarse, samples_of(counts))):
        # The unbiased table would be of some of the reports only; the model has read all of them.
        return Combined(model, partial(latent.reasons, names))
    whole, spread = pooled_table(counts, names)
    possible = ~counts.study.schema.impossible_cells(names)
    if set(names) <= set(counts.study.schema.public) and possible.all():
        return Combined(whole, tuple)  # everybody's answers as they are: a model adds nothing
    # With few reports a table's own variance is as uncertain as the table; what is expected is not.
    variance = np.maximum(spread, expected_variance(counts, names))
    direct = whole[possible]
    share = james_stein_weight(direct, model[possible], float(variance[possible].sum()))
    if share == 0.0:
        return by_model(latent, names, Code.MODEL_AGREES)
    table = (1.0 - share) * model
    table[possible] += share * simplex(direct)
    return Combined(table, partial(_reasons_of_shrinkage, latent, names, share))


def _reasons_of_shrinkage(
    latent: Latent, names: tuple[str, ...], share: float
) -> tuple[Reason, ...]:
    shrunk = reason(Code.BLOCKS_SHRUNK, unbiased=share)
    return (shrunk, *latent.intervals.reasons(names))
