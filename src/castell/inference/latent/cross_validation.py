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
from castell.inference.latent.em import (
    CountedTable,
    EarlyStopping,
    HeldOutReports,
    Likelihood,
    OverRelaxedEM,
    begin,
    composite_log_likelihood,
    margins_step,
    stack_tables,
)
from castell.inference.latent.kary_blocks import side_by_side
from castell.inference.latent.mixture import (
    Mixture,
    PositiveResiduals,
    Start,
    average,
    random_start,
    shrink_margins,
    shrink_to_margins,
)
from castell.inference.latent.report_rows import ReportRows, distinct, fold_rows, readable
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.sufficient_statistics import (
    BlockTable,
    LeafTable,
    positive_residuals,
    sufficient_statistics,
    whole_blocks,
)
from castell.linear.operators import Floats

Models = tuple[Mixture, ...]
Margins = tuple[tuple[Floats, ...], ...]


@dataclass(frozen=True, eq=False)
class TabledFolds:
    """All folds at once: the tables of the reports to fit to and of those held out, with an axis
    for the folds, and the margins of the former, by fold.

    `rules` is what is known of those to fit to without a report. Reports alone are the judge.
    """

    reports: tuple[Fold, ...]
    held_out: tuple[list[CountedTable], ...]  # of each fold
    training_tables: list[CountedTable]
    held_out_tables: list[CountedTable]
    margins: Margins
    rules: list[CountedTable]
    fitted_to: list[Likelihood]  # the former and the rules, side by side
    judged_by: list[Likelihood]

    @classmethod
    def of(
        cls,
        every: Sequence[CountedTable],
        reports: Sequence[Fold],
        known: Sequence[CountedTable] = (),
    ) -> TabledFolds:
        held_out = tuple(sufficient_statistics(fold.held_out) for fold in reports)
        unseen = stack_tables(held_out)
        seen = [e.with_counts(e.counts - h.counts) for e, h in zip(every, unseen, strict=True)]
        sizes = reports[0].held_out.study.schema.sizes
        margins = fit_margins(seen, sizes, len(reports))
        training = [fold.training.n / max(fold.training.n + fold.held_out.n, 1) for fold in reports]
        rules = stack_tables([[t.with_counts(t.counts * part) for t in known] for part in training])
        stacked = [side_by_side(tables, sizes) for tables in ([*seen, *rules], unseen)]
        return cls(tuple(reports), held_out, seen, unseen, margins, rules, *stacked)

    @cached_property
    def rows(self) -> tuple[ReportRows, ReportRows]:
        """The reports to fit to, and those held out, one by one."""
        return fold_rows(self.reports)

    @cached_property
    def positive_residuals(self) -> list[list[PositiveResiduals]]:
        """From independence, of the reports to fit to, by fold."""
        return positive_residuals(self.training_tables, self.reports[0].held_out.study.schema.sizes)

    def _blocks(self, start: Start) -> list[list[PositiveResiduals]]:
        return self.positive_residuals if start.seeded else [[]] * len(self.margins)

    def margins_of(self, start: Start) -> Margins:
        pairs = zip(self.margins, self._blocks(start), strict=True)
        return tuple(start.margins(*pair) for pair in pairs)

    def start(self, start: Start, generator: np.random.Generator) -> Mixture:
        """A start for each fold."""
        pairs = zip(self.margins, self._blocks(start), strict=True)
        return Mixture.stack([start.mixture(*pair, generator) for pair in pairs])

    def log_likelihood(self, models: Mixture) -> float:
        """Of what was held out, by its tables."""
        return composite_log_likelihood(models, self.judged_by)


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """What was chosen, the models that gives without each fold, and the folds' reports."""

    start: Start
    steps: int
    report_steps: int
    report_weight: float  # of the fit through all reports, next to that through tables
    shrinkage: tuple[float, ...]  # of each attribute: 1 is not at all, 0 is to its margin
    margin_shrinkage: float  # of the margins, towards the maximum likelihood ones
    fold_models: Models
    held_out: tuple[list[CountedTable], ...]

    @property
    def classes(self) -> int:
        return self.start.classes


def fit_margins(statistics: Sequence[CountedTable], sizes: Sequence[int], many: int = 1) -> Margins:
    """Maximum likelihood margins of independent attributes, where every fit starts; for each of
    the several sets of reports that the statistics are of."""
    uniform = [np.full(size, 1.0 / size) for size in sizes]
    one = random_start(uniform, 1, 0.0, np.random.default_rng(0))
    stacked = side_by_side(statistics, one.sizes)
    fitted = OverRelaxedEM(Mixture.stack([one] * many), stacked).converge(SETTINGS.most_steps)
    return tuple(tuple(part[0] for part in each.parts) for each in fitted.unstack())


def likely_margins(
    models: Mixture, tables: Sequence[CountedTable], rules: Sequence[CountedTable], alone: Margins
) -> Margins:
    """What the margins of several models are shrunk towards: those that are most likely.

    Of blocks that ask finely these are the margins of independent attributes, `alone`. How often a
    leaf over several attributes is reported depends on how these are associated: there,
    independence gets the margins wrong, and they are fitted with each model's own associations.
    """
    if not any(isinstance(table, LeafTable) for table in tables):
        return alone
    reports = side_by_side([*tables, *rules], models.sizes)
    fitted = OverRelaxedEM(models, reports, margins_step).converge(SETTINGS.most_steps)
    return tuple(tuple(each.weights @ part for part in each.parts) for each in fitted.unstack())


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
    folds = TabledFolds.of(every, folds_of(counts), known)
    start, far, models = _choose_start_and_steps(every, folds, _starts(every, classes), steps)
    if not far:
        none = (1.0,) * len(counts.study.names)
        each = models.unstack()
        return Hyperparameters(start, far, 0, 0.0, none, 0.0, each, folds.held_out)
    report_steps, weight, models = _choose_report_steps(counts, folds, start.classes, models)
    # By all that the models were fitted to: pairs would not miss what only three together tell.
    judges: list[tuple[Sequence[HeldOutReports], Mixture]] = [(folds.held_out_tables, models)]
    if report_steps:
        unseen = ([rows] for rows in folds.rows[1].unstack())
        judges = list(zip(unseen, models.unstack(), strict=True))
    shrinkage = choose_shrinkage(judges)
    shrunk = shrink_to_margins(models, shrinkage).unstack()
    margins, models = _choose_margin_shrinkage(folds, start, shrunk)
    each, rows = models.unstack(), (report_steps, weight)
    return Hyperparameters(start, far, *rows, shrinkage, margins, each, folds.held_out)


def _choose_start_and_steps(
    every: Sequence[CountedTable],
    folds: TabledFolds,
    tried: Sequence[Start],
    steps: int | None,
) -> tuple[Start, int, Mixture]:
    """Where to start, and how many EM steps, by the likelihood of tables."""
    generator = np.random.default_rng(0)
    alone = Start(1, 0.0)
    plain = folds.start(alone, generator)
    independent, pairs_alone = folds.log_likelihood(plain), not whole_blocks(every)
    # Independence is left for a gain that stands out only.
    best = independent + SETTINGS.least_gain
    chosen, models = (alone, 0), plain
    if all(isinstance(e, BlockTable) and len(e.attributes) == 1 for e in every):
        # Nobody reported two attributes: nothing can be learned of their association.
        return *chosen, models
    # Drawn first, so that no start depends on which of the others is fitted before it.
    drawn = {start: folds.start(start, generator) for start in tried if not start.seeded}
    for number, start in enumerate(sorted(tried, key=_by_speed), 1):
        if start.seeded and pairs_alone:
            # What stands out in pairs matters where no other start finds anything.
            if chosen[1] or len(plain.sizes) > SETTINGS.most_seeded_apart:
                break
        elif start.seeded and chosen[1]:
            # Noise stands out too: another start is left as independence is, for a clear gain.
            best += SETTINGS.least_gain
        first = drawn[start] if start in drawn else folds.start(start, generator)
        em, many = OverRelaxedEM(first, folds.fitted_to), start.classes
        tell = begin(f"cross-validation, {FOLDS} folds: {many} classes ({number} of {len(tried)})")
        room = SETTINGS.work // (operations_per_step(every, many) * FOLDS)
        far = min(SETTINGS.most_steps, max(SETTINGS.fewest_steps, room)) if steps is None else steps
        stopping = EarlyStopping(far, best if chosen[1] else -np.inf)
        for step in range(1, far + 1):
            em.step()
            if step % SETTINGS.check_every if steps is None else step < steps:
                continue
            tell(step / far)
            log = folds.log_likelihood(em.mixture)
            if start.seeded and pairs_alone:  # what margins gain counts in the pairs of each
                log -= max(0.0, folds.log_likelihood(em.mixture.independent()) - independent)
            if log > best or (steps is not None and chosen[1] == 0):
                best, chosen, models = log, (start, step), em.mixture
            if stopping.is_over(step, log):
                break
    return *chosen, models


def _by_speed(start: Start) -> tuple[bool, int]:
    """Many classes get as far as they can in fewer steps: who falls behind them is given up."""
    return start.seeded, -start.classes


def _starts(every: Sequence[CountedTable], classes: int | None) -> list[Start]:
    """Starts to try."""
    if classes is not None:
        return [Start(classes, SETTINGS.start_scale)]
    found = [Start(many, SETTINGS.start_scale) for many in SETTINGS.classes]
    if any(isinstance(table, LeafTable) for table in every):
        found.append(Start(SETTINGS.coarse_classes, SETTINGS.coarse_start_scale))
    else:
        found.append(Start(SETTINGS.classes[-1], SETTINGS.start_scale, seeded=True))
    return found


def _choose_report_steps(
    counts: Counts, folds: TabledFolds, classes: int, models: Mixture
) -> tuple[int, float, Mixture]:
    """How many steps more, through the reports one by one; none where tables are sufficient.

    The two fits are averaged with cross-validated weight: where the model is not quite right, they
    are wrong in different ways.
    """
    most = affordable_report_steps(counts, classes, FOLDS)
    if not most or any(min(f.training.n, f.held_out.n) == 0 for f in folds.reports):
        return 0, 0.0, models
    training, held_out = folds.rows
    em = OverRelaxedEM(models, [training, *folds.rules])
    chosen, best, refined = 0, held_out.log_likelihood(models), models
    every = SETTINGS.check_every
    for step in range(every, most + 1, every):
        now = em.run(every)
        log = held_out.log_likelihood(now)
        if log > best:
            chosen, best, refined = step, log, now
        if step - chosen > max(every, chosen // 2):
            break
    if not chosen:
        return 0, 0.0, models
    gains = np.zeros(len(SETTINGS.weights))
    both = list(zip(models.unstack(), refined.unstack(), strict=True))
    for rows, (one, two) in zip(held_out.unstack(), both, strict=True):
        gains += rows.log_likelihood_between(0, one, two, np.array(SETTINGS.weights))
    weight = SETTINGS.weights[int(np.argmax(gains))]
    return chosen, weight, Mixture.stack([average(pair, (1.0 - weight, weight)) for pair in both])


def _choose_margin_shrinkage(
    folds: TabledFolds, start: Start, models: Sequence[Mixture]
) -> tuple[float, Mixture]:
    """How far margins are shrunk to their maximum likelihood estimates (`likely_margins`).

    Classes that have to explain all pairs get the margins a little wrong. Those of independence are
    wrong in another way, and less noisy.
    """
    best, chosen, shrunk = -np.inf, 0.0, Mixture.stack(models)
    likely = likely_margins(shrunk, folds.training_tables, folds.rules, folds.margins_of(start))
    for share in SETTINGS.margin_shrinkage:
        pairs = zip(models, likely, strict=True)
        now = Mixture.stack([shrink_margins(model, margins, share) for model, margins in pairs])
        log = folds.log_likelihood(now)
        if log > best:
            best, chosen, shrunk = log, share, now
    return chosen, shrunk


def choose_shrinkage(
    judges: Sequence[tuple[Sequence[HeldOutReports], Mixture]],
) -> tuple[float, ...]:
    """A coefficient for each attribute, by coordinate ascent: 1 keeps it, 0 is its margin.

    By reports and the model that was fitted without them, or the models of all folds at once.

    An attribute without any association still gets shares that differ between classes, by sampling
    variation. The probabilities of reports are linear in the coefficient, so those at 0 and at 1
    give all between.
    """
    shrinkage = np.ones(len(judges[0][1].sizes))
    grid = np.array(SETTINGS.weights)
    for _ in range(SETTINGS.sweeps):
        for attribute in range(len(shrinkage)):
            low, high = shrinkage.copy(), shrinkage.copy()
            low[attribute], high[attribute] = 0.0, 1.0
            gains = np.zeros(len(grid))
            for statistics, model in judges:
                none, full = shrink_to_margins(model, low), shrink_to_margins(model, high)
                for each in statistics:
                    gains += each.log_likelihood_between(attribute, none, full, grid)
            shrinkage[attribute] = grid[int(np.argmax(gains))]
    return tuple(map(float, shrinkage))
