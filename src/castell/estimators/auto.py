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

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from math import prod

import numpy as np

from castell.belief import COARSE, Beliefs, answered, weigh
from castell.bootstrap import draws, spread_of, summed
from castell.capabilities import Reads
from castell.counting import Counts
from castell.errors import ReportError
from castell.estimators._drawn import drawn
from castell.estimators._held import Blend, Held, by_model
from castell.grouped import product_variance
from castell.inversion import Observed, Query, observe
from castell.kronecker import check_cells
from castell.model import Cell, Model, Solution
from castell.operators import Floats
from castell.spread import Spread, SpreadOf
from castell.study import Study

READS = Reads(drawn=True, across=True)
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
        return by_model(held, names, "a table this large is left to the model of all attributes")
    if study.design.draw:
        return drawn(held, names)
    return _together(held, names)


def _together(held: Held, names: tuple[str, ...]) -> Blend:
    observed = observe(held.counts, names)
    deals = held.deals(observed)
    if not deals:
        return by_model(held, names, "too few reports to hold some out")
    beliefs = weigh(deals)
    models = held.models(held.latent.mixture, names)
    if beliefs.all_model and models[0].size > FEW_CELLS:
        why = "held-out reports ask for nothing beyond the model"
        return replace(
            by_model(held, names, why),
            table=answered(observed, models[0]),
            spread=partial(_allowed, held.latent.spread, observed, models[0], beliefs.weakest),
        )
    table = beliefs.table(observed, models)
    strength = float(f"{beliefs.typical:.1g}")
    note = (
        f"auto: maximum likelihood, with {_believed(beliefs)} counting as about {strength:g} "
        "respondents in each cell, by held-out reports; then what these respondents answered"
    )
    noise = partial(_spread, held, observed, table, beliefs)
    return Blend(table, partial(_allowed, noise, observed, table, beliefs.weakest), (note,))


def _believed(beliefs: Beliefs) -> str:
    shares = {name: beliefs.likely(model) for model, name in enumerate(MODELS)}
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
