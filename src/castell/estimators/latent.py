"""Latent classes: one model of all attributes that answers any set of any width.

A mixture of products, fitted by expectation and maximisation to the reports of the blocks, or to
the tables of all pairs where everybody reports everything: the time it takes does not depend on how
many answered. Every fit starts at independence with classes that differ a little by chance, and
climbs until reports that were held out say that it goes too far; several are averaged. Respondents
who reported only some attributes count for those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from castell.bootstrap import spread_of
from castell.counting import Counts
from castell.counting.folds import FOLDS, dealt
from castell.errors import OptionError, ReportError
from castell.evidence import evidence_of
from castell.inversion import Query
from castell.kronecker import check_cells
from castell.mixture import BlockEvidence, Climb, Evidence, Mixture, average, likelihood, scattered
from castell.model import Cell, Model, Solution
from castell.operators import Floats
from castell.resampling import redrawn, simulated
from castell.spread import Spread
from castell.study import Study

# Many classes that learn for a short time do as well as few that learn for long, or better.
CLASSES = (6, 24)
STARTS = 12
TRIAL_STARTS = 1
SCATTER = 0.3
# How often to look whether held-out reports still gain, and how long to wait for the next gain.
LOOK = 5
PATIENCE = 25
MOST_STEPS = 1000
# Numbers touched in one search: wide data get fewer starts and fewer steps, never less than these.
WORK = 20_000_000_000
FEWEST_STEPS, FEWEST_STARTS = 100, 3
# A gain g in the log likelihood of held-out reports has a standard error of about sqrt(2 g): 4 is
# half as large again as its own.
WORTH = 4.0
REPLICATES = 24
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
    evidence: list[Evidence]
    mixture: Mixture
    margins: tuple[Floats, ...]
    classes: int
    steps: int
    starts: int
    trained: tuple[Mixture, ...]  # on the reports that each deal did not hold out

    @property
    def notes(self) -> tuple[str, ...]:
        if self.steps == 0:
            return ("held-out reports show no association: the attributes are independent here",)
        made = f"{self.starts} mixtures of {self.classes} classes, {self.steps} steps each"
        return (f"latent: {made}, by held-out reports", CAUTION)

    @cached_property
    def again(self) -> list[Mixture]:
        """Fits to reports drawn again from this one, one start each: more spread, if anything."""
        generator = np.random.default_rng(1)
        rounds = []
        for _ in range(REPLICATES):
            drawn = redrawn(self.counts, self.evidence, self.mixture, generator)
            margins = settled(drawn, self.margins)
            rounds.append(_climb(drawn, margins, self.classes, self.steps, generator))
        return rounds

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
        return Spread(spread.variance * (simulated(self.counts) / self.counts.n))


def learn(counts: Counts, classes: int | None, steps: int | None, starts: int) -> Latent:
    """Choose what was left open by held-out reports, then fit to all."""
    evidence = evidence_of(counts)
    trained: tuple[Mixture, ...] = ()
    if classes is None or steps is None:
        (many, far), trained = _choose(counts, evidence, classes, steps)
    else:
        many, far = classes, steps
    margins = settled(evidence, _uniform(counts.study.schema.sizes))
    generator = np.random.default_rng(0)
    if not far:
        plain = scattered(margins, 1, 0.0, generator)
        return Latent(counts, evidence, plain, margins, 1, 0, 1, trained)
    rounds = min(starts, max(FEWEST_STARTS, WORK // (_touched(evidence, many) * far)))
    fits = [_climb(evidence, margins, many, far, generator) for _ in range(rounds)]
    return Latent(counts, evidence, average(fits), margins, many, far, rounds, trained)


def _touched(evidence: Sequence[Evidence], classes: int) -> int:
    """How many numbers one step touches: each cell in each class, there and back."""
    return 3 * classes * sum(e.counts.size for e in evidence)


def _uniform(sizes: Sequence[int]) -> tuple[Floats, ...]:
    return tuple(np.full(size, 1.0 / size) for size in sizes)


def settled(evidence: Sequence[Evidence], start: Sequence[Floats]) -> tuple[Floats, ...]:
    """The most likely margins, taken as independent: where every fit starts."""
    climb = Climb(scattered(start, 1, 0.0, np.random.default_rng(0)), evidence)
    for step in range(MOST_STEPS):
        # A gain of a hundredth in the log is nothing that reports can tell.
        if climb.step() < 0.01 and step > 10:
            break
    return tuple(part[0] for part in climb.mixture.parts)


def _climb(
    evidence: Sequence[Evidence],
    margins: Sequence[Floats],
    classes: int,
    steps: int,
    generator: np.random.Generator,
) -> Mixture:
    climb = Climb(scattered(margins, classes, SCATTER, generator), evidence)
    for _ in range(steps):
        climb.step()
    return climb.mixture


@dataclass(frozen=True, eq=False)
class Trial:
    """Most of the reports, to fit to, and those held out."""

    seen: list[Evidence]
    unseen: list[Evidence]
    margins: tuple[Floats, ...]

    @classmethod
    def dealt(cls, counts: Counts, every: Sequence[Evidence], fold: int) -> Trial:
        _, held = dealt(counts, fold)
        unseen = evidence_of(held)
        seen = [e.counting(e.counts - h.counts) for e, h in zip(every, unseen, strict=True)]
        return cls(seen, unseen, settled(seen, _uniform(counts.study.schema.sizes)))

    def starts(self, classes: int, generator: np.random.Generator) -> list[Climb]:
        return [
            Climb(scattered(self.margins, classes, SCATTER, generator), self.seen)
            for _ in range(TRIAL_STARTS)
        ]


def _choose(
    counts: Counts, every: Sequence[Evidence], classes: int | None, steps: int | None
) -> tuple[tuple[int, int], tuple[Mixture, ...]]:
    """How many classes and how many steps make held-out reports most likely, over some deals.

    Also what was fitted to the reports that each deal left: for judging more than this model.
    """
    trials = [Trial.dealt(counts, every, fold) for fold in range(FOLDS)]
    generator = np.random.default_rng(0)
    plain = [scattered(trial.margins, 1, 0.0, generator) for trial in trials]
    best = sum(likelihood(p, trial.unseen) for p, trial in zip(plain, trials, strict=True))
    # Independence is left for good reason only.
    best += WORTH
    chosen, trained = (1, 0), tuple(plain)
    if all(isinstance(e, BlockEvidence) and len(e.attributes) == 1 for e in trials[0].seen):
        # Nobody reported two attributes: nothing can be learned about how they go together.
        return chosen, trained
    for many in CLASSES if classes is None else (classes,):
        climbs = [trial.starts(many, generator) for trial in trials]
        peak, last = -np.inf, 0
        room = WORK // (_touched(every, many) * FOLDS * TRIAL_STARTS)
        far = min(MOST_STEPS, max(FEWEST_STEPS, room)) if steps is None else steps
        for step in range(1, far + 1):
            for climb in (climb for group in climbs for climb in group):
                climb.step()
            if step % LOOK if steps is None else step < steps:
                continue
            now = [average([climb.mixture for climb in group]) for group in climbs]
            log = sum(likelihood(m, trial.unseen) for m, trial in zip(now, trials, strict=True))
            if log > peak:
                peak, last = log, step
            if log > best or (steps is not None and chosen == (1, 0)):
                best, chosen, trained = log, (many, step), tuple(now)
            if step - last > max(PATIENCE, last // 2):
                break
    return chosen, trained


def _joint(fitted: Latent, names: tuple[str, ...], max_cells: int | None) -> Solution:
    sizes = [fitted.counts.study.schema[name].size for name in names]
    check_cells(" x ".join(names), sizes, max_cells)
    return Solution(fitted.table(names), fitted.spread, fitted.notes)
