"""Whether a design is one for these attributes and no others, in blocks that fit their values."""

from __future__ import annotations

import math

from castell.channels import (
    MAX_TOTAL,
    FakeDataResponse,
    PartitionResponse,
    SkipResponse,
    checked,
)
from castell.channels.classic import ClassicResponse, one_sided
from castell.errors import StudyError
from castell.study.design import Design
from castell.study.schema import Schema


def check_fit(schema: Schema, design: Design, *, stages: bool = False) -> None:
    """Refuse one that does not; with `stages`, one that no later stage could follow."""
    if stages and schema.public:
        raise StudyError(
            f"a study with stages has a public attribute, {schema.public[0]!r}",
            "later stages draw blocks, beside which nothing is public; leave out the stages",
        )
    channels = [checked(block.channel) for block in design.blocks]
    held = [name for block in design.blocks for name in block.names]
    once = sorted(set(held)) if design.draw else sorted(held)
    if once != sorted(schema.names) or any(len(set(b.names)) < len(b.names) for b in design.blocks):
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
    if design.draw and design.hidden != design.blocks:
        raise StudyError("a public attribute is drawn", "leave the draw out")
    if design.draw and design.widths[0] > MAX_TOTAL:
        raise StudyError("a report has more than 2^53 codes", "draw from fewer or smaller sets")
    if any(block.is_coarse for block in design.blocks) and len(design.blocks) > len(design.samples):
        raise StudyError(
            "a block that asks coarsely is reported beside others",
            "let respondents draw one block: draw = true",
        )
    for block, channel in zip(design.blocks, channels, strict=True):
        if any(schema[name].may_skip for name in block.names) != isinstance(channel, SkipResponse):
            raise StudyError(
                f"{' x '.join(block.names)}: its values and its channel differ on skipping",
                'write missing = "skip", and leave the channel to the design',
            )
        sizes = tuple(schema[name].size for name in block.names)
        whole = len(block.names) == 1 or channel.has_matrix
        if isinstance(channel, (FakeDataResponse, PartitionResponse)):
            whole = channel.sizes == sizes
        if block.sizes != sizes or channel.inputs != math.prod(sizes) or not whole:
            raise StudyError(
                f"the channel of {' x '.join(block.names)} does not fit its values",
                "give one row for each combination of values, or Bloom filters for one attribute",
            )


def check_hides_answers(design: Design) -> None:
    """Refuse to publish what gives answers away: it reads paper, and nobody is asked by it."""
    for block in design.blocks:
        channel = block.channel.inner if isinstance(block.channel, SkipResponse) else block.channel
        if isinstance(channel, ClassicResponse) and channel.is_one_sided:
            raise one_sided(f"{block.names[0]!r}, {channel.name}")
