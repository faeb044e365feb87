"""How many reports stand behind a question, and by what an answer to it can be checked.

Where everybody reports everything, all reports hold all attributes. Where each respondent reports
one block, a question may be one that no block holds, and then nothing but a model answers it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from castell.counting import Counts, samples_with


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
