"""Models that the reports so far might as well have given: a parametric bootstrap.

People are sampled from the fitted model, asked as respondents were, and a model is fitted to their
reports. What the fitted model misses of the population, such a model misses of the fitted one. A
plan that is made from the average of several does not take a value for rare because noise made it
look so. Models that are fitted for longer show more association than cross-validation lets through:
noise of the size that the reports leave open. A plan is tried on these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.counting import Counts, MemoryCounts, join_stages, stages_of
from castell.device.random_words import seeded_words
from castell.device.respond import draw_samples, report_columns
from castell.inference.latent.cross_validation import fit_margins
from castell.inference.latent.em import OverRelaxedEM
from castell.inference.latent.mixture import Mixture, average, random_start
from castell.inference.latent.model import Latent
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.structural_zero_mixture import Answers, restrict
from castell.inference.latent.sufficient_statistics import sufficient_statistics
from castell.linear.cores import one_thread
from castell.reports.reports import Reports
from castell.study.study import Study

# How many models, and how many of wide studies, whose fits take long.
MODELS, WIDE_MODELS, WIDE = 5, 2, 20
# Models with more association than was found take so many times its EM steps, and at least these.
LONGER, LEAST_STEPS = 2, 30
# EM steps over one table: wide studies have many tables and get fewer steps, never less than the
# last.
MOST_STEPS, TABLE_STEPS, FEWEST_STEPS = 200, 50_000, 20


def models_for(attributes: int) -> int:
    """How many models are made for a study of so many attributes."""
    return MODELS if attributes <= WIDE else WIDE_MODELS


def most_steps(tables: int) -> int:
    """The EM steps that a fit to so many tables may take."""
    return max(FEWEST_STEPS, min(MOST_STEPS, TABLE_STEPS // max(tables, 1)))


def classes_of(fitted: Latent) -> int:
    """Classes that can show associations, though none may have been found."""
    return max(fitted.hyperparameters.classes, SETTINGS.classes[0])


def average_models(fitted: Latent, seed: int) -> Answers:
    """The average of the fitted model and of models of its own people's reports."""
    chosen = fitted.hyperparameters
    many = models_for(len(fitted.counts.study.names))
    made = [_refit(fitted, [seed, k], chosen.steps, chosen.classes) for k in range(many)]
    return restrict(average([fitted.mixture, *made]), fitted.counts.study.schema)


def likely_truths(fitted: Latent, seed: int) -> list[Answers]:
    """Populations to try a plan on, with more association than was found."""
    chosen = fitted.hyperparameters
    many = models_for(len(fitted.counts.study.names))
    steps = max(LONGER * chosen.steps, LEAST_STEPS)
    made = [_refit(fitted, [seed, many + k], steps, classes_of(fitted)) for k in range(many)]
    return [restrict(each, fitted.counts.study.schema) for each in made]


@one_thread()
def _refit(fitted: Latent, seeds: Sequence[int], steps: int, classes: int) -> Mixture:
    """A model of reports of people sampled from the fitted one."""
    generator = np.random.default_rng([*seeds, 3])
    found = simulated_reports(fitted.answers, asked_so_far(fitted.counts), generator)
    statistics = sufficient_statistics(join_stages(found))
    (margins,) = fit_margins(statistics, fitted.counts.study.schema.sizes)
    if not steps:
        return random_start(margins, 1, 0.0, generator)
    start = random_start(margins, classes, SETTINGS.start_scale, generator)
    return OverRelaxedEM(start, statistics).run(min(steps, most_steps(len(statistics))))


def asked_so_far(counts: Counts) -> list[tuple[Study, int]]:
    """The studies of the stages, and how many reports each has."""
    return [(part.study, part.n) for part in stages_of(counts) if part.n]


def simulated_reports(
    truth: Answers, asked: Sequence[tuple[Study, int]], generator: np.random.Generator
) -> list[Counts]:
    """Reports of people who are sampled from a model: so many under each study."""
    words = seeded_words(int(generator.integers(1 << 31)))
    found: list[Counts] = []
    for study, people in asked:
        codes = dict(zip(study.names, truth.sample(people, generator), strict=True))
        drawn = draw_samples(study.design, people, words)
        made = report_columns(study.design, codes, drawn, lambda _: words)
        found.append(MemoryCounts(Reports(study, made, secure=False)))
    return found
