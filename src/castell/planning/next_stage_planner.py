"""The planner of the next stage: what to ask the coming respondents, from the reports there are.

A latent class model of the reports so far says what is likely; `uncertainty` what that leaves open;
`allocation` gives the coming respondents to the blocks that tell most of it; `design_share` says
how many of them are asked so, and how many as before. Then a collection of synthetic people is
simulated with the present design and with the new one, and the better is kept. Everybody still
reports once, with the whole budget: only which question is asked depends on earlier reports, which
are private already (sequentially interactive local privacy).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from castell.channels import best_channel
from castell.counting import Counts, join_stages, samples_of, studies_of
from castell.errors import OptionError
from castell.estimators import check_reads, require_reports
from castell.inference.latent.cross_validation import fit_margins
from castell.inference.latent.em import OverRelaxedEM
from castell.inference.latent.mixture import random_start
from castell.inference.latent.model import Latent, learn
from castell.inference.latent.settings import SETTINGS
from castell.inference.latent.structural_zero_mixture import Answers
from castell.inference.latent.sufficient_statistics import sufficient_statistics
from castell.linear.cores import one_thread
from castell.linear.operators import Floats
from castell.numbers import is_whole
from castell.planning.allocation import allocate
from castell.planning.bootstrap_models import (
    asked_so_far,
    average_models,
    classes_of,
    likely_truths,
    most_steps,
    simulated_reports,
)
from castell.planning.candidates import Candidate, candidates
from castell.planning.design_share import Tried, choose_share, mix_designs
from castell.planning.estimands import Wanted
from castell.planning.next_stage import MOST_SIMULATED, NextStage, PlannedBlock
from castell.planning.smallest_n_or_epsilon import MOST
from castell.planning.uncertainty import (
    Uncertainty,
    beside_public,
    root_information,
    seen_codes,
    uncertainty,
)
from castell.results.model import Collected, counts_of
from castell.study.design import Design
from castell.study.later_stages import next_stage
from castell.study.study import Study

Progress = Callable[[float], None]

# Synthetic people that covariances are read from.
PEOPLE = 8000
# How many times less often than a portion of respondents something is asked that need not be.
SELDOM = 25
# Simulations of each design: one for each likely population, for what two say by chance alike would
# be taken for sure, and so many that the errors of about this many tables are averaged.
ENOUGH, MOST_REPEATS = 60, 10


def plan_next(
    reports: Collected | Sequence[Collected],
    n: int,
    *,
    tables: Sequence[Sequence[str]] | None = None,
    shares: Sequence[Mapping[str, Any]] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> NextStage:
    """Plan what to ask `n` coming respondents, from the reports of one stage or several.

    What is wanted most are all tables of two attributes, or these `tables` and `shares`. The result
    has the `study` to collect with next. The plan is repeatable: `seed` is for its simulations, and
    has nothing to do with anybody's report.
    """
    if not (is_whole(n, 1) and n <= MOST):
        raise OptionError(
            f"n is {n!r}", f"give how many respondents are still to come, 1 to {MOST:,}"
        )
    if not is_whole(seed, 0):
        raise OptionError(f"seed is {seed!r}", "give a whole number, from 0 up")
    tell = progress or (lambda _share: None)
    counts = counts_of(reports)
    check_reads("latent", *studies_of(counts))
    if skipped := [attribute.name for attribute in counts.study.schema if attribute.may_skip]:
        raise OptionError(
            f"{skipped[0]!r} may be skipped, and a next stage asks several questions as one",
            "go on with the study as it is",
        )
    require_reports(counts)
    wanted = Wanted.of(counts.study.schema, tables, shares)
    tell(0.0)
    fitted = learn(counts, None, None, SETTINGS.starts)
    tell(0.2)
    likely = average_models(fitted, seed)
    tell(0.3)
    planned, blocks, known, expected = _plan(
        fitted.counts, likely, wanted, n, np.random.default_rng(seed)
    )
    tell(0.4)
    present, asked, truths = counts.study, asked_so_far(counts), likely_truths(fitted, seed)
    reckoned = choose_share(truths, asked, present.design, planned, n, wanted, seed)
    chosen = _study(present, mix_designs(present.design, planned, reckoned.share))
    repeats = max(len(truths), min(MOST_REPEATS, -(-ENOUGH // wanted.many)))
    simulated = []
    for k in range(repeats):
        tell(0.5 + 0.5 * k / repeats)
        truth = truths[k % len(truths)]
        now = _simulate(fitted, truth, present, n, wanted, seed + k)
        simulated.append((now, _simulate(fitted, truth, chosen, n, wanted, seed + k)))
    tell(1.0)
    tried = Tried(reckoned, tuple(simulated))
    asked_so = tuple(replace(b, share=b.share * reckoned.share) for b in blocks)
    return NextStage(present, chosen, asked_so, n, wanted, (known, expected), tried)


@one_thread()
def _plan(
    counts: Counts, likely: Answers, wanted: Wanted, n: int, generator: np.random.Generator
) -> tuple[Design, list[PlannedBlock], float, float]:
    study, schema = counts.study, counts.study.schema.hidden
    people = likely.sample(PEOPLE, generator)
    epsilon = study.design.exact_epsilon  # the next stage spends no more than the present one
    open_ = uncertainty(people, study.schema.sizes, wanted.indicators(people))
    known = open_.after(_information(counts, open_))
    answers, public = dict(zip(study.names, people, strict=True)), study.design.public
    asked_of = [answers[name] for name in schema.names]
    # Estimates do not read groups of answers beside what is public.
    offered = list(candidates(asked_of, schema.sizes, float(epsilon), generator, coarse=not public))
    forward = {many: best_channel(many, epsilon).forward for many in {c.many for c in offered}}
    roots = []
    for c in offered:
        seen = beside_public((c.codes, c.many, forward[c.many]), answers, public)
        root = root_information(known.scores, *seen)
        # U'U is all that counts: with public values beside them the rows may be many.
        roots.append(np.asarray(np.linalg.qr(root, mode="r")) if public else root)
    portions = allocate(known, roots, n)
    chosen = [each for each in zip(offered, roots, portions, strict=True) if each[2]]
    chosen.sort(key=lambda each: (-each[2], each[0].places))
    information = np.zeros_like(known.precision)
    for _, root, many in chosen:
        information += n * many / sum(portions) * (root.T @ root)
    asked = [(c, SELDOM * many) for c, _, many in chosen]
    covered = {place for c, _ in asked for place in c.places}
    # A study asks for each of its attributes, though these need hardly be asked any more.
    left = [place for place in range(len(schema)) if place not in covered]
    asked += [(Candidate((p,), None, asked_of[p], schema.sizes[p]), 1) for p in left]
    weights = [weight for _, weight in asked]
    blocks = [
        PlannedBlock(c.block(schema, epsilon), c.many, weight / sum(weights)) for c, weight in asked
    ]
    drawn = tuple(b.block for b in blocks)
    design = Design((*drawn, *public), draw=True, weights=tuple(weights))
    return design, blocks, known.expected_loss, known.after(information).expected_loss


def _study(present: Study, design: Design) -> Study:
    """The next stage, which promises what the present one does."""
    if present.promise is None:
        return Study(present.schema, design=design, name=present.name, text=present.text)
    return next_stage(present, design)


def _information(counts: Counts, known: Uncertainty) -> Floats:
    """What the reports that there are tell."""
    place = {name: i for i, name in enumerate(counts.study.names)}
    total = np.zeros_like(known.precision)
    for sample in samples_of(counts):
        answers = {name: known.people[place[name]] for name in sample.study.names}
        design = sample.study.design
        for block in design.hidden:
            root = root_information(known.scores, *seen_codes(block, answers, design.public))
            total += sample.n * root.T @ root
    return total


@one_thread()
def _simulate(
    fitted: Latent, truth: Answers, study: Study, n: int, wanted: Wanted, seed: int
) -> float:
    """The mean error of what is wanted, in one collection of synthetic people.

    Their truth is known: a fit is stopped where it is nearest to it, for every design alike.
    """
    generator = np.random.default_rng([seed, 1])
    coming = (study, min(n, MOST_SIMULATED))
    found = simulated_reports(truth, [*asked_so_far(fitted.counts), coming], generator)
    statistics = sufficient_statistics(join_stages(found))
    (margins,) = fit_margins(statistics, study.schema.sizes)
    start = random_start(margins, classes_of(fitted), SETTINGS.start_scale, generator)
    em = OverRelaxedEM(start, statistics)
    least, best = wanted.error(em.mixture, truth), 0
    for step in range(0, most_steps(len(statistics)), SETTINGS.check_every):
        error = wanted.error(em.run(SETTINGS.check_every), truth)
        if error < least:
            least, best = error, step
        elif step - best >= SETTINGS.patience:
            break
    return least
