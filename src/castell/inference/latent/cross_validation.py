"""Hyper-parameters of the latent class model, by five-fold cross-validated log-likelihood.

Chosen one after the other: the number of classes and of EM steps (early stopping), further steps
through the reports one by one and the weight of what they give, a shrinkage coefficient for each
attribute towards its margin, and one for the margins towards their maximum likelihood estimates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from castell.counting import Counts, Fold, folds_of, samples_of
from castell.counting.folds import FOLDS
from castell.inference.latent.em import OverRelaxedEM
from castell.inference.latent.mixture import (
    Mixture,
    average,
    random_start,
    shrink_margins,
    shrink_to_margins,
)
from castell.inference.latent.report_rows import ReportRows, distinct, readable, report_rows
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.sufficient_statistics import (
    BlockTable,
    CountedTable,
    LeafTable,
    Statistics,
    composite_log_likelihood,
    sufficient_statistics,
)
from castell.linear.operators import Floats

Models = tuple[Mixture, ...]


@dataclass(frozen=True, eq=False)
class TabledFold:
    """Reports to fit to, reports held out, their tables, and the margins of the former.

    `rules` is what is known of those to fit to without a report. Reports alone are the judge.
    """

    reports: Fold
    training_tables: list[CountedTable]
    held_out_tables: list[CountedTable]
    margins: tuple[Floats, ...]
    rules: tuple[CountedTable, ...] = ()

    @classmethod
    def of(
        cls, every: Sequence[CountedTable], reports: Fold, known: Sequence[CountedTable] = ()
    ) -> TabledFold:
        unseen = sufficient_statistics(reports.held_out)
        seen = [e.with_counts(e.counts - h.counts) for e, h in zip(every, unseen, strict=True)]
        margins = fit_margins(seen, uniform(reports.held_out.study.schema.sizes))
        training = reports.training.n / max(reports.training.n + reports.held_out.n, 1)
        rules = tuple(table.with_counts(table.counts * training) for table in known)
        return cls(reports, seen, unseen, margins, rules)

    @cached_property
    def training_rows(self) -> ReportRows:
        return report_rows(self.reports.training)

    @cached_property
    def held_out_rows(self) -> ReportRows:
        return report_rows(self.reports.held_out)


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """What was chosen, the models that gives without each fold, and the folds' reports."""

    classes: int
    start_scale: float
    steps: int
    report_steps: int
    report_weight: float  # of the fit through all reports, next to that through tables
    shrinkage: tuple[float, ...]  # of each attribute: 1 is not at all, 0 is to its margin
    margin_shrinkage: float  # of the margins, towards the maximum likelihood ones
    fold_models: Models
    held_out: tuple[list[CountedTable], ...]


def uniform(sizes: Sequence[int]) -> tuple[Floats, ...]:
    return tuple(np.full(size, 1.0 / size) for size in sizes)


def fit_margins(statistics: Sequence[Statistics], start: Sequence[Floats]) -> tuple[Floats, ...]:
    """Maximum likelihood margins of independent attributes: where every fit starts."""
    em = OverRelaxedEM(random_start(start, 1, 0.0, np.random.default_rng(0)), statistics)
    for step in range(SETTINGS.most_steps):
        # A gain of a hundredth in the log-likelihood is nothing that reports can tell.
        if em.step() < 0.01 and step > 10:
            break
    return tuple(part[0] for part in em.mixture.parts)


def operations_per_step(statistics: Sequence[CountedTable], classes: int) -> int:
    """How many numbers one EM step touches: each cell in each class, there and back."""
    return 3 * classes * sum(table.counts.size for table in statistics)


def affordable_report_steps(counts: Counts, classes: int, fits: int) -> int:
    """How many steps through all reports some fits may take; none if that is too few to matter."""
    study = counts.study
    blocks = study.design.blocks
    alone = len(samples_of(counts)) > 1 or len(blocks) == 1
    if alone or len(study.names) == 2 or not readable(blocks):
        # The tables of blocks, or of the one pair, are sufficient; of several studies the composite
        # likelihood of their tables is all that is used.
        return 0
    rows = max(distinct(study.design, counts.n), 1)
    steps = SETTINGS.report_work // (rows * len(study.names) * classes * fits)
    return int(steps) if steps >= SETTINGS.fewest_report_steps else 0


def cross_validate(
    counts: Counts,
    every: Sequence[CountedTable],
    classes: int | None,
    steps: int | None,
    known: Sequence[CountedTable] = (),
) -> Hyperparameters:
    """The hyper-parameters of the best cross-validated log-likelihood, as far as left open.

    `known` is what is known of everybody without a report (`structural_zero_likelihood`).
    """
    tabled = [TabledFold.of(every, fold, known) for fold in folds_of(counts)]
    held_out = tuple(fold.held_out_tables for fold in tabled)
    (many, scale, far), models = _choose_classes_and_steps(every, tabled, classes, steps)
    if not far:
        none = (1.0,) * len(counts.study.names)
        return Hyperparameters(many, scale, far, 0, 0.0, none, 0.0, models, held_out)
    report_steps, weight, models = _choose_report_steps(counts, tabled, many, models)
    # By all that the models were fitted to: pairs would not miss what only three together tell.
    judges: list[Sequence[Statistics]]
    judges = [[f.held_out_rows] if report_steps else f.held_out_tables for f in tabled]
    shrinkage = choose_shrinkage(judges, models)
    models = tuple(shrink_to_margins(model, shrinkage) for model in models)
    margins, models = _choose_margin_shrinkage(tabled, models)
    return Hyperparameters(
        many, scale, far, report_steps, weight, shrinkage, margins, models, held_out
    )


def _choose_classes_and_steps(
    every: Sequence[CountedTable],
    folds: Sequence[TabledFold],
    classes: int | None,
    steps: int | None,
) -> tuple[tuple[int, float, int], Models]:
    """How many classes, how far apart, and how many EM steps, by the likelihood of tables."""
    generator = np.random.default_rng(0)
    plain = tuple(random_start(fold.margins, 1, 0.0, generator) for fold in folds)
    # Independence is left for a gain that stands out only.
    best = _table_log_likelihood(plain, folds) + SETTINGS.least_gain
    chosen, models = (1, 0.0, 0), plain
    if all(isinstance(e, BlockTable) and len(e.attributes) == 1 for e in every):
        # Nobody reported two attributes: nothing can be learned of their association.
        return chosen, models
    for many, scale in _starts(every, classes):
        fits = [
            OverRelaxedEM(
                random_start(f.margins, many, scale, generator), [*f.training_tables, *f.rules]
            )
            for f in folds
        ]
        peak, last = -np.inf, 0
        room = SETTINGS.work // (operations_per_step(every, many) * FOLDS)
        far = min(SETTINGS.most_steps, max(SETTINGS.fewest_steps, room)) if steps is None else steps
        for step in range(1, far + 1):
            for em in fits:
                em.step()
            if step % SETTINGS.check_every if steps is None else step < steps:
                continue
            now = tuple(em.mixture for em in fits)
            log = _table_log_likelihood(now, folds)
            if log > peak:
                peak, last = log, step
            if log > best or (steps is not None and chosen == (1, 0.0, 0)):
                best, chosen, models = log, (many, scale, step), now
            if step - last > max(SETTINGS.patience, last // 2):
                break
    return chosen, models


def _starts(every: Sequence[CountedTable], classes: int | None) -> list[tuple[int, float]]:
    """Numbers of classes to try, and the scale of their starts."""
    if classes is not None:
        return [(classes, SETTINGS.start_scale)]
    found = [(many, SETTINGS.start_scale) for many in SETTINGS.classes]
    if any(isinstance(table, LeafTable) for table in every):
        found.append((SETTINGS.coarse_classes, SETTINGS.coarse_start_scale))
    return found


def _choose_report_steps(
    counts: Counts, folds: Sequence[TabledFold], classes: int, models: Models
) -> tuple[int, float, Models]:
    """How many steps more, through the reports one by one; none where tables are sufficient.

    The two fits are averaged with cross-validated weight: where the model is not quite right, they
    are wrong in different ways.
    """
    most = affordable_report_steps(counts, classes, FOLDS)
    if not most or any(min(f.reports.training.n, f.reports.held_out.n) == 0 for f in folds):
        return 0, 0.0, models
    fits = [
        OverRelaxedEM(m, [f.training_rows, *f.rules]) for m, f in zip(models, folds, strict=True)
    ]
    chosen, best, refined = 0, _row_log_likelihood(models, folds), models
    every = SETTINGS.check_every
    for step in range(every, most + 1, every):
        for em in fits:
            em.run(every)
        now = tuple(em.mixture for em in fits)
        log = _row_log_likelihood(now, folds)
        if log > best:
            chosen, best, refined = step, log, now
        if step - chosen > max(every, chosen // 2):
            break
    if not chosen:
        return 0, 0.0, models
    gains = np.zeros(len(SETTINGS.weights))
    for fold, one, two in zip(folds, models, refined, strict=True):
        gains += fold.held_out_rows.log_likelihood_between(0, one, two, np.array(SETTINGS.weights))
    weight = SETTINGS.weights[int(np.argmax(gains))]
    both = zip(models, refined, strict=True)
    return chosen, weight, tuple(average(pair, (1.0 - weight, weight)) for pair in both)


def _table_log_likelihood(models: Models, folds: Sequence[TabledFold]) -> float:
    pairs = zip(models, folds, strict=True)
    return sum(composite_log_likelihood(model, fold.held_out_tables) for model, fold in pairs)


def _row_log_likelihood(models: Models, folds: Sequence[TabledFold]) -> float:
    pairs = zip(models, folds, strict=True)
    return sum(fold.held_out_rows.e_step(model).log_likelihood for model, fold in pairs)


def _choose_margin_shrinkage(folds: Sequence[TabledFold], models: Models) -> tuple[float, Models]:
    """How far margins are shrunk to their maximum likelihood estimates, where every fit started.

    Classes that have to explain all pairs get the margins a little wrong. Those of independence are
    wrong in another way, and less noisy.
    """
    best, chosen, shrunk = -np.inf, 0.0, models
    for share in SETTINGS.margin_shrinkage:
        pairs = zip(models, folds, strict=True)
        now = tuple(shrink_margins(model, fold.margins, share) for model, fold in pairs)
        log = _table_log_likelihood(now, folds)
        if log > best:
            best, chosen, shrunk = log, share, now
    return chosen, shrunk


def choose_shrinkage(held_out: Sequence[Sequence[Statistics]], models: Models) -> tuple[float, ...]:
    """A coefficient for each attribute, by coordinate ascent: 1 keeps it, 0 is its margin.

    An attribute without any association still gets shares that differ between classes, by sampling
    variation. The probabilities of reports are linear in the coefficient, so those at 0 and at 1
    give all between.
    """
    shrinkage = np.ones(len(models[0].sizes))
    grid = np.array(SETTINGS.weights)
    for _ in range(SETTINGS.sweeps):
        for attribute in range(len(shrinkage)):
            low, high = shrinkage.copy(), shrinkage.copy()
            low[attribute], high[attribute] = 0.0, 1.0
            gains = np.zeros(len(grid))
            for statistics, model in zip(held_out, models, strict=True):
                none, full = shrink_to_margins(model, low), shrink_to_margins(model, high)
                for each in statistics:
                    gains += each.log_likelihood_between(attribute, none, full, grid)
            shrinkage[attribute] = grid[int(np.argmax(gains))]
    return tuple(map(float, shrinkage))
