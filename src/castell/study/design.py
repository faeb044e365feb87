"""Designs: which attributes are randomised together, with what budget, and who reports what.

RR-Independent, RR-Clusters and RR-Joint are one thing: a partition of the attributes into blocks,
each with one channel, all of them reported by everybody. A drawn design splits the respondents
instead of the budget: each reports one block, drawn at random, with all of it. The total a
respondent spends is always computed from the channels' weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate

from castell.channels import (
    MAX_TOTAL,
    BloomResponse,
    Channel,
    ClearResponse,
    FakeDataResponse,
    KaryResponse,
    Lens,
    ParityResponse,
    PartitionResponse,
    best_channel,
    bloom_filters,
)
from castell.channels.budget import as_decimal, rounded_up, total_of
from castell.channels.choice import LARGE
from castell.errors import StudyError
from castell.numbers import is_whole
from castell.study.block_channels import Channels, own_channels, skippable
from castell.study.drawn_sets import DRAWN, clusters, sets_to_draw_from
from castell.study.parity_design import parities
from castell.study.public_attributes import hidden_part
from castell.study.schema import Schema
from castell.study.spending import spend


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

    @property
    def reports_answers(self) -> bool:
        """Whether a report is one of the answers, and so has labels."""
        return self.channel.reports_answers

    @property
    def is_coarse(self) -> bool:
        """Whether it reports a leaf of answers, and not all answers can be told apart."""
        return isinstance(self.channel, PartitionResponse)

    def tells(self, names: Iterable[str]) -> bool:
        """Whether its reports tell apart all combinations of some of its attributes' values."""
        if isinstance(self.channel, FakeDataResponse):
            return len(set(self.names) & set(names)) < 2
        if isinstance(self.channel, ParityResponse):
            return len(self.names) == 1
        return not self.is_coarse

    @property
    def is_public(self) -> bool:
        """Whether it is a public attribute, reported as it is and outside epsilon."""
        return isinstance(self.channel, ClearResponse)

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
class Design:
    """The blocks of a study, in the order of the report, and whether one of them is drawn.

    Without a draw every respondent reports every block, and a report holds a code for each. With
    one, a report is a single code: the reports of all blocks are numbered through, so it says
    which block was drawn and what was reported for it. An estimate divides by the reports that
    hold what it needs. `weights` are whole numbers: a block is drawn with its weight over their
    sum. They are all 1 unless given.
    """

    blocks: tuple[Block, ...]
    draw: bool = False
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        many = len(self.blocks) if self.draw else 1
        given = tuple(self.weights) or (1,) * many
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
    def epsilon(self) -> float:
        """What one respondent spends in all."""
        return rounded_up(self.exact_epsilon)

    @property
    def widths(self) -> tuple[int, ...]:
        """How many different codes each column of the reports can hold."""
        outputs = tuple(block.channel.outputs for block in self.blocks)
        return (sum(outputs),) if self.draw else outputs

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each column of the reports; an attribute 'a x b' does not get in the way."""
        if self.draw:
            return ("drawn",)
        names: list[str] = []
        for block in self.blocks:
            name = " x ".join(block.names)
            while name in names:
                name += "'"
            names.append(name)
        return tuple(names)

    @property
    def samples(self) -> tuple[tuple[int, ...], ...]:
        """The blocks that a respondent reports together: all, or any one that may be drawn."""
        every = tuple(range(len(self.blocks)))
        return tuple((i,) for i in every) if self.draw else (every,)

    @property
    def starts(self) -> tuple[int, ...]:
        """The first code of each block in a report that was drawn."""
        return tuple(accumulate((b.channel.outputs for b in self.blocks[:-1]), initial=0))

    def spent_on(self, names: Iterable[str]) -> float:
        """What a respondent spends on the blocks that hold some attributes."""
        held = {i for name in names for i in self.holders(name)}
        blocks = [self.blocks[i] for i in sorted(held) if not self.blocks[i].is_public]
        exact = [block.channel.exact_epsilon for block in blocks]
        return rounded_up(max(exact) if self.draw else total_of(exact))

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


def build(
    schema: Schema,
    epsilon: object | None,
    design: str | Sequence[Sequence[str]] = "independent",
    shares: Mapping[str, object] | None = None,
    channels: Channels | None = None,
    draw: bool = False,
    sample: int | None = None,
) -> Design:
    """A design from what a person writes: a total, perhaps shares, perhaps channels."""
    if not isinstance(draw, bool):
        raise StudyError(f"draw is {draw!r}", "write draw = true or leave it out")
    drawn = draw or sample is not None or (isinstance(design, str) and design in DRAWN)
    every = schema
    if design == "inpht":
        return _parity_design(schema, epsilon, shares, channels, draw, sample)
    schema = hidden_part(schema, design, shares or {}, channels or {}, drawn)
    if drawn:
        return _drawn_design(schema, epsilon, design, shares, channels, draw, sample)
    groups = _groups(schema, design)
    if design == "bloom" and channels:
        raise StudyError(
            "the design 'bloom' has channels of its own beside the Bloom filters",
            "no method reads both; leave the channels out, or use the design 'independent'",
        )
    fixed = own_channels(schema, groups, channels or {})
    spent = spend(schema, epsilon, shares or {}, fixed)
    blocks = []
    for names in groups:
        sizes = tuple(schema[name].size for name in names)
        channel: Channel
        if names in fixed:
            channel = fixed[names]
        else:
            what = f"the share of {' x '.join(names)}"
            share = total_of(spent[(name,)] for name in names)
            if any(schema[name].may_skip for name in names):
                channel = skippable(schema, names, design, share, what)
            elif design == "bloom":
                filters = bloom_filters(names[0], schema[names[0]].values)
                channel = BloomResponse.with_epsilon(filters, share, what)
            elif len(names) == 1 and sizes[0] >= LARGE:
                # Of so many values k-ary response would hardly ever say the true one.
                channel = best_channel(sizes[0], share, what)
            else:
                channel = KaryResponse.with_epsilon(math.prod(sizes), share, what)
        blocks.append(Block(names, sizes, channel))
    return Design(_with_public(every, blocks))


def _with_public(schema: Schema, blocks: list[Block]) -> tuple[Block, ...]:
    """Beside the blocks that are randomised one for each public attribute, in order."""
    shown = [schema[name] for name in schema.public]
    blocks = blocks + [Block((a.name,), (a.size,), ClearResponse(a.size)) for a in shown]
    order = {name: i for i, name in enumerate(schema.names)}
    return tuple(sorted(blocks, key=lambda block: min(order[name] for name in block.names)))


def _drawn_design(
    schema: Schema,
    epsilon: object | None,
    design: object,
    shares: Mapping[str, object] | None,
    channels: Channels | None,
    draw: bool,
    sample: int | None,
) -> Design:
    """A design in which each respondent reports one block with the whole budget."""
    if shares:
        raise StudyError(
            "a design that draws one block for each respondent has shares",
            "the block drawn has the whole budget; give epsilon alone",
        )
    if sample is not None and (draw or design != "independent"):
        raise StudyError("there is a sample and a design", "leave one of them out")
    if epsilon is None and (design == "cover" or not channels):
        raise StudyError(
            "a design that draws one block for each respondent has no epsilon",
            "give epsilon, what the block drawn may spend, for example 4.0",
        )
    # Without an epsilon every set has a channel of its own, and only `cover` looks at the budget.
    total = None if epsilon is None else as_decimal(epsilon)
    sets = sets_to_draw_from(schema, design, sample, float(total or 0))
    fixed = own_channels(schema, sets, channels or {})
    blocks = []
    for names in sets:
        sizes = tuple(schema[name].size for name in names)
        if names in fixed:
            channel = fixed[names]
            if total is not None and channel.exact_epsilon > total:
                raise StudyError(
                    f"the channel of {' x '.join(names)} costs {channel.exact_epsilon:.6g}, more "
                    f"than epsilon = {total:.6g}",
                    "raise epsilon, or give it a channel that says less",
                )
        elif total is None:
            raise StudyError(
                f"there is no epsilon and no channel for {' x '.join(names)}",
                "give epsilon, what the block drawn may spend, or a channel for every block",
            )
        elif any(schema[name].may_skip for name in names):
            channel = skippable(schema, names, design, total, "epsilon")
        else:
            channel = best_channel(math.prod(sizes), total, "epsilon")
        blocks.append(Block(names, sizes, channel))
    return Design(tuple(blocks), draw=True)


def _parity_design(
    schema: Schema,
    epsilon: object | None,
    shares: Mapping[str, object] | None,
    channels: Channels | None,
    draw: bool,
    sample: int | None,
) -> Design:
    """A design in which each respondent reports the parity of one set of attributes."""
    if shares or channels or draw or schema.public:
        raise StudyError(
            "the design 'inpht' has shares, channels, a draw or a public attribute beside it",
            "it has its own; leave them out",
        )
    found = parities(schema, epsilon, sample)
    blocks = (Block(names, (2,) * len(names), channel) for names, channel in found)
    return Design(tuple(blocks), draw=True)


def _groups(schema: Schema, design: object) -> list[tuple[str, ...]]:
    if design in ("independent", "bloom"):
        return [(name,) for name in schema.names]
    if design == "joint":
        return [schema.names]
    groups = clusters(schema, design)
    seen: set[str] = set()
    for name in (name for group in groups for name in group):
        if name in seen:
            raise StudyError(
                f"attribute {name!r} is in two clusters",
                "it would be reported twice; put it in one, or let respondents draw: draw = true",
            )
        seen.add(name)
    groups += [(name,) for name in schema.names if name not in seen]
    order = {name: i for i, name in enumerate(schema.names)}
    return sorted(groups, key=lambda names: min(order[name] for name in names))
