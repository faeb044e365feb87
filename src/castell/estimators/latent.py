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

import numpy as np

from castell.bootstrap import spread_of
from castell.capabilities import Reads
from castell.climb import Climb
from castell.counting import Counts
from castell.errors import OptionError, ReportError
from castell.evidence import Table
from castell.gathering import evidence_of
from castell.inversion import Query
from castell.kronecker import check_cells
from castell.mixture import Mixture, average, drawn_to, loosened, scattered
from castell.model import Cell, Model, Solution
from castell.operators import Floats
from castell.resampling import redrawn
from castell.rows import RowEvidence, rows_of
from castell.spread import Spread
from castell.study import Study
from castell.threads import one_thread
from castell.trials import (
    ROW_WORK,
    SCATTER,
    WORK,
    Recipe,
    row_steps_within,
    search,
    settled,
    touched,
    uniform,
)

READS = Reads(drawn=True, across=True, sets=True)
STARTS = 12
# Wide data get fewer starts, never less than these.
FEWEST_STARTS = 3
REPLICATES = 24
# More respondents than this are not drawn again one by one; the spread is scaled instead.
MOST_PEOPLE = 100_000
FEWEST_PEOPLE = 2_000
CAUTION = "the intervals hold noise and shrinkage, but not what no mixture of this kind can express"


def fit(
    study: Study,  # noqa: ARG001
    counts: Counts,
    *,
    classes: int | None = None,
    steps: int | None = None,
    starts: int = STARTS,
) -> Model:
    """`classes` of each mixture, `steps` of each fit: chosen by held-out reports if None.
    `starts` is how many fits are averaged."""
    for name, value in (("classes", classes), ("steps", steps), ("starts", starts)):
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if value is not None and not whole:
            raise OptionError(f"{name} is {value!r}", "give a whole number from 1 up")
    if counts.n == 0:
        raise ReportError("there are no reports", "collect some before estimating")
    fitted = learn(counts, classes, steps, starts)
    return Model(counts, partial(_joint, fitted), fitted.cell)


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

    @property
    def notes(self) -> tuple[str, ...]:
        recipe = self.recipe
        if recipe.steps == 0:
            return ("held-out reports show no association: the attributes are independent here",)
        made = f"{self.starts} mixtures of {recipe.classes} classes, {recipe.steps} steps each"
        if recipe.row_steps:
            made += f" and {recipe.row_steps} through all reports"
        chosen = ", by held-out reports" if recipe.trained else ", as asked"
        return (f"latent: {made}{chosen}", *self._loose, CAUTION)

    @property
    def _loose(self) -> tuple[str, ...]:
        names = self.counts.study.names
        alone = [name for name, tie in zip(names, self.recipe.ties, strict=True) if tie == 0.0]
        if not alone:
            return ()
        return (f"held-out reports show no association of {', '.join(alone)} with the others",)

    @cached_property
    @one_thread()
    def again(self) -> list[Mixture]:
        """Fits to reports drawn again from this one, one start each: more spread, if anything."""
        generator = np.random.default_rng(1)
        rounds = []
        for _ in range(REPLICATES):
            tables, reports = redrawn(
                self.counts, self.evidence, self.mixture, self._people, generator
            )
            margins = settled(tables, self.margins)
            rows = rows_of(reports) if reports and self.recipe.row_steps else None
            rounds.append(_made(self.recipe, tables, rows, margins, generator))
        return rounds

    @property
    def _people(self) -> int:
        """How many respondents are drawn again."""
        if self.counts.study.design.draw:
            return self.counts.n
        most, recipe = MOST_PEOPLE, self.recipe
        if recipe.row_steps:
            passes = REPLICATES * recipe.row_steps * recipe.classes * len(self.margins)
            most = min(most, max(FEWEST_PEOPLE, ROW_WORK // passes))
        return min(self.counts.n, most)

    def table(self, names: Sequence[str]) -> Floats:
        return self.mixture.table(self.places(names))

    def places(self, names: Sequence[str]) -> list[int]:
        return [self.counts.study.names.index(name) for name in names]

    def spread(self, names: tuple[str, ...]) -> Spread:
        asked = self.places(names)
        return self._scaled(
            spread_of((m.table(asked) for m in self.again), self.mixture.table(asked))
        )

    def cell(self, query: Query) -> Cell:
        asked = dict(zip(self.places(list(query)), query.values(), strict=True))
        value = self.mixture.share(asked)
        again = (np.asarray(m.share(asked)) for m in self.again)
        return Cell(value, self._scaled(spread_of(again, np.asarray(value))), self.notes)

    def _scaled(self, spread: Spread) -> Spread:
        return Spread(spread.variance * (self._people / self.counts.n))


@one_thread()
def learn(counts: Counts, classes: int | None, steps: int | None, starts: int) -> Latent:
    """Choose what was left open by held-out reports, then fit to all."""
    evidence = evidence_of(counts)
    if classes is None or steps is None:
        recipe = search(counts, evidence, classes, steps)
    else:
        recipe = Recipe(classes, steps, 0, 0.0, (1.0,) * len(counts.study.names), 0.0, ())
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
    return Solution(fitted.table(names), fitted.spread, fitted.notes)
