"""How much to believe each sample of reports, where several hold the attributes asked for.

Every sample gives an unbiased estimate of its own. They are averaged, each with a weight in
proportion to its reports and to what one of them is expected to tell. The weights come from the
channels and the numbers of reports alone, so the average is unbiased too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from castell.channels.predicted_variance import predicted_variance, shares
from castell.counting import Counts, samples_of
from castell.errors import QueryError, ReportError
from castell.inference.inversion import Groups, Observed, observe
from castell.study.design import lens_on


@dataclass(frozen=True, eq=False)
class Source:
    """A sample, the groups of a question it holds, and its weight in each."""

    reports: Counts
    weights: dict[tuple[str, ...], float]

    @property
    def groups(self) -> list[tuple[str, ...]]:
        return list(self.weights)


def sources(counts: Counts, groups: Groups) -> list[Source]:
    """Who knows about the groups of a question. A group nobody reported together is refused."""
    every = samples_of(counts)
    weights: list[dict[tuple[str, ...], float]] = [{} for _ in every]
    for group in groups:
        holding = [i for i, s in enumerate(every) if set(group) <= set(s.study.names)]
        if not holding:
            raise QueryError(
                f"no respondent reported {', '.join(group)} together",
                "ask for fewer attributes, or use a method that models all of them, such as auto",
            )
        able = [i for i in holding if every[i].n]
        if not able:
            raise ReportError(f"nobody reported {', '.join(group)} yet", "collect some more")
        if len(every) == 1:
            weights[0][tuple(group)] = 1.0
            continue
        some = [every[i] for i in able]
        variances = [predicted_variance(lens_on(s.study.design.blocks[0], group)) for s in some]
        each = shares(variances, [s.n for s in some])
        for i, weight in zip(able, each, strict=True):
            weights[i][tuple(group)] = float(weight)
    return [Source(s, w) for s, w in zip(every, weights, strict=True) if w]


def views(counts: Counts, names: Sequence[str]) -> tuple[tuple[float, Observed], ...]:
    """The reports' tables over some attributes, and the weight of each in the unbiased table."""
    group = tuple(names)
    return tuple(
        (source.weights[group], observe(source.reports, group))
        for source in sources(counts, [group])
    )
