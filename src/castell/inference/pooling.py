"""How much to believe each block, where several hold the attributes asked for.

Every block gives an unbiased estimate of its own. They are averaged, each with a weight in
proportion to its reports and to what one of them is expected to tell. The weights come from the
channels and the numbers of reports alone, so the average is unbiased too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from castell.channels.precision import predicted, shares
from castell.counting import Counts, HistogramCounts, drawn_blocks
from castell.errors import QueryError, ReportError
from castell.inference.inversion import Groups, Observed, observe
from castell.study.design import lens_on


@dataclass(frozen=True, eq=False)
class Source:
    """A block with some reports, the groups of a question it holds, and its weight in each."""

    reports: HistogramCounts
    weights: dict[tuple[str, ...], float]

    @property
    def groups(self) -> list[tuple[str, ...]]:
        return list(self.weights)


def sources(blocks: Sequence[HistogramCounts], groups: Groups) -> list[Source]:
    """Who knows about the groups of a question. A group nobody reported together is refused."""
    weights: list[dict[tuple[str, ...], float]] = [{} for _ in blocks]
    for group in groups:
        holding = [i for i, b in enumerate(blocks) if set(group) <= set(b.study.names)]
        if not holding:
            raise QueryError(
                f"no respondent reported {', '.join(group)} together",
                "ask for fewer attributes, or use a method that models all of them, such as auto",
            )
        able = [i for i in holding if blocks[i].n]
        if not able:
            raise ReportError(f"nobody reported {', '.join(group)} yet", "collect some more")
        views = [blocks[i] for i in able]
        variances = [predicted(lens_on(v.study.design.blocks[0], group)) for v in views]
        each = shares(variances, [v.n for v in views])
        for i, weight in zip(able, each, strict=True):
            weights[i][tuple(group)] = float(weight)
    return [Source(b, w) for b, w in zip(blocks, weights, strict=True) if w]


def views(
    counts: Counts, names: Sequence[str], blocks: Sequence[HistogramCounts] | None = None
) -> tuple[tuple[float, Observed], ...]:
    """The reports' tables over some attributes, and the weight of each in the unbiased table."""
    if not counts.study.design.draw:
        return ((1.0, observe(counts, names)),)
    group = tuple(names)
    drawn = drawn_blocks(counts) if blocks is None else blocks
    return tuple(
        (source.weights[group], observe(source.reports, group))
        for source in sources(drawn, [group])
    )
