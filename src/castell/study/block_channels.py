"""Channels that a person gives to blocks of a design, instead of a share of the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import prod
from typing import Any

from castell.channels import (
    Channel,
    KaryResponse,
    MatrixResponse,
    SkipResponse,
    checked_channel,
)
from castell.errors import StudyError
from castell.study.schema import Schema, suggest

# By the name of an attribute that is a block, or by the names of a block in its order. (The type
# of keys is left open, as mappings of tuples of some length are no mappings of tuples of any.)
Channels = Mapping[Any, Any]
Blocks = Sequence[tuple[str, ...]]


def own_channels(
    schema: Schema, blocks: Blocks, channels: Channels
) -> dict[tuple[str, ...], Channel]:
    """The channel of each block that has one of its own: a matrix, or any channel."""
    found: dict[tuple[str, ...], Channel] = {}
    for key, given in channels.items():
        names = _block(schema, blocks, key)
        if names in found:
            raise StudyError(f"the block {' x '.join(names)} has two channels", "give one of them")
        found[names] = _channel(schema, names, given)
    return found


def _block(schema: Schema, blocks: Blocks, key: str | tuple[str, ...]) -> tuple[str, ...]:
    names = (key,) if isinstance(key, str) else tuple(key)
    for name in names:
        if name not in schema.names:
            raise StudyError(f"there is a channel for {name!r}", suggest(str(name), schema.names))
    if names in blocks:
        return names
    same = [block for block in blocks if set(block) == set(names)]
    if same:
        raise StudyError(
            f"there is a channel for {' x '.join(names)}, which are a block in another order",
            f"order its rows, and name it, as the block is: {' x '.join(same[0])}",
        )
    if len(names) == 1:
        raise StudyError(
            f"attribute {names[0]!r} has its own channel but shares a block",
            "give the channel to the block, with a row for each combination of its values, or "
            "leave the attribute out of the cluster",
        )
    listed = "; ".join(" x ".join(block) for block in blocks[:5])
    more = f"; and {len(blocks) - 5} more" if len(blocks) > 5 else ""
    raise StudyError(
        f"there is a channel for {' x '.join(names)}, which are no block of the design",
        f"make them a cluster; the blocks are {listed}{more}",
    )


def _channel(schema: Schema, names: tuple[str, ...], given: Any) -> Channel:
    what = " x ".join(map(repr, names))
    # Whatever can respond means to be a channel; all else is read as rows of probabilities.
    if hasattr(given, "respond"):
        channel = checked_channel(given)
    else:
        channel = MatrixResponse.from_probabilities(given, f"the matrix of {what}")
    combinations = prod(schema[name].size for name in names)
    if len(names) == 1 and schema[names[0]].may_skip and not channel.may_skip:
        # The channel is for those who answer; it is told of the values they choose from.
        combinations -= 1
    if channel.inputs != combinations:
        kind = "values" if len(names) == 1 else "combinations of values"
        raise StudyError(
            f"the matrix of {what} has {channel.inputs} rows for {combinations} {kind}",
            "give one row for each, in the order of the values"
            + ("" if len(names) == 1 else ", those of the last attribute moving fastest"),
        )
    if channel.words_on_paper:
        _check_order(names[0], schema[names[0]].values)
    if channel.inputs < prod(schema[name].size for name in names):
        return SkipResponse(channel)  # type: ignore[arg-type]
    return channel


def skippable(
    schema: Schema, names: tuple[str, ...], design: object, epsilon: Decimal, what: str
) -> Channel:
    """The channel of a question that may be skipped, which is asked by itself."""
    if len(names) > 1 or design == "bloom":
        skipped = next(name for name in names if schema[name].may_skip)
        raise StudyError(
            f"attribute {skipped!r} may be skipped and is randomised with others"
            if len(names) > 1
            else f"attribute {skipped!r} may be skipped, and Bloom filters know no skipping",
            'ask it by itself (design "independent" or "singles"), or write missing = "category"',
        )
    return SkipResponse(KaryResponse.with_epsilon(schema[names[0]].size - 1, epsilon, what))


def _check_order(name: str, values: Sequence[str]) -> None:
    """A design that hides the second value, and is told of a yes, must not find it first."""
    first, second = (value.strip().casefold() for value in values[:2])
    if first in ("yes", "true", "1") or second in ("no", "false", "0"):
        raise StudyError(
            f"attribute {name!r} lists {values[0]!r} before {values[1]!r}",
            "its design hides the second value: list the harmless one first",
        )
