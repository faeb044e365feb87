"""Reports drawn again from a fitted mixture, as evidence: the parametric bootstrap of `latent`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from castell.counting import Counts, MemoryCounts
from castell.evidence import Table
from castell.gathering import evidence_of
from castell.mixture import Mixture
from castell.randomize import block_codes, respond, seeded_words
from castell.reports import Reports


def redrawn(
    counts: Counts,
    tables: Sequence[Table],
    mixture: Mixture,
    people: int,
    generator: np.random.Generator,
) -> tuple[list[Table], Counts | None]:
    """What the respondents would have reported if the mixture were the truth, and their reports.

    Where fewer people are simulated than answered, they are made to count as many. Where each
    respondent reports one block the tables say all, and nobody is simulated.
    """
    if counts.study.design.draw:
        return [_block_again(t, mixture, generator) for t in tables], None
    answers = dict(zip(counts.study.names, mixture.sample(people, generator), strict=True))
    words = seeded_words(int(generator.integers(2**63)))
    blocks = counts.study.design.blocks
    columns = [respond(b.channel, block_codes(b, answers), words) for b in blocks]
    reports = MemoryCounts(Reports(counts.study, columns, secure=False))
    times = counts.n / people
    return [t.counting(t.counts * times) for t in evidence_of(reports)], reports


def _block_again(table: Table, mixture: Mixture, generator: np.random.Generator) -> Table:
    seen = np.maximum(table.chances(mixture), 0.0)
    drawn = generator.multinomial(round(table.counts.sum()), seen / seen.sum())
    return table.counting(drawn.astype(np.float64))
