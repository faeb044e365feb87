"""Latent classes: one model of all attributes that answers any set of any width.

A mixture of products, fitted by expectation and maximisation to the reports of the blocks, or to
the tables of all pairs where everybody reports everything: the time it takes does not depend on how
many answered. Where there are not too many of them the reports are then gone through one by one,
as long as that tells more. Every fit starts at independence with classes that differ a little by
chance, and climbs until reports that were held out say that it goes too far; several are averaged.
Respondents who reported only some attributes count for those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

import numpy as np

from castell.counting import Counts
from castell.errors import OptionError, ReportError
from castell.inference.capabilities import Reads
from castell.inference.fitted import Fitted, Solution
from castell.inference.inversion import Query, names_of
from castell.inference.kronecker import check_cells
from castell.inference.latent.counted_tables import evidence_of
from castell.inference.latent.cross_validation import (
    SCATTER,
    WORK,
    Recipe,
    row_steps_within,
    search,
    settled,
    touched,
    uniform,
)
from castell.inference.latent.em import Climb
from castell.inference.latent.error import mixture_error
from castell.inference.latent.mixture import Mixture, average, drawn_to, loosened, scattered
from castell.inference.latent.report_rows import RowEvidence, rows_of
from castell.inference.latent.sufficient_statistics import Table
from castell.inference.latent.threads import one_thread
from castell.inference.margins import Margins
from castell.inference.misfit import detectable
from castell.inference.model_error import ModelError
from castell.inference.model_intervals import ModelIntervals
from castell.inference.reasons import Code, Reason, reason
from castell.inference.shares import Shares
from castell.linear.operators import Floats
from castell.study.study import Study

READS = Reads(drawn=True, across=True, sets=True)
STARTS = 12
# Wide data get fewer starts, never less than these.
FEWEST_STARTS = 3


def fit(
    study: Study,  # noqa: ARG001
    counts: Counts,
    *,
    classes: int | None = None,
    steps: int | None = None,
    starts: int = STARTS,
) -> Fitted:
    """`classes` of each mixture, `steps` of each fit: chosen by held-out reports if None.
    `starts` is how many fits are averaged."""
    for name, value in (("classes", classes), ("steps", steps), ("starts", starts)):
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if value is not None and not whole:
            raise OptionError(f"{name} is {value!r}", "give a whole number from 1 up")
    if counts.n == 0:
        raise ReportError("there are no reports", "collect some before estimating")
    fitted = learn(counts, classes, steps, starts)
    return Fitted(counts, partial(_joint, fitted), partial(_shares, fitted))


@dataclass(frozen=True, eq=False)
class Latent:
    """An averaged mixture, and how it was made."""

    counts: Counts
    evidence: list[Table]
    mixture: Mixture
    margins: tuple[Floats, ...]
    recipe: Recipe
    starts: int

    @property
    def trained(self) -> tuple[Mixture, ...]:
        """What the recipe gave with some reports held out, for each deal."""
        return self.recipe.trained

    @cached_property
    def intervals(self) -> ModelIntervals:
        """How far its answers may be off."""
        error = mixture_error(self.counts, self.mixture, self.recipe)
        return ModelIntervals(ModelError(Margins(self.counts), error))

    def table(self, names: Sequence[str]) -> Floats:
        return self.mixture.table(self.places(names))

    def places(self, names: Sequence[str]) -> list[int]:
        return [self.counts.study.names.index(name) for name in names]

    def share(self, query: Query) -> float:
        """The share of a product query."""
        return self.mixture.share(dict(zip(self.places(list(query)), query.values(), strict=True)))

    def reasons(self, names: Sequence[str]) -> tuple[Reason, ...]:
        """What was chosen, as far as it concerns some attributes."""
        if len(names) == 1:
            return ()
        return (*self._chosen(names), *self.intervals.reasons(names))

    def _chosen(self, names: Sequence[str]) -> tuple[Reason, ...]:
        recipe = self.recipe
        if recipe.steps == 0:
            return self._unassociated([tuple(names)])
        made = reason(
            Code.LATENT_CLASSES,
            fits=self.starts,
            classes=recipe.classes,
            steps=recipe.steps,
            report_steps=recipe.row_steps,
            chosen=bool(recipe.trained),
        )
        ties = dict(zip(self.counts.study.names, recipe.ties, strict=True))
        alone = [name for name in names if ties[name] == 0.0]
        others = [(one, two) for one in alone for two in names if two != one]
        apart = {tuple(sorted(pair, key=list(names).index)) for pair in others}
        return (made, *self._unassociated(sorted(apart)))

    def _unassociated(self, apart: Sequence[tuple[str, ...]]) -> tuple[Reason, ...]:
        """What was not found, and how strong it would have to be to show."""
        found = []
        for some in apart:
            pairs = list(combinations(some, 2))
            if not all(self.intervals.support(pair).together for pair in pairs):
                continue  # nobody could have found it; that is said anyway
            limits = [
                detectable(
                    self.counts,
                    pair,
                    [self.table([name]) for name in pair],
                    self.intervals.error.margins.blocks,
                )
                for pair in pairs
            ]
            found.append(reason(Code.ASSOCIATION_NOT_FOUND, *some, detectable=max(limits)))
        return tuple(found)


@one_thread()
def learn(counts: Counts, classes: int | None, steps: int | None, starts: int) -> Latent:
    """Choose what was left open by held-out reports, then fit to all."""
    evidence = evidence_of(counts)
    if classes is None or steps is None:
        recipe = search(counts, evidence, classes, steps)
    else:
        recipe = Recipe(classes, steps, 0, 0.0, (1.0,) * len(counts.study.names), 0.0, (), ())
    margins = settled(evidence, uniform(counts.study.schema.sizes))
    generator = np.random.default_rng(0)
    if not recipe.steps:
        plain = scattered(margins, 1, 0.0, generator)
        return Latent(counts, evidence, plain, margins, recipe, 1)
    room = WORK // (touched(evidence, recipe.classes) * recipe.steps)
    rows = None
    if recipe.row_steps:
        room = min(room, row_steps_within(counts, recipe.classes, 1) // recipe.row_steps)
        rows = rows_of(counts)
    rounds = min(starts, max(FEWEST_STARTS, room))
    fits = [_made(recipe, evidence, rows, margins, generator) for _ in range(rounds)]
    return Latent(counts, evidence, average(fits), margins, recipe, rounds)


def _made(
    recipe: Recipe,
    tables: Sequence[Table],
    rows: RowEvidence | None,
    margins: Sequence[Floats],
    generator: np.random.Generator,
) -> Mixture:
    """One fit: through tables, then through the reports one by one, then as the recipe mends it."""
    mixture = scattered(margins, recipe.classes, SCATTER, generator)
    mixture = Climb(mixture, tables).up(recipe.steps)
    if rows is not None:
        further = Climb(mixture, [rows]).up(recipe.row_steps)
        mixture = average([mixture, further], [1.0 - recipe.row_share, recipe.row_share])
    return drawn_to(loosened(mixture, recipe.ties), margins, recipe.margin_share)


def _joint(fitted: Latent, names: tuple[str, ...], max_cells: int | None) -> Solution:
    sizes = [fitted.counts.study.schema[name].size for name in names]
    check_cells(" x ".join(names), sizes, max_cells)
    fitted.intervals.require_reports(names)
    table = fitted.table(names)
    spread = partial(fitted.intervals.table, names, table)
    return Solution(table, spread, fitted.reasons(names))


def _shares(fitted: Latent, queries: Sequence[Query]) -> Shares:
    names = names_of(queries)
    fitted.intervals.require_reports(names)
    return fitted.intervals.shares(queries, fitted.share).because(*fitted.reasons(names))
