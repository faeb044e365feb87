"""The reports behind a question: how many hold its attributes, and how much each sample weighs.

Where everybody reports everything, all reports hold all attributes. Where each respondent reports
one block, a question may be one that no block holds, and then nothing but a model answers it. Where
several samples hold the attributes, each gives an unbiased estimate of its own. They are averaged,
each with a weight in proportion to its reports and to what one of them is expected to tell. The
weights come from the channels and the numbers of reports alone, so the average is unbiased too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from castell.channels.protocol import precision_weights, predicted_variance
from castell.counting import Counts, is_coarse, samples_of, samples_with, tells
from castell.errors import QueryError, ReportError
from castell.inference.inversion import Groups, Observed, observe, parts_of
from castell.study.study import Study


class Checked(StrEnum):
    """By what a model's answer can be checked."""

    WHOLE = "whole"  # an unbiased estimate of the very question
    PAIRS = "pairs"  # unbiased estimates of each two of its attributes, not of all together
    NOTHING = "nothing"  # some two of them were never reported together


def least_checked(several: Iterable[Checked]) -> Checked:
    """By what an answer can be checked that is made of several."""
    return max(several, key=list(Checked).index)


@dataclass(frozen=True)
class Support:
    """How many reports hold all attributes of a question, and each two of them."""

    names: tuple[str, ...]
    n: int
    together: int
    designed: bool  # whether some block of the design holds all of them
    pairs: Mapping[tuple[str, str], int]

    @property
    def checked(self) -> Checked:
        if self.together:
            return Checked.WHOLE
        return Checked.PAIRS if all(self.pairs.values()) else Checked.NOTHING

    @property
    def unknown(self) -> tuple[str, ...]:
        """The attributes of pairs that nobody reported."""
        found = {name for pair, many in self.pairs.items() if not many for name in pair}
        return tuple(name for name in self.names if name in found)

    def cliques(self) -> list[tuple[str, ...]]:
        """The attributes parted into sets within which every two were reported together.

        There may be several ways to; which is taken does not depend on the order asked.
        """
        parts: list[list[str]] = []
        for name in sorted(self.names):
            for part in parts:
                if all(self._reports_of_pair(name, other) for other in part):
                    part.append(name)
                    break
            else:
                parts.append([name])
        return [tuple(part) for part in parts]

    def _reports_of_pair(self, one: str, two: str) -> int:
        return self.pairs[(one, two)] if (one, two) in self.pairs else self.pairs[(two, one)]


def support(counts: Counts, names: Sequence[str]) -> Support:
    """What the reports hold of a question."""
    asked = tuple(names)
    pairs = {pair: _holding(counts, pair) for pair in _pairs(asked)}
    designed = bool(samples_with(counts, asked))
    return Support(asked, counts.n, _holding(counts, asked), designed, pairs)


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    return list(combinations(names, 2))


def _holding(counts: Counts, names: Sequence[str]) -> int:
    return sum(sample.n for sample in samples_with(counts, names))


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
        known = [i for i, s in enumerate(every) if set(group) <= set(s.study.names)]
        holding = [i for i in known if tells(every[i], group)]
        if not holding and known and not any(is_coarse(every[i]) for i in known):
            raise QueryError(
                f"no report tells how {', '.join(group)} go together: all but one of its answers "
                "are made up",
                "ask for single attributes, or use the method independent",
            )
        if not holding and known:
            raise QueryError(
                f"only blocks that ask coarsely hold {', '.join(group)}",
                "nothing could be checked; fit them together with the reports of a stage that asks "
                "for every answer by itself: castell.fit([first, then])",
            )
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
        variances = [one_report_variance(s.study, group) for s in some]
        each = precision_weights(variances, [s.n for s in some])
        for i, weight in zip(able, each, strict=True):
            weights[i][tuple(group)] = float(weight)
    return [Source(s, w) for s, w in zip(every, weights, strict=True) if w]


def require_reports_of_each(counts: Counts, names: Iterable[str]) -> None:
    """Refuse attributes of which there is no report yet: a model would only be guessing."""
    for name in names:
        sources(counts, [(name,)])


def one_report_variance(study: Study, group: Sequence[str]) -> float:
    """What one report of a sample leaves open of a cell, as far as the channels tell."""
    return predicted_variance(*(part.lens for part in parts_of(study, group)))


def views(counts: Counts, names: Sequence[str]) -> tuple[tuple[float, Observed], ...]:
    """The reports' tables over some attributes, and the weight of each in the unbiased table."""
    group = tuple(names)
    return tuple(
        (source.weights[group], observe(source.reports, group))
        for source in sources(counts, [group])
    )
