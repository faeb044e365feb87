"""Designs: which attributes are randomised together, and with what budget.

RR-Independent, RR-Clusters and RR-Joint are one thing: a partition of the attributes into blocks,
each with one channel. The total a respondent spends is the sum over the blocks they report, always
computed from the channels' weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from castell.budget import EXACT, as_decimal, rounded_up, total_of
from castell.channel import (
    BloomResponse,
    Channel,
    KaryResponse,
    Lens,
    MatrixResponse,
    bloom_filters,
)
from castell.errors import StudyError
from castell.schema import Schema, suggest


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

    def axes(self, index: int, names: Sequence[str]) -> tuple[Axis, ...]:
        """What some attributes contribute to a report, if this is block `index` of its design."""
        if len(self.names) == 1:
            # A channel of one attribute may have more reports than there are answers.
            return (Axis(index, 1, self.channel.outputs, inner=False),)
        axes = []
        for i, name in enumerate(self.names):
            if name in names:
                stride = math.prod(self.sizes[i + 1 :])
                axes.append(Axis(index, stride, self.sizes[i], inner=i > 0))
        return tuple(axes)


@dataclass(frozen=True)
class Design:
    """The blocks of a study, in the order of the report.

    Every respondent reports every block. What reads reports never takes that for granted: an
    estimate divides by the reports that hold the blocks it needs, so a design in which
    respondents draw some of the blocks at random changes nothing downstream.
    """

    blocks: tuple[Block, ...]

    @property
    def exact_epsilon(self) -> Decimal:
        return total_of(block.channel.exact_epsilon for block in self.blocks)

    @property
    def epsilon(self) -> float:
        """What one respondent spends in all."""
        return rounded_up(self.exact_epsilon)

    def holders(self, name: str) -> tuple[int, ...]:
        """The blocks that hold an attribute."""
        return tuple(i for i, block in enumerate(self.blocks) if name in block.names)


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
    channels: Mapping[str, object] | None = None,
) -> Design:
    """A design from what a person writes: a total, perhaps shares, perhaps matrices."""
    groups = _groups(schema, design)
    fixed = {name: _matrix_channel(schema, name, m) for name, m in (channels or {}).items()}
    for name in fixed:
        if (name,) not in groups:
            raise StudyError(
                f"attribute {name!r} has its own matrix but shares a block",
                "give the matrix up or leave the attribute out of the cluster",
            )
    spent = _spend(schema, epsilon, shares or {}, fixed)
    blocks = []
    for names in groups:
        sizes = tuple(schema[name].size for name in names)
        channel: Channel
        if names[0] in fixed:
            channel = fixed[names[0]]
        else:
            what = f"the share of {' x '.join(names)}"
            share = total_of(spent[name] for name in names)
            if design == "bloom":
                filters = bloom_filters(names[0], schema[names[0]].values)
                channel = BloomResponse.with_epsilon(filters, share, what)
            else:
                channel = KaryResponse.with_epsilon(math.prod(sizes), share, what)
        blocks.append(Block(names, sizes, channel))
    return Design(tuple(blocks))


def _groups(schema: Schema, design: object) -> list[tuple[str, ...]]:
    if design in ("independent", "bloom"):
        return [(name,) for name in schema.names]
    if design == "joint":
        return [schema.names]
    if isinstance(design, str) or not isinstance(design, Sequence):
        raise StudyError(
            f"{design!r} is not a design",
            "use 'independent', 'joint', 'bloom' or clusters, a list of lists of attribute names",
        )
    groups: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for cluster in design:
        if isinstance(cluster, str) or not isinstance(cluster, Sequence) or not cluster:
            raise StudyError(
                f"{cluster!r} is not a cluster", "write each as a list of attribute names"
            )
        for name in cluster:
            if name not in schema.names:
                raise StudyError(
                    f"a cluster names {name!r}, which is no attribute",
                    suggest(str(name), schema.names),
                )
            if name in seen:
                raise StudyError(
                    f"attribute {name!r} is in two clusters",
                    "it would be reported twice; put it in one",
                )
            seen.add(name)
        groups.append(tuple(cluster))
    groups += [(name,) for name in schema.names if name not in seen]
    order = {name: i for i, name in enumerate(schema.names)}
    return sorted(groups, key=lambda names: min(order[name] for name in names))


def _matrix_channel(schema: Schema, name: str, matrix: object) -> Channel:
    if name not in schema.names:
        raise StudyError(f"there is a matrix for {name!r}", suggest(name, schema.names))
    if isinstance(matrix, (KaryResponse, MatrixResponse)):
        channel: Channel = matrix
    else:
        channel = MatrixResponse.from_probabilities(matrix, f"the matrix of {name!r}")
    if channel.inputs != schema[name].size:
        raise StudyError(
            f"the matrix of {name!r} has {channel.inputs} rows for {schema[name].size} values",
            "give one row per value, in the order of the values",
        )
    return channel


def _spend(
    schema: Schema,
    epsilon: object | None,
    shares: Mapping[str, object],
    fixed: Mapping[str, Channel],
) -> dict[str, Decimal]:
    """Each attribute's share of the total: as given, the rest in equal parts."""
    spent: dict[str, Decimal] = {name: c.exact_epsilon for name, c in fixed.items()}
    for name, share in shares.items():
        if name not in schema.names:
            raise StudyError(f"there is a share for {name!r}", suggest(name, schema.names))
        if name in fixed:
            raise StudyError(
                f"attribute {name!r} has a share and a matrix",
                "the matrix says what it costs; leave the share out",
            )
        spent[name] = as_decimal(share, f"the share of {name!r}")
    rest = [name for name in schema.names if name not in spent]
    given = total_of(spent.values())
    if epsilon is None:
        if rest:
            raise StudyError(
                f"there is no epsilon and no share for {', '.join(rest)}",
                "give epsilon, what one respondent spends in all, for example 4.0",
            )
        return spent
    total = as_decimal(epsilon)
    if given > total or (rest and given == total):
        raise StudyError(
            f"the shares sum to {given:.6g} of a total epsilon of {total:.6g}",
            "raise epsilon or lower the shares" + (f"; {rest[0]} needs one too" if rest else ""),
        )
    # A given matrix costs what it costs, so only shares that people wrote can be expected to fit.
    if not rest and given < total and not fixed:
        raise StudyError(
            f"the shares sum to {given:.6g}, less than epsilon = {total:.6g}",
            "leave epsilon out, or leave one attribute without a share to take the rest",
        )
    for name in rest:
        spent[name] = EXACT.divide(EXACT.subtract(total, given), Decimal(len(rest)))
    return spent
