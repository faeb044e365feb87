"""Designs: which attributes are randomised together, with what budget, and who reports what.

RR-Independent, RR-Clusters and RR-Joint are one thing: a partition of the attributes into blocks,
each with one channel, all of them reported by everybody. A drawn design splits the respondents
instead of the budget: each reports one block, drawn at random, with all of it. The total a
respondent spends is always computed from the channels' weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.channels import MAX_TOTAL, Channel, Lens, checked_channel
from castell.channels.budget import rounded_up, total_of
from castell.channels.classic import gives_answers_away
from castell.errors import StudyError
from castell.numbers import is_whole
from castell.study.schema import Schema


@dataclass(frozen=True)
class Axis:
    """One digit of a block's report: (code // stride) % size.

    Reports hold one integer per block. An axis picks out of it what one attribute contributed,
    with arithmetic that any counting engine can do without knowing what the block means. The
    leading digit of a block (`inner` is false) needs no remainder.
    """

    block: int
    stride: int
    size: int
    inner: bool


@dataclass(frozen=True)
class Block:
    """Attributes randomised as one, in mixed radix: the last one's code moves fastest."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    channel: Channel

    def __post_init__(self) -> None:
        checked_channel(self.channel)

    @property
    def reports_answers(self) -> bool:
        """Whether a report is one of the answers, and so has labels."""
        return self.channel.reports_answers

    @property
    def is_coarse(self) -> bool:
        """Whether it reports a leaf of answers, and not all answers can be told apart."""
        return self.channel.coarse is not None

    def tells(self, names: Iterable[str]) -> bool:
        """Whether its reports tell apart all combinations of some of its attributes' values."""
        return self.channel.tells(len(set(self.names) & set(names)))

    @property
    def is_public(self) -> bool:
        """Whether it is a public attribute, reported as it is and outside epsilon."""
        return self.channel.is_public

    def axes(self, index: int, names: Sequence[str]) -> tuple[Axis, ...]:
        """What some attributes contribute to a report, if this is block `index` of its design."""
        if len(self.names) == 1 or not self.channel.has_digits:
            # Only the whole code says something.
            return (Axis(index, 1, self.channel.outputs, inner=False),)
        axes = []
        for i, name in enumerate(self.names):
            if name in names:
                stride = math.prod(self.sizes[i + 1 :])
                axes.append(Axis(index, stride, self.sizes[i], inner=i > 0))
        return tuple(axes)


@dataclass(frozen=True)
class Column:
    """A number in every report: of one block, or of whichever of several was drawn.

    The reports of its blocks are numbered through; those of each begin at its start.
    """

    blocks: tuple[int, ...]
    starts: tuple[int, ...]
    width: int

    def places_of(self, codes: NDArray[Any]) -> NDArray[np.intp]:
        """Of which of its blocks some codes are, by their places in `blocks`."""
        return np.searchsorted(np.array(self.starts), codes, side="right") - 1


@dataclass(frozen=True)
class Design:
    """The blocks of a study, in the order of the report, and whether one of them is drawn.

    Without a draw every respondent reports every block, and a report holds a code for each. With
    one, a report is a single code: the reports of all blocks are numbered through, so it says
    which block was drawn and what was reported for it. Public attributes come last; they are not
    drawn, and every report holds a code for each. An estimate divides by the reports that hold
    what it needs. `weights` are whole numbers: a block is drawn with its weight over their sum.
    They are all 1 unless given.
    """

    blocks: tuple[Block, ...]
    draw: bool = False
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        many = len(self.hidden) if self.draw else 1
        said: Any = self.weights
        given = tuple(said) if isinstance(said, (list, tuple)) else (said,)
        if not given:
            object.__setattr__(self, "weights", (1,) * many)
            return
        whole = all(is_whole(weight, 1) for weight in given)
        if len(given) != many or not whole or sum(given) > MAX_TOTAL:
            raise StudyError(
                f"the weights of a draw are {list(given)}",
                "give a whole number from 1 up for each block, none where nothing is drawn",
            )
        common = math.gcd(*given)
        object.__setattr__(self, "weights", tuple(int(weight) // common for weight in given))

    @property
    def exact_epsilon(self) -> Decimal:
        """The sum over the blocks of a report; of a draw, which is the same for all, the worst."""
        each = [block.channel.exact_epsilon for block in self.hidden]
        return max(each) if self.draw else total_of(each)

    @property
    def hidden(self) -> tuple[Block, ...]:
        """The blocks that are randomised: all but public attributes, which cost nothing."""
        return tuple(block for block in self.blocks if not block.is_public)

    @property
    def public(self) -> tuple[Block, ...]:
        """The blocks of public attributes, which are in every report as they are."""
        return tuple(block for block in self.blocks if block.is_public)

    @property
    def epsilon(self) -> float:
        """What one respondent spends in all."""
        return rounded_up(self.exact_epsilon)

    @property
    def layout(self) -> tuple[Column, ...]:
        """The columns of a report: one for each block; all that may be drawn share the first."""
        outputs = [block.channel.outputs for block in self.blocks]
        alone = [Column((i,), (0,), width) for i, width in enumerate(outputs)]
        if not self.draw:
            return tuple(alone)
        drawn = len(self.hidden)
        return (Column(tuple(range(drawn)), self.starts, sum(outputs[:drawn])), *alone[drawn:])

    @property
    def widths(self) -> tuple[int, ...]:
        """How many different codes each column of the reports can hold."""
        return tuple(column.width for column in self.layout)

    @property
    def code_types(self) -> tuple[np.dtype[Any], ...]:
        """The smallest unsigned integers that hold every code of each column."""
        return tuple(np.min_scalar_type(width - 1) for width in self.widths)

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each column of the reports; an attribute 'a x b' does not get in the way."""
        names: list[str] = ["drawn"] if self.draw else []
        for block in self.public if self.draw else self.blocks:
            name = " x ".join(block.names)
            while name in names:
                name += "'"
            names.append(name)
        return tuple(names)

    @property
    def samples(self) -> tuple[tuple[int, ...], ...]:
        """The blocks that a respondent reports together: all, or any one that may be drawn."""
        every = tuple(range(len(self.blocks)))
        drawn = len(self.hidden)
        return tuple((i, *every[drawn:]) for i in every[:drawn]) if self.draw else (every,)

    @property
    def hidden_samples(self) -> tuple[tuple[int, ...], ...]:
        """The same of what is randomised, by the places in `hidden`."""
        every = tuple(range(len(self.hidden)))
        return tuple((i,) for i in every) if self.draw else (every,)

    @property
    def asked_together(self) -> tuple[tuple[str, ...], ...]:
        """The attributes that a respondent reports, for each of the samples."""
        return tuple(tuple(n for i in each for n in self.blocks[i].names) for each in self.samples)

    @property
    def is_drawn(self) -> bool:
        """Whether respondents report different blocks: each one of several, drawn at random.

        A draw from a single block is none: everybody reports it.
        """
        return len(self.samples) > 1

    def refuse_draw(self, remedy: str) -> None:
        """Refuse respondents who report different blocks, for what reads every block of all."""
        if self.is_drawn:
            raise StudyError(
                "each respondent of this study reports one block, drawn at random", remedy
            )

    @property
    def whole_blocks(self) -> tuple[int, ...]:
        """The blocks of several attributes whose reports can be inverted only as a whole: they have
        no digits, so how likely a part of one is depends on the others."""
        return tuple(
            i
            for i, block in enumerate(self.blocks)
            if len(block.names) > 1 and not block.channel.has_digits and not block.is_coarse
        )

    @property
    def total_weight(self) -> int:
        """The weights of all blocks together; 1 where all blocks are reported."""
        return sum(self.weights)

    @property
    def block_weights(self) -> tuple[int, ...]:
        """Of `total_weight` respondents, how many are expected to report each block."""
        if not self.draw:
            return (1,) * len(self.blocks)
        return (*self.weights, *(self.total_weight for _ in self.public))

    def column_of(self, block: int) -> int:
        """The column of the reports that holds the code of a block."""
        return next(i for i, column in enumerate(self.layout) if block in column.blocks)

    @property
    def starts(self) -> tuple[int, ...]:
        """The first code of each block in a report that was drawn."""
        return tuple(accumulate((b.channel.outputs for b in self.hidden[:-1]), initial=0))

    def document(self) -> dict[str, Any]:
        """What is published: the blocks and, if one is drawn, the draw: 1 if all weigh the same."""
        blocks = [
            {"attributes": list(b.names), "channel": b.channel.document()} for b in self.blocks
        ]
        if not self.draw:
            return {"blocks": blocks}
        return {"blocks": blocks, "draw": 1 if set(self.weights) == {1} else list(self.weights)}

    def spent_on(self, names: Iterable[str]) -> float:
        """What a respondent spends on the blocks that hold some attributes."""
        asking = {i for name in names for i in self.holders(name)}
        blocks = [self.blocks[i] for i in sorted(asking) if not self.blocks[i].is_public]
        exact = [block.channel.exact_epsilon for block in blocks]
        return rounded_up(max(exact, default=Decimal(0)) if self.draw else total_of(exact))

    def holders(self, names: str | Iterable[str]) -> tuple[int, ...]:
        """The blocks that hold an attribute, or all of some attributes."""
        wanted = {names} if isinstance(names, str) else set(names)
        return tuple(i for i, block in enumerate(self.blocks) if wanted <= set(block.names))


def lens_on(block: Block, names: Sequence[str]) -> Lens:
    """How some attributes of one block look from the server, in the block's own order."""
    keep = [i for i, name in enumerate(block.names) if name in names]
    lens = block.channel.project(block.sizes, keep)
    if lens is None:
        raise StudyError(
            f"the channel of {', '.join(block.names)} cannot be looked at in part",
            "ask for all of its attributes",
        )
    return lens


def check_fit(schema: Schema, design: Design) -> None:
    """Refuse a design that is not one for these attributes and no others, in blocks that fit their
    values."""
    if len({block.names for block in design.public}) < len(design.public):
        raise StudyError("a public attribute is sent twice", "list its block once")
    asked = design.asked_together
    if {n for names in asked for n in names} != set(schema.names) or any(
        len(set(names)) < len(names) for names in asked
    ):
        raise StudyError(
            "the blocks do not hold each attribute once", "take a design made for this schema"
        )
    for block in design.blocks:
        public = [schema[name].public for name in block.names]
        if any(public) != block.is_public or (block.is_public and len(public) > 1):
            raise StudyError(
                f"the block of {' x '.join(block.names)} is sent as it is, or is declared to be",
                "an attribute is sent as it is if, and only if, it is declared public",
            )
    if not design.hidden:
        schema.hidden  # noqa: B018  (says that there is nothing to hide)
    if design.draw and design.blocks != design.hidden + design.public:
        raise StudyError(
            "a public attribute stands before a block that is drawn",
            "list the blocks to draw from first; public attributes are in every report",
        )
    if design.draw and design.widths[0] > MAX_TOTAL:
        raise StudyError("a report has more than 2^53 codes", "draw from fewer or smaller sets")
    if any(block.is_coarse for block in design.blocks) and (
        len(design.hidden) > len(design.samples) or design.public
    ):
        raise StudyError(
            "a block that asks coarsely is reported beside others",
            "let respondents draw one block: draw = true",
        )
    for block in design.blocks:
        channel = block.channel
        skipped = any(schema[name].may_skip for name in block.names)
        if skipped != channel.may_skip or (skipped and len(block.names) > 1):
            raise StudyError(
                f"{' x '.join(block.names)}: its values and its channel differ on skipping",
                'write missing = "skip", and leave the channel to the design',
            )
        sizes = tuple(schema[name].size for name in block.names)
        whole = channel.fits(sizes) and (len(block.names) == 1 or channel.has_matrix)
        if block.sizes != sizes or channel.inputs != math.prod(sizes) or not whole:
            raise StudyError(
                f"the channel of {' x '.join(block.names)} does not fit its values",
                "give one row for each combination of values, or Bloom filters for one attribute",
            )


def check_hides_answers(design: Design) -> None:
    """Refuse to publish what gives answers away: it reads paper, and nobody is asked by it."""
    for block in design.blocks:
        design_name = block.channel.if_answered.one_sided
        if design_name is not None:
            raise gives_answers_away(f"{block.names[0]!r}, {design_name}")
