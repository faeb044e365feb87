"""The default: maximum likelihood drawn towards the latent-class model, as held-out reports ask.

`latent` models all attributes and starts from independence; held-out reports say how far it goes.
Where everybody reports everything, the table asked for is then fitted by maximum likelihood with
a prior that cells lie near what `latent` says; how near, from exactly there (much noise, wide
tables) to hardly (little noise), is averaged over, as likely as it makes held-out reports. From
there the reports say what these very respondents answered, by Bayes' rule. Where each respondent
reports one block, the model is averaged with the blocks' unbiased table, as far as the two differ
by more than noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from math import prod, sqrt

import numpy as np

from castell.belief import COARSE, Beliefs, Deal, answered, share_of, weigh
from castell.bootstrap import draws, spread_of, summed
from castell.counting import Counts, HistogramCounts, drawn_blocks
from castell.counting.folds import dealt
from castell.drawn import expected_variance
from castell.errors import CastellError, ReportError
from castell.estimators import castell
from castell.estimators.latent import STARTS, Latent, learn
from castell.grouped import product_variance
from castell.inversion import Observed, Query, observe
from castell.kronecker import check_cells
from castell.mixture import Mixture
from castell.model import Cell, Model, Solution
from castell.operators import Floats
from castell.postprocess import simplex
from castell.spread import Spread, SpreadOf
from castell.study import Study

# Where held-out reports want nothing but the model, the cells of larger tables are just its own.
FEW_CELLS = 1 << 14
# Larger tables are the model's: reports say next to nothing about single cells of them.
MOST_CELLS = 1 << 20
# What there is to believe, as notes call it.
MODELS = ("the latent-class model", "independence")


def fit(study: Study, counts: Counts) -> Model:
    if counts.n == 0:
        raise ReportError("there are no reports", "collect some before estimating")
    held = Held(counts)
    solve = lru_cache(maxsize=4)(partial(_solve, held))
    return Model(counts, partial(_joint, study, solve), partial(_cell, study, held, solve))


@dataclass(frozen=True, eq=False)
class Held:
    """The model, fitted once, and the reports it was judged by."""

    counts: Counts

    @cached_property
    def latent(self) -> Latent:
        return learn(self.counts, None, None, STARTS)

    @cached_property
    def direct(self) -> Model:
        """The unbiased tables of drawn blocks."""
        return castell.fit(self.counts.study, self.counts)

    @cached_property
    def blocks(self) -> tuple[HistogramCounts, ...]:
        return drawn_blocks(self.counts)

    def models(self, mixture: Mixture, names: Sequence[str]) -> tuple[Floats, ...]:
        """What there is to believe of a table: the model, and independence if that is another."""
        places = self.latent.places(names)
        if len(names) == 1 or not self.latent.recipe.steps:
            return (mixture.table(places),)
        return mixture.table(places), mixture.apart(places)

    def deals(self, whole: Observed) -> list[tuple[Deal, ...]]:
        """For each model: most reports, those held out, and what it says without these."""
        found = []
        for fold, trained in enumerate(self.latent.trained):
            _, test = dealt(self.counts, fold)
            if 0 < test.n < self.counts.n:
                unseen = observe(test, whole.names)
                seen = whole.replace(whole.table - unseen.table)
                tables = self.models(trained, whole.names)
                found.append([Deal.of(seen, unseen, table) for table in tables])
        return list(zip(*found, strict=True))


@dataclass(frozen=True, eq=False)
class Blend:
    """A table, how far each marginal of it may be off, and why it was made so."""

    table: Floats
    spread: Callable[[tuple[str, ...]], Spread]
    notes: tuple[str, ...]


def _joint(
    study: Study, solve: Callable[..., Blend], names: tuple[str, ...], max_cells: int | None
) -> Solution:
    check_cells(" x ".join(names), [study.schema[name].size for name in names], max_cells)
    blend = solve(names)
    return Solution(blend.table, blend.spread, blend.notes)


def _cell(study: Study, held: Held, solve: Callable[..., Blend], query: Query) -> Cell:
    names = tuple(query)
    if prod(study.schema[name].size for name in names) > MOST_CELLS:
        return held.latent.cell(query)
    blend = solve(names)
    asked = np.ix_(*(query[name] for name in names))
    # The cells of one query err together; what is known of that is the spread of their sum.
    if all(len(codes) == 1 for codes in query.values()):
        spread = blend.spread(names)
        variance = np.asarray(spread.variance)[asked].ravel()[0]
        return Cell(float(blend.table[asked].sum()), Spread(np.asarray(variance)), blend.notes)
    cell = held.latent.cell(query)
    return replace(cell, value=float(blend.table[asked].sum()), notes=blend.notes)


def _solve(held: Held, names: tuple[str, ...]) -> Blend:
    study = held.counts.study
    sizes = [study.schema[name].size for name in names]
    if prod(sizes) > MOST_CELLS:
        return _model(held, names, "a table this large is left to the model of all attributes")
    if study.design.draw:
        return _drawn(held, names)
    return _together(held, names)


def _model(held: Held, names: tuple[str, ...], why: str) -> Blend:
    latent = held.latent
    return Blend(latent.table(names), latent.spread, (f"auto: {why}", *latent.notes))


# -- everybody reports everything ----------------------------------------------------------------


def _together(held: Held, names: tuple[str, ...]) -> Blend:
    observed = observe(held.counts, names)
    deals = held.deals(observed)
    if not deals:
        return _model(held, names, "too few reports to hold some out")
    beliefs = weigh(deals)
    models = held.models(held.latent.mixture, names)
    if beliefs.all_model and models[0].size > FEW_CELLS:
        why = "held-out reports ask for nothing beyond the model"
        return replace(
            _model(held, names, why),
            table=answered(observed, models[0]),
            spread=partial(_allowed, held.latent.spread, observed, models[0], beliefs.weakest),
        )
    table = beliefs.table(observed, models)
    strength = beliefs.typical
    note = (
        f"auto: maximum likelihood, with {_believed(beliefs)} counting as about "
        f"{strength:.{0 if strength >= 10 else 1}f} respondents in each cell, by held-out reports; "
        "then what these respondents answered"
    )
    noise = partial(_spread, held, observed, table, beliefs)
    return Blend(table, partial(_allowed, noise, observed, table, beliefs.weakest), (note,))


def _believed(beliefs: Beliefs) -> str:
    shares = {name: beliefs.share_of(model) for model, name in enumerate(MODELS)}
    if max(shares.values()) > 0.995:
        return max(shares, key=lambda name: shares[name])
    return " or ".join(f"{name} ({share:.0%})" for name, share in shares.items())


def _allowed(
    noise: SpreadOf, observed: Observed, table: Floats, weakest: float, names: tuple[str, ...]
) -> Spread:
    """Noise, or the model's error where that may be larger.

    The weakest belief that reports do not rule out says how far cells may lie from the model's;
    what the reports say of a cell themselves, through the inverse, narrows that down.
    """
    part, cells = observed.project(names), summed(table, observed.names, names)
    direct = product_variance(part, [part.names], "population")
    model = 1.0 / (1.0 / np.maximum(direct, 1e-300) + weakest / np.maximum(cells, 1e-12) ** 2)
    return Spread(np.maximum(noise(names).variance, model))


def _spread(
    held: Held, observed: Observed, table: Floats, beliefs: Beliefs, names: tuple[str, ...]
) -> Spread:
    """Tables and models fitted again to reports drawn again."""
    every = observed.names
    again = (
        summed(beliefs.table(reports, held.models(mixture, every), COARSE), every, names)
        for reports, mixture in zip(draws(observed, table), held.latent.again, strict=False)
    )
    return spread_of(again, summed(table, every, names))


# -- each respondent reports one block -------------------------------------------------------------


def _drawn(held: Held, names: tuple[str, ...]) -> Blend:
    latent = held.latent
    model = latent.table(names)
    try:
        whole = held.direct.joint(names, None)
    except CastellError:
        return _unheld(held, names)
    # With few reports a table's own variance is as uncertain as the table; what is expected is not.
    variance = np.maximum(whole.spread(names).variance, expected_variance(held.blocks, names)).sum()
    believed = share_of(whole.probabilities, model, float(variance))
    gap = float(((whole.probabilities - model) ** 2).sum())
    if believed == 0.0:
        blend = _model(held, names, "the blocks' own table differs from the model by noise only")
        unseen = max(0.0, gap - variance * (1.0 - 2.0 * sqrt(2.0 / max(model.size - 1, 1))))
        return replace(
            blend, spread=partial(_missed, latent.spread, whole.spread, model, names, unseen)
        )
    table = believed * simplex(whole.probabilities) + (1.0 - believed) * model
    note = (
        f"auto: {believed:.0%} the blocks' unbiased table, {1.0 - believed:.0%} the latent-class "
        "model, because they differ by more than noise"
    )

    def spread(kept: tuple[str, ...]) -> Spread:
        direct, model = whole.spread(kept).variance, latent.spread(kept).variance
        # They come from the same reports: errors that go along add up, not their squares.
        both = believed * np.sqrt(direct) + (1.0 - believed) * np.sqrt(model)
        return Spread(both**2)

    return Blend(table, spread, (note,))


def _unheld(held: Held, names: tuple[str, ...]) -> Blend:
    """The model's table, where no block holds all attributes.

    Its cells are not known better, relative to their size, than those of the tables that blocks
    hold and that they are made of: what may be wrong with one of these is wrong with them too.
    """
    blend = _model(held, names, "no block holds them all")

    def spread(kept: tuple[str, ...]) -> Spread:
        cells = held.latent.table(kept)
        relative = np.zeros(cells.shape)
        for piece in pieces(kept, [block.study.names for block in held.blocks if block.n]):
            part = _solve(held, piece)
            error = part.spread(piece).variance / np.maximum(part.table, 1e-12) ** 2
            # In the order asked, as pieces are; an axis of one for each attribute of another piece.
            shape = [n if name in piece else 1 for name, n in zip(kept, cells.shape, strict=True)]
            relative = relative + error.reshape(shape)
        return Spread(np.maximum(blend.spread(kept).variance, cells**2 * relative))

    return replace(blend, spread=spread)


def pieces(names: Sequence[str], sets: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Names parted into few groups, each within a set and in the order given.

    >>> pieces("abcde", ["ab", "bcd", "ce"])
    [('b', 'c', 'd'), ('a',), ('e',)]
    """
    left, found = list(names), []
    while left:
        best = max(([n for n in left if n in s] for s in sets), key=len, default=[])
        if not best:
            break
        found.append(tuple(best))
        left = [name for name in left if name not in best]
    return found


def _missed(
    noise: SpreadOf,
    direct: SpreadOf,
    table: Floats,
    every: tuple[str, ...],
    error: float,
    names: tuple[str, ...],
) -> Spread:
    """Noise, or the model's error where that may be larger: as much as may hide in the difference
    between the model and the blocks' table, shared out by size, and never more than the latter's.
    """
    hidden = error * summed(table, every, names)
    variance = np.minimum(hidden, direct(names).variance)
    return Spread(np.maximum(noise(names).variance, variance))
