"""What a mixture should be like, by reports it has not seen.

How many classes, how many steps of fitting, how closely each attribute is tied to the classes, and
whose margins: every choice makes reports that were held out most likely. They are held out five
times over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from castell.counting import Counts
from castell.counting.folds import FOLDS, FoldCounts, dealt
from castell.inference.latent.counted_tables import evidence_of
from castell.inference.latent.em import Climb
from castell.inference.latent.mixture import Mixture, average, drawn_to, loosened, scattered
from castell.inference.latent.report_rows import RowEvidence, distinct, readable, rows_of
from castell.inference.latent.sufficient_statistics import (
    BlockEvidence,
    Evidence,
    Table,
    likelihood,
)
from castell.linear.operators import Floats

# Many classes that learn for a short time do as well as few that learn for long, or better.
CLASSES = (6, 24)
SCATTER = 0.3
# How often to look whether held-out reports still gain, and how long to wait for the next gain.
LOOK = 5
PATIENCE = 25
MOST_STEPS = 1000
# Numbers touched in one search: wide data get fewer steps, never less than these.
WORK = 20_000_000_000
FEWEST_STEPS = 100
# The same for reports one by one, reports x attributes x classes; with less they are left aside.
ROW_WORK = 1_000_000_000
FEWEST_ROW_STEPS = 10
# A gain g in the log likelihood of held-out reports has a standard error of about sqrt(2 g): 4 is
# half as large again as its own.
WORTH = 4.0
# Ties between nothing and everything, and how often to go over all attributes.
TIES = np.linspace(0.0, 1.0, 21)
ROUNDS = 2
MARGIN_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, eq=False)
class Trial:
    """Most of the reports, to fit to, and those held out."""

    fitted: FoldCounts
    held: FoldCounts
    seen: list[Table]
    unseen: list[Table]
    margins: tuple[Floats, ...]

    @classmethod
    def dealt(cls, counts: Counts, every: Sequence[Table], fold: int) -> Trial:
        fitted, held = dealt(counts, fold)
        unseen = evidence_of(held)
        seen = [e.counting(e.counts - h.counts) for e, h in zip(every, unseen, strict=True)]
        return cls(fitted, held, seen, unseen, settled(seen, uniform(counts.study.schema.sizes)))

    @cached_property
    def rows(self) -> tuple[RowEvidence, RowEvidence]:
        return rows_of(self.fitted), rows_of(self.held)


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a mixture is made, and what that gave with some reports held out."""

    classes: int
    steps: int
    row_steps: int
    row_share: float  # of the fit through all reports, the rest is the one through tables
    ties: tuple[float, ...]
    margin_share: float  # of the most likely margins, the rest are the classes' own
    trained: tuple[Mixture, ...]
    unseen: tuple[list[Table], ...]  # the reports held out from each


def uniform(sizes: Sequence[int]) -> tuple[Floats, ...]:
    return tuple(np.full(size, 1.0 / size) for size in sizes)


def settled(evidence: Sequence[Evidence], start: Sequence[Floats]) -> tuple[Floats, ...]:
    """The most likely margins, taken as independent: where every fit starts."""
    climb = Climb(scattered(start, 1, 0.0, np.random.default_rng(0)), evidence)
    for step in range(MOST_STEPS):
        # A gain of a hundredth in the log is nothing that reports can tell.
        if climb.step() < 0.01 and step > 10:
            break
    return tuple(part[0] for part in climb.mixture.parts)


def touched(evidence: Sequence[Table], classes: int) -> int:
    """How many numbers one step touches: each cell in each class, there and back."""
    return 3 * classes * sum(e.counts.size for e in evidence)


def row_steps_within(counts: Counts, classes: int, fits: int) -> int:
    """How many steps through all reports some fits may take; none if that is too few to matter."""
    study = counts.study
    blocks = study.design.blocks
    if study.design.draw or len(blocks) == 1 or len(study.names) == 2 or not readable(blocks):
        # Tables of blocks, or of the one pair, say all.
        return 0
    rows = max(distinct(study.design, counts.n), 1)
    steps = ROW_WORK // (rows * len(study.names) * classes * fits)
    return int(steps) if steps >= FEWEST_ROW_STEPS else 0


def search(
    counts: Counts, every: Sequence[Table], classes: int | None, steps: int | None
) -> Recipe:
    """The recipe that makes held-out reports most likely, as far as it was left open."""
    trials = [Trial.dealt(counts, every, fold) for fold in range(FOLDS)]
    held = tuple(trial.unseen for trial in trials)
    (many, far), trained = _coarse(every, trials, classes, steps)
    if not far:
        return Recipe(many, far, 0, 0.0, (1.0,) * len(counts.study.names), 0.0, trained, held)
    row_steps, row_share, trained = _fine(counts, trials, many, trained)
    # Judged by all that the mixtures were fitted to: pairs would not miss what only threes tell.
    unseen: list[Sequence[Evidence]]
    unseen = [[t.rows[1]] if row_steps else t.unseen for t in trials]
    ties = tied(unseen, trained)
    trained = tuple(loosened(t, ties) for t in trained)
    share, trained = _settle(trials, trained)
    return Recipe(many, far, row_steps, row_share, ties, share, trained, held)


def _coarse(
    every: Sequence[Table], trials: Sequence[Trial], classes: int | None, steps: int | None
) -> tuple[tuple[int, int], tuple[Mixture, ...]]:
    """How many classes and how many steps, from tables."""
    generator = np.random.default_rng(0)
    plain = [scattered(trial.margins, 1, 0.0, generator) for trial in trials]
    # Independence is left for good reason only.
    best = _table_log(plain, trials) + WORTH
    chosen, trained = (1, 0), tuple(plain)
    if all(isinstance(e, BlockEvidence) and len(e.attributes) == 1 for e in every):
        # Nobody reported two attributes: nothing can be learned about how they go together.
        return chosen, trained
    for many in CLASSES if classes is None else (classes,):
        climbs = [Climb(scattered(t.margins, many, SCATTER, generator), t.seen) for t in trials]
        peak, last = -np.inf, 0
        room = WORK // (touched(every, many) * FOLDS)
        far = min(MOST_STEPS, max(FEWEST_STEPS, room)) if steps is None else steps
        for step in range(1, far + 1):
            for climb in climbs:
                climb.step()
            if step % LOOK if steps is None else step < steps:
                continue
            now = tuple(climb.mixture for climb in climbs)
            log = _table_log(now, trials)
            if log > peak:
                peak, last = log, step
            if log > best or (steps is not None and chosen == (1, 0)):
                best, chosen, trained = log, (many, step), now
            if step - last > max(PATIENCE, last // 2):
                break
    return chosen, trained


def _fine(
    counts: Counts, trials: Sequence[Trial], classes: int, trained: tuple[Mixture, ...]
) -> tuple[int, float, tuple[Mixture, ...]]:
    """How many steps more, through the reports one by one; none where tables say all there is.

    What comes out is averaged with what tables gave, as held-out reports ask: where the model is
    not quite right, the two are wrong in different ways.
    """
    most = row_steps_within(counts, classes, FOLDS)
    if not most or any(min(t.fitted.n, t.held.n) == 0 for t in trials):
        return 0, 0.0, trained
    climbs = [Climb(m, [t.rows[0]]) for m, t in zip(trained, trials, strict=True)]
    chosen, best, refined = 0, _row_log(trained, trials), trained
    for step in range(LOOK, most + 1, LOOK):
        for climb in climbs:
            climb.up(LOOK)
        now = tuple(climb.mixture for climb in climbs)
        log = _row_log(now, trials)
        if log > best:
            chosen, best, refined = step, log, now
        if step - chosen > max(LOOK, chosen // 2):
            break
    if not chosen:
        return 0, 0.0, trained
    gains = np.zeros(len(TIES))
    for trial, one, two in zip(trials, trained, refined, strict=True):
        gains += trial.rows[1].between(0, one, two, TIES)
    share = float(TIES[int(np.argmax(gains))])
    both = zip(trained, refined, strict=True)
    return chosen, share, tuple(average(pair, (1.0 - share, share)) for pair in both)


def _table_log(mixtures: Sequence[Mixture], trials: Sequence[Trial]) -> float:
    return sum(likelihood(m, t.unseen) for m, t in zip(mixtures, trials, strict=True))


def _row_log(mixtures: Sequence[Mixture], trials: Sequence[Trial]) -> float:
    return sum(t.rows[1].expect(m).log for m, t in zip(mixtures, trials, strict=True))


def _settle(
    trials: Sequence[Trial], trained: Sequence[Mixture]
) -> tuple[float, tuple[Mixture, ...]]:
    """How far margins are drawn to the most likely ones, where every fit started.

    Classes that have to explain all pairs get the margins a little wrong. Those of independence are
    wrong in another way, and less noisy.
    """
    best, chosen, drawn = -np.inf, 0.0, tuple(trained)
    for share in MARGIN_SHARES:
        pairs = zip(trained, trials, strict=True)
        now = tuple(drawn_to(mixture, trial.margins, share) for mixture, trial in pairs)
        log = _table_log(now, trials)
        if log > best:
            best, chosen, drawn = log, share, now
    return chosen, drawn


def tied(unseen: Sequence[Sequence[Evidence]], trained: Sequence[Mixture]) -> tuple[float, ...]:
    """How closely each attribute is tied to the classes: fully, in part, or not at all.

    An attribute that goes with nothing still gets shares that differ between classes, by chance.
    The chances of reports are linear in its tie, so the two ends tell all ties between.
    """
    ties = np.ones(len(trained[0].sizes))
    for _ in range(ROUNDS):
        for attribute in range(len(ties)):
            low, high = ties.copy(), ties.copy()
            low[attribute], high[attribute] = 0.0, 1.0
            gains = np.zeros(len(TIES))
            for evidence, mixture in zip(unseen, trained, strict=True):
                apart, close = loosened(mixture, low), loosened(mixture, high)
                for held in evidence:
                    gains += held.between(attribute, apart, close, TIES)
            ties[attribute] = TIES[int(np.argmax(gains))]
    return tuple(map(float, ties))
