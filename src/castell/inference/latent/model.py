"""The latent class model, fitted: averaged mixtures, and how far their answers may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, anybody_reported
from castell.inference.goodness_of_fit import detectable
from castell.inference.intervals import Spread
from castell.inference.latent.coarse_blocks import (
    LeafMargins,
    Leaves,
    leaf_tables,
    leaves_of_blocks,
)
from castell.inference.latent.cross_fit_error import mixture_error
from castell.inference.latent.cross_validation import (
    Hyperparameters,
    affordable_report_steps,
    cross_validate,
    fit_margins,
    likely_margins,
    operations_per_step,
)
from castell.inference.latent.em import CountedTable, OverRelaxedEM, composite_log_likelihood
from castell.inference.latent.kary_blocks import side_by_side
from castell.inference.latent.leaf_pairs import LeafPairs
from castell.inference.latent.mixture import (
    Mixture,
    Start,
    average,
    random_start,
    shrink_margins,
    shrink_to_margins,
)
from castell.inference.latent.report_rows import ReportRows, report_rows
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.stein_margins import stein_margins
from castell.inference.latent.structural_zero_likelihood import possible_tables
from castell.inference.latent.structural_zero_mixture import Answers, restrict
from castell.inference.latent.sufficient_statistics import (
    positive_residuals,
    sufficient_statistics,
    whole_blocks,
)
from castell.inference.margins import Margins
from castell.inference.model_error import ModelError
from castell.inference.model_intervals import ModelIntervals
from castell.inference.pooled_table import sources
from castell.inference.postprocess import simplex
from castell.inference.queries import Query
from castell.inference.reasons import Code, Reason, reason
from castell.inference.support import support
from castell.inference.top_cells import Prefixes
from castell.linear.cores import one_thread
from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class Latent:
    """An averaged mixture, and how it was made."""

    counts: Counts
    statistics: list[CountedTable]
    mixture: Mixture
    margins: tuple[Floats, ...]
    hyperparameters: Hyperparameters
    starts: int

    @property
    def associated(self) -> bool:
        """Whether any association was found."""
        return self.hyperparameters.steps > 0

    @cached_property
    def answers(self) -> Answers:
        """What the mixture says of combinations that can occur."""
        return self._possible(self.mixture)

    @cached_property
    def fold_models(self) -> tuple[Answers, ...]:
        """What the hyper-parameters give without each fold."""
        return tuple(map(self._possible, self.hyperparameters.fold_models))

    def _possible(self, mixture: Mixture) -> Answers:
        schema = self.counts.study.schema
        return restrict(mixture, schema) if schema.impossible.rules else mixture

    @cached_property
    def intervals(self) -> ModelIntervals:
        """How far its answers may be off."""
        blocks = leaves_of_blocks(self.statistics, self.mixture)
        error = mixture_error(
            self.counts, self.mixture, self.hyperparameters, self.fold_models, blocks
        )
        coarse = leaf_tables(self.statistics)
        if not coarse:
            return ModelIntervals(ModelError(Margins(self.counts), error))
        margins = LeafMargins(self.counts, self.mixture, Leaves(coarse, blocks[0].margins))
        names, association = self.counts.study.names, error.overall.absolute
        pairs = LeafPairs.of(names, self.mixture, self.statistics, blocks, association)
        return ModelIntervals(ModelError(margins, error), pairs)

    def spread(self, names: tuple[str, ...], table: Floats, kept: tuple[str, ...]) -> Spread:
        """How far a table over `names`, summed to the attributes `kept`, may be off."""
        return self.intervals.table(names, table, kept)

    def to_keep(self) -> dict[str, Any]:
        """To keep: all that took long, and nothing that can be looked up."""
        return {"latent": self, "intervals": self.intervals}

    @staticmethod
    def restore(learned: dict[str, Any]) -> Latent:
        """The model again, with the errors that were worked out before."""
        latent: Latent = learned["latent"]
        # A cached property: worked out once, and not again.
        vars(latent)["intervals"] = learned["intervals"]
        return latent

    def table(self, names: Sequence[str]) -> Floats:
        return self.answers.table(self.places(names))

    def places(self, names: Sequence[str]) -> list[int]:
        return [self.counts.study.names.index(name) for name in names]

    def share(self, query: Query) -> float:
        """The share of a product query."""
        return self.answers.share(dict(zip(self.places(list(query)), query.values(), strict=True)))

    def prefixes(self, names: tuple[str, ...]) -> Prefixes:
        """The shares of combinations of the first of some attributes, one after the other."""
        require_reports_of_each(self.counts, names)
        return Prefixes(tuple((name,) for name in names), partial(self._children, names))

    def _children(self, names: Sequence[str], step: int, codes: NDArray[np.intp]) -> Floats:
        answers, places = self.answers, self.places(names)
        if isinstance(answers, Mixture):
            return answers.extend_cells(places[:step], codes, places[step])
        values = range(self.counts.study.schema[names[step]].size)
        rows = [dict(zip(names[:step], row[:, None], strict=True)) for row in codes]
        return np.array(
            [[self.share({**row, names[step]: np.array([v])}) for v in values] for row in rows]
        )

    def sample(
        self, names: Sequence[str], people: int, generator: np.random.Generator
    ) -> list[NDArray[np.intp]]:
        """Synthetic people: the codes of some attributes."""
        require_reports_of_each(self.counts, names)
        columns = self.answers.sample(people, generator)
        return [columns[place] for place in self.places(names)]

    def reasons(self, names: Sequence[str]) -> tuple[Reason, ...]:
        """What was chosen, as far as it concerns some attributes."""
        if len(names) == 1:
            return ()
        return (*self._reasons_of_choice(names), *self.intervals.reasons(names))

    def _reasons_of_choice(self, names: Sequence[str]) -> tuple[Reason, ...]:
        hyperparameters = self.hyperparameters
        if hyperparameters.steps == 0:
            return self._nothing_associated([tuple(names)])
        made = reason(
            Code.LATENT_CLASSES,
            fits=self.starts,
            classes=hyperparameters.classes,
            steps=hyperparameters.steps,
            report_steps=hyperparameters.report_steps,
            chosen=bool(hyperparameters.fold_models),
        )
        shrinkage = dict(zip(self.counts.study.names, hyperparameters.shrinkage, strict=True))
        alone = [name for name in names if shrinkage[name] == 0.0]
        others = [(one, two) for one in alone for two in names if two != one]
        apart = {tuple(sorted(pair, key=list(names).index)) for pair in others}
        return (made, *self._nothing_associated(sorted(apart)))

    def _nothing_associated(self, apart: Sequence[tuple[str, ...]]) -> tuple[Reason, ...]:
        """What was not found, and how strong it would have to be to show."""
        found = []
        for some in apart:
            pairs = list(combinations(some, 2))
            if not all(support(self.counts, pair).together for pair in pairs):
                continue  # nobody could have found it; that is said anyway
            # By the unbiased margins: those of a model that found nothing may be too small for it.
            unbiased = self.intervals.error.margins.table
            limits = [
                detectable(self.counts, pair, [simplex(unbiased(name)) for name in pair])
                for pair in pairs
            ]
            found.append(reason(Code.ASSOCIATION_NOT_FOUND, *some, detectable=max(limits)))
        return tuple(found)


def require_reports_of_each(counts: Counts, names: Sequence[str]) -> None:
    """Refuse attributes of which there is no report yet: a model would only be guessing."""
    for name in names:
        if not anybody_reported(counts, [name]):
            sources(counts, [(name,)])  # which says why


@one_thread()
def learn(counts: Counts, classes: int | None, steps: int | None, starts: int) -> Latent:
    """Cross-validate what was left open, then fit to all reports."""
    statistics = sufficient_statistics(counts)
    rules: list[CountedTable] = []
    if classes is None or steps is None:
        tried: list[list[CountedTable]] = [[]]
        if counts.study.schema.impossible.rules:
            tried = [possible_tables(counts, weight) for weight in SETTINGS.rule_weights]
        every = [cross_validate(counts, statistics, classes, steps, each) for each in tried]
        best = max(range(len(every)), key=lambda k: _cross_validated(every[k]))
        hyperparameters, rules = every[best], tried[best]
    else:
        hyperparameters = Hyperparameters(
            Start(classes, SETTINGS.start_scale),
            steps,
            0,
            0.0,
            (1.0,) * len(counts.study.names),
            0.0,
            (),
            (),
        )
    (margins,) = fit_margins(statistics, counts.study.schema.sizes)
    generator = np.random.default_rng(0)
    if not hyperparameters.steps:
        if whole_blocks(statistics):  # else no margins are better than the unbiased ones
            margins, hyperparameters = _combine_margins(
                counts, statistics, margins, hyperparameters
            )
        plain = random_start(margins, 1, 0.0, generator)
        return Latent(counts, statistics, plain, margins, hyperparameters, 1)
    room = SETTINGS.work // (
        operations_per_step(statistics, hyperparameters.classes) * hyperparameters.steps
    )
    rows = None
    if hyperparameters.report_steps:
        room = min(
            room,
            affordable_report_steps(counts, hyperparameters.classes, 1)
            // hyperparameters.report_steps,
        )
        rows = report_rows(counts)
    rounds = min(starts, max(SETTINGS.fewest_starts, room))
    fits = fit_starts(hyperparameters, statistics, rows, margins, rounds, rules)
    return Latent(counts, statistics, average(fits), margins, hyperparameters, rounds)


def _combine_margins(
    counts: Counts,
    statistics: list[CountedTable],
    alone: tuple[Floats, ...],
    independent: Hyperparameters,
) -> tuple[tuple[Floats, ...], Hyperparameters]:
    """The margins of a model without associations, and the models without each fold."""
    by_fold = [tuple(m.weights @ part for part in m.parts) for m in independent.fold_models]
    folds = list(zip(independent.held_out, by_fold, strict=True))
    margins, *others = stein_margins(counts, statistics, alone, folds)
    if margins is alone:
        return alone, independent
    generator = np.random.default_rng(0)
    models = tuple(random_start(each, 1, 0.0, generator) for each in others)
    return margins, replace(independent, fold_models=models)


def _cross_validated(hyperparameters: Hyperparameters) -> float:
    """The log-likelihood of held-out reports under the models fitted without them."""
    pairs = zip(hyperparameters.fold_models, hyperparameters.held_out, strict=True)
    return sum(composite_log_likelihood(model, tables) for model, tables in pairs)


def fit_starts(
    hyperparameters: Hyperparameters,
    tables: Sequence[CountedTable],
    rows: ReportRows | None,
    margins: Sequence[Floats],
    many: int,
    rules: Sequence[CountedTable] = (),
) -> list[Mixture]:
    """Fits from several random starts: through tables, then through the reports one by one, then
    shrunk."""
    generator = np.random.default_rng(0)
    chosen = hyperparameters
    sizes = [len(margin) for margin in margins]
    residuals = positive_residuals(tables, sizes)[0] if chosen.start.seeded else []
    starts = [chosen.start.mixture(margins, residuals, generator) for _ in range(many)]
    what = f"{many} fits at once, {chosen.classes} classes"
    stacked = side_by_side([*tables, *rules], sizes)
    fitted = OverRelaxedEM(Mixture.stack(starts), stacked).run(chosen.steps, f"{what}, by tables")
    fits = list(fitted.unstack())
    if rows is not None:
        em = OverRelaxedEM(fitted, [rows, *rules])
        further = em.run(chosen.report_steps, f"{what}, by all reports").unstack()
        weights = (1.0 - chosen.report_weight, chosen.report_weight)
        fits = [average(pair, weights) for pair in zip(fits, further, strict=True)]
    fits = [shrink_to_margins(each, chosen.shrinkage) for each in fits]
    if not chosen.margin_shrinkage:
        return fits
    target = chosen.start.margins(margins, residuals)
    likely = likely_margins(Mixture.stack(fits), tables, rules, (target,) * many)
    return [
        shrink_margins(each, target, chosen.margin_shrinkage)
        for each, target in zip(fits, likely, strict=True)
    ]
