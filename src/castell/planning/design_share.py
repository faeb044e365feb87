"""How many of the coming respondents to ask as planned; the others are asked as before.

A plan is best for the model that it was made from, and the population is another. So it is tried on
models that the reports might as well have given (`bootstrap_models`), by the expected loss of
`uncertainty`, which has no noise of a simulation in it: for each of some shares of respondents with
the plan, the others with the present design. A little of the present design costs little where the
plan is right, and saves much where it is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from castell.inference.latent.structural_zero_mixture import Answers
from castell.linear.cores import one_thread
from castell.linear.operators import Floats
from castell.planning.estimands import Wanted
from castell.planning.uncertainty import Uncertainty, root_information, seen_codes, uncertainty
from castell.study.design import Block, Design
from castell.study.study import Study

# Shares of respondents with the plan that are tried.
SHARES = (0.25, 0.5, 0.75, 1.0)
# Synthetic people of each model that covariances are read from.
PEOPLE = 4000
# Weights of a draw of two designs, in all and about.
TOTAL = 10_000


# How far a reckoned gain may be off because it is linear, as a standard deviation, and a simulated
# one at least; simulations are few, and chance may make them agree.
LINEAR, SIMULATED = 0.05, 0.02


@dataclass(frozen=True)
class Reckoned:
    """The share of respondents with the plan, and its error relative to the present design's: less
    than nothing is a gain. `error` is the mean over models and its standard error added."""

    share: float
    error: float


@dataclass(frozen=True)
class Tried:
    """A plan as it was reckoned and as it did in simulations: errors of the present and of the
    planned design in each."""

    reckoned: Reckoned
    simulated: tuple[tuple[float, float], ...]

    @property
    def errors(self) -> tuple[float, float]:
        """Of the present and of the planned design, on average over the simulations."""
        now, then = np.mean(self.simulated, axis=0)
        return float(now), float(then)

    @property
    def gain(self) -> float:
        """By how much the plan lowers the error: reckoned and simulated, weighted by precision.

        With much noise simulations tell little, and what was reckoned on several likely populations
        decides; with little noise they decide.
        """
        now, then = np.array(self.simulated).T
        if not now.all():
            return 0.0
        gains = 1.0 - then / now
        spread = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.inf
        trust = np.array([LINEAR, max(float(spread), SIMULATED)]) ** -2.0
        return float(trust @ [-self.reckoned.error, gains.mean()] / trust.sum())


def mix_designs(present: Design, planned: Design, share: float) -> Design:
    """A draw of one of two draws: the planned blocks with a share of the respondents."""
    if share == 1.0:
        return planned
    weights: dict[Block, float] = {}
    for design, part in ((planned, share), (present, 1.0 - share)):
        for block, weight in zip(design.hidden, design.weights, strict=True):
            own = part * weight / sum(design.weights)
            weights[block] = weights.get(block, 0.0) + own
    whole = tuple(max(1, round(TOTAL * each)) for each in weights.values())
    return Design((*weights, *planned.public), draw=True, weights=whole)


def shares_for(present: Design) -> tuple[float, ...]:
    """Those that can be had: nothing can be drawn beside a report of several columns."""
    hidden = len(present.layout) - len(present.public)
    return SHARES if hidden == 1 else SHARES[-1:]


def choose_share(
    truths: Sequence[Answers],
    asked: Sequence[tuple[Study, int]],
    present: Design,
    planned: Design,
    n: int,
    wanted: Wanted,
    seed: int,
) -> Reckoned:
    """The share with the least error on average over some likely populations, with caution."""
    shares = shares_for(present)
    errors = np.array(
        [
            relative_errors(truth, asked, present, planned, n, wanted, shares, [seed, k])
            for k, truth in enumerate(truths)
        ]
    )
    spread = errors.std(axis=0, ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else 0.0
    cautious = errors.mean(axis=0) + spread
    best = int(np.argmin(cautious))
    return Reckoned(shares[best], float(cautious[best]))


@one_thread()
def relative_errors(
    truth: Answers,
    asked: Sequence[tuple[Study, int]],
    present: Design,
    planned: Design,
    n: int,
    wanted: Wanted,
    shares: Sequence[float],
    seeds: Sequence[int],
) -> Floats:
    """The root of the expected loss at each share, relative to that of the present design."""
    people = truth.sample(PEOPLE, np.random.default_rng([*seeds, 4]))
    known = uncertainty(people, wanted.sizes, wanted.indicators(people))
    names = asked[0][0].names
    designs = dict.fromkeys([*(study.design for study, _ in asked), present, planned])
    told = {design: information(design, names, known) for design in designs}
    for study, many in asked:
        known = known.after(many * told[study.design])
    old, new = n * told[present], n * told[planned]
    losses = [known.after((1.0 - s) * old + s * new).expected_loss for s in (0.0, *shares)]
    if losses[0] == 0.0:  # nothing is open, such as the share of everybody
        return np.zeros(len(shares))
    return np.asarray(np.sqrt(np.array(losses[1:]) / losses[0]) - 1.0)


def information(design: Design, names: Sequence[str], known: Uncertainty) -> Floats:
    """What the report of one respondent tells, on average over the draw."""
    answers = dict(zip(names, known.people, strict=True))
    total = np.zeros_like(known.precision)
    for weight, block in zip(design.block_weights, design.blocks, strict=True):
        if block.is_public:
            continue  # it is beside each of the others
        root = root_information(known.scores, *seen_codes(block, answers, design.public))
        total += weight / design.total_weight * (root.T @ root)
    return total
