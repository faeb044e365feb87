"""What a method is: the kinds of reports it reads, and what fitting it to some gives.

A file in `estimators/` declares what it reads as `READS` (kinds of reports, and options that mean
something for some of them only); whoever offers methods, or refuses one, asks that. Its `fit`
returns a `Fitted`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from castell.counting import Counts
from castell.inference.intervals import SpreadOf
from castell.inference.queries import Query
from castell.inference.reasons import Reason
from castell.inference.sampling_design import SampleDesign
from castell.inference.shares import Shares
from castell.inference.support import Support, support
from castell.inference.top_cells import PrefixesOf
from castell.linear.operators import Floats
from castell.study.design import Block, Design
from castell.study.study import Study

EVERYBODY, DRAWN, SETS, WHOLE = "everybody", "drawn", "sets", "whole"
COARSE, MARGINS, PARITY, BLOOM = "coarse", "margins", "parity", "bloom"
# What reports of each kind hold.
KINDS = {
    EVERYBODY: "every block from everybody",
    DRAWN: "one drawn block from each respondent",
    SETS: "one block from everybody that is read as a whole",
    WHOLE: "blocks beside others that are read as a whole",
    COARSE: "blocks that ask coarsely",
    MARGINS: "blocks that tell single attributes only",
    PARITY: "parities of drawn sets of attributes",
    BLOOM: "Bloom filters",
}


@dataclass(frozen=True)
class Reads:
    """The kinds of reports that a method reads, one field each.

    `everybody` and `drawn` are reports of channels that can be taken back out. `sets` is from
    everybody too, but of one block of several attributes by set-valued response or a matrix of its
    own: such a report has no digits, so the likelihood of a part of them depends on the others.
    `whole` is the same where there are other blocks beside it. `coarse` blocks report a leaf of a
    partition of answers, which a model can be fitted to but nothing inverts. `margins` are blocks
    in which all answers but one are made up: they tell nothing of how two are associated. `parity`
    is what the design "inpht" reports, `bloom` what "bloom" does. A file that declares nothing
    reads `everybody`, with all of its options.

    `across` says that the method also answers about attributes that no drawn block holds together.
    `options` names the kinds for which an option means something; one that is not named here does
    for all.

    >>> Reads(drawn=True, options={"target": (EVERYBODY,)}).kinds
    ('everybody', 'drawn')
    """

    everybody: bool = True
    drawn: bool = False
    sets: bool = False
    whole: bool = False
    coarse: bool = False
    margins: bool = False
    parity: bool = False
    bloom: bool = False
    across: bool = False
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in KINDS if getattr(self, kind))

    def reports_of(self, *studies: Study) -> bool:
        """Whether all that the reports of a study, or of several, hold is read."""
        return set(kinds_of(*studies)) <= set(self.kinds)

    def option(self, name: str, *studies: Study) -> bool:
        """Whether an option means something for the reports."""
        return set(kinds_of(*studies)) <= set(self.options.get(name, tuple(KINDS)))


def kinds_of(*studies: Study) -> tuple[str, ...]:
    """What reports hold: one kind, or several if blocks are of different ones.

    Of several studies each respondent took part in one, which is as if it had been drawn.
    """
    found = {_kind(block, study.design) for study in studies for block in study.design.blocks}
    if len(studies) > 1:
        found = {DRAWN, *(DRAWN if kind == SETS else kind for kind in found)}
    return tuple(kind for kind in KINDS if kind in found)


def _kind(block: Block, design: Design) -> str:
    if not block.channel.has_matrix:
        return BLOOM
    if block.is_coarse:
        return COARSE
    if block.channel.parity_gain is not None:
        return PARITY
    if not block.tells(block.names):
        return MARGINS
    if design.is_drawn:
        return DRAWN
    if len(block.names) == 1 or block.channel.has_digits:
        return EVERYBODY
    return SETS if len(design.blocks) == 1 else WHOLE


def describe_kinds(kinds: Iterable[str], joint: str) -> str:
    """Kinds of reports in words.

    >>> describe_kinds(["drawn", "bloom"], "or")
    'one drawn block from each respondent or Bloom filters'
    """
    return f" {joint} ".join(KINDS[kind] for kind in kinds)


def one_of(names: Iterable[str]) -> str:
    """Names to choose from.

    >>> one_of(["auto", "castell", "latent"]), one_of(["lopub"])
    ('auto, castell or latent', 'lopub')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


# Reasons, or what makes them when they are first asked for.
Why = Sequence[Reason] | Callable[[], Sequence[Reason]]


@dataclass(frozen=True, eq=False)
class Solution:
    """A table of probabilities in the order asked.

    `spread` tells how far each cell of any marginal of it may be off, by the marginal's names.
    """

    probabilities: Floats
    spread: SpreadOf
    why: Why = ()

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        return tuple(self.why() if callable(self.why) else self.why)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Fitted to reports: `joint` solves for a table, `shares` for some product queries."""

    counts: Counts
    joint: Callable[[tuple[str, ...], int | None], Solution]
    shares: Callable[[Sequence[Query]], Shares]
    # Whether its tables are the unbiased ones, so that there is no model to be wrong.
    unbiased: bool = False
    # Codes of so many synthetic people, a column for each attribute asked for, where the method
    # has a model to sample them from; without one they are sampled from its table.
    sample: Callable[[tuple[str, ...], int, Generator], Sequence[NDArray[np.intp]]] | None = None
    # What took long to fit, in numbers, arrays and dataclasses of them, to keep with a model. The
    # method's file has `resume(counts, learned, **options)`, which makes the same of it again.
    learned: Callable[[], Any] | None = None
    # How respondents were sampled, if answers are weighted by it.
    sampling: SampleDesign | None = None
    # How the shares of cells are told in a search for the largest ones of a table of any width.
    prefixes: PrefixesOf | None = None
    # How many reports stand behind a question, where that is no matter of which blocks hold it.
    behind: Callable[[Sequence[str]], Support] | None = None

    def support(self, names: Sequence[str]) -> Support:
        """How many reports stand behind a question about some attributes."""
        return self.behind(names) if self.behind else support(self.counts, names)
