"""Reports drawn again from a fitted mixture, as evidence: the parametric bootstrap of `latent`."""

from __future__ import annotations

import numpy as np

from castell.counting import Counts, MemoryCounts
from castell.evidence import evidence_of
from castell.mixture import BlockEvidence, Evidence, Mixture
from castell.randomize import block_codes, respond, seeded_words
from castell.reports import Reports

# More respondents than this are not simulated one by one; the spread is scaled instead.
MOST_PEOPLE = 100_000


def simulated(counts: Counts) -> int:
    """How many respondents are drawn again."""
    return counts.n if counts.study.design.draw else min(counts.n, MOST_PEOPLE)


def redrawn(
    counts: Counts,
    evidence: list[Evidence],
    mixture: Mixture,
    generator: np.random.Generator,
) -> list[Evidence]:
    """What the respondents would have reported if the mixture were the truth.

    Where fewer are simulated than answered, they are made to count as many.
    """
    if counts.study.design.draw:
        return [
            _block_again(e, mixture, generator) for e in evidence if isinstance(e, BlockEvidence)
        ]
    people = simulated(counts)
    answers = dict(zip(counts.study.names, mixture.sample(people, generator), strict=True))
    words = seeded_words(int(generator.integers(2**63)))
    blocks = counts.study.design.blocks
    columns = [respond(b.channel, block_codes(b, answers), words) for b in blocks]
    reports = Reports(counts.study, columns, secure=False)
    times = counts.n / people
    return [_times(e, times) for e in evidence_of(MemoryCounts(reports))]


def _block_again(
    evidence: BlockEvidence, mixture: Mixture, generator: np.random.Generator
) -> BlockEvidence:
    joint = mixture.table(evidence.attributes).reshape(-1, 1)
    seen = np.maximum(evidence.forward.turn(joint)[0], 0.0)
    drawn = generator.multinomial(round(evidence.counts.sum()), seen / seen.sum())
    return evidence.counting(drawn.astype(np.float64))


def _times(evidence: Evidence, times: float) -> Evidence:
    return evidence.counting(evidence.counts * times)
