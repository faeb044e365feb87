"""A design from what a person writes: a name or clusters, a total epsilon, shares, channels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from castell.channels import (
    BloomResponse,
    Channel,
    ClearResponse,
    KaryResponse,
    best_channel,
    bloom_filters,
)
from castell.channels.best_channel import LARGE
from castell.channels.budget import as_decimal, total_of
from castell.errors import StudyError
from castell.study.block_channels import Channels, own_channels, skippable
from castell.study.design import Block, Design
from castell.study.drawn_sets import DRAWN, clusters, sets_to_draw_from
from castell.study.parity_design import parities
from castell.study.public_attributes import hidden_part
from castell.study.schema import Schema
from castell.study.spending import spend


def build_design(
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
    schema = hidden_part(schema, design, shares or {}, channels or {})
    if drawn:
        made = _drawn_design(schema, epsilon, design, shares, channels, draw, sample)
        return replace(made, blocks=(*made.blocks, *_public_blocks(every)))
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
    order = {name: i for i, name in enumerate(schema.names)}
    every = [*blocks, *_public_blocks(schema)]
    return tuple(sorted(every, key=lambda block: min(order[name] for name in block.names)))


def _public_blocks(schema: Schema) -> list[Block]:
    shown = [schema[name] for name in schema.public]
    return [Block((a.name,), (a.size,), ClearResponse(a.size)) for a in shown]


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
