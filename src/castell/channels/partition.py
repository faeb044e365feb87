"""A block that asks coarsely: its answers are put together in leaves, and the leaf is randomised.

Each leaf is a box, a set of values for every attribute of the block; together they hold every
combination of answers once. Merged values are the case in which the boxes are a grid. A report says
less of each answer than that of a finer block and so more surely what it says: which leaf it is.
Answers of one leaf cannot be told apart, so there is no way back out, only a likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.channels.block_margins import no_forward
from castell.channels.cyclic import CyclicResponse
from castell.channels.document_entries import entries
from castell.channels.hadamard import HadamardResponse
from castell.channels.kary import KaryResponse
from castell.channels.matrix import MatrixResponse
from castell.channels.protocol import Lens, Traits, Words
from castell.errors import ChannelError, QueryError
from castell.linear.operators import Dense, Floats, Operator
from castell.numbers import is_whole

# Every device writes the leaf of each combination down.
MOST_ANSWERS = 1 << 20
# What each report tells of each leaf is worked out, on devices too.
MOST_LEAVES = 1024

Box = tuple[tuple[int, ...], ...]  # for each attribute the codes that are inside
Inner = KaryResponse | CyclicResponse | HadamardResponse | MatrixResponse
_INNER = {c.kind: c for c in (KaryResponse, CyclicResponse, HadamardResponse, MatrixResponse)}


@dataclass(frozen=True)
class PartitionResponse(Traits):
    """The leaf of an answer, through a channel on leaves.

    >>> leaves = (((0,), (0,)), ((0,), (1, 2)), ((1,), (0, 1, 2)))
    >>> channel = PartitionResponse((2, 3), leaves, KaryResponse(3, 4, 1))
    >>> channel.leaf_of.tolist()
    [0, 1, 1, 2, 2, 2]
    """

    kind: ClassVar[str] = "partition"
    title: ClassVar[str] = "randomised response of groups of answers"
    reports_answers: ClassVar[bool] = False
    has_digits: ClassVar[bool] = False
    has_matrix: ClassVar[bool] = True
    has_forward: ClassVar[bool] = True
    has_inverse: ClassVar[bool] = False

    sizes: tuple[int, ...]
    leaves: tuple[Box, ...]
    inner: Inner

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", _codes(self.sizes, 2))
        object.__setattr__(self, "leaves", _boxes(self.leaves))
        if not self.sizes or prod(self.sizes) > MOST_ANSWERS:
            raise ChannelError(
                f"a partition of {len(self.sizes)} attributes has no or too many combinations",
                f"keep the combinations of a block's values below {MOST_ANSWERS + 1}",
            )
        if len(self.leaves) > MOST_LEAVES:
            raise ChannelError(
                f"a partition has {len(self.leaves):,} leaves, above {MOST_LEAVES:,}",
                "merge more values, or ask for fewer attributes in one block",
            )
        if type(self.inner) not in _INNER.values() or self.inner.inputs != len(self.leaves):
            raise ChannelError(
                f"a partition into {len(self.leaves)} leaves has a channel of another kind or size",
                f"give a channel of kind {', '.join(_INNER)} with an answer for each leaf",
            )
        for box in self.leaves:
            fits = len(box) == len(self.sizes) and all(
                codes and codes[-1] < size and list(codes) == sorted(set(codes))
                for codes, size in zip(box, self.sizes, strict=True)
            )
            if not fits:
                raise ChannelError(
                    f"the leaf {box} is no box of values",
                    "list for each attribute the codes inside it, ascending and each once",
                )
        # Counted before they are listed: a published study must not fill a device's memory.
        listed = sum(prod(map(len, box)) for box in self.leaves)
        if listed != self.inputs or np.bincount(np.concatenate(self._inside)).max() > 1:
            raise ChannelError(
                "the leaves of a partition overlap or leave answers out",
                "make them hold every combination of values once",
            )

    @classmethod
    def grid(cls, sizes: Sequence[int], groups: Sequence[Sequence[Sequence[int]]]) -> list[Box]:
        """The leaves of merged values: for each attribute the groups its values fall into.

        >>> PartitionResponse.grid((2, 3), ([[0], [1]], [[0], [1, 2]]))[1]
        ((0,), (1, 2))
        """
        if len(groups) != len(sizes):
            raise ChannelError("some attribute has no groups", "give them for each")
        return [tuple(tuple(sorted(codes)) for codes in box) for box in product(*groups)]

    @cached_property
    def _inside(self) -> list[NDArray[np.intp]]:
        """The answers of each leaf."""
        return [
            np.ravel_multi_index(np.ix_(*map(np.array, box)), self.sizes).ravel()
            for box in self.leaves
        ]

    @cached_property
    def leaf_of(self) -> NDArray[np.intp]:
        """The leaf of each answer."""
        found = np.empty(self.inputs, dtype=np.intp)
        for leaf, answers in enumerate(self._inside):
            found[answers] = leaf
        return found

    @property
    def coarse(self) -> PartitionResponse:
        return self

    def tells(self, many: int) -> bool:  # noqa: ARG002
        return False

    def fits(self, sizes: Sequence[int]) -> bool:
        return self.sizes == tuple(sizes)

    @property
    def volumes(self) -> list[int]:
        """How many answers each leaf holds."""
        return [len(answers) for answers in self._inside]

    def members(self, place: int) -> Floats:
        """Which values of an attribute are inside each leaf: a row of 0 and 1 for each."""
        found = np.zeros((len(self.leaves), self.sizes[place]))
        for leaf, box in enumerate(self.leaves):
            found[leaf, list(box[place])] = 1.0
        return found

    @property
    def inputs(self) -> int:
        return prod(self.sizes)

    @property
    def outputs(self) -> int:
        return self.inner.outputs

    @property
    def total(self) -> int:
        return self.inner.total

    @property
    def draws(self) -> int:
        return self.inner.draws

    @property
    def exact_epsilon(self) -> Decimal:
        return self.inner.exact_epsilon  # every leaf has answers, so no two rows of it are lost

    @property
    def epsilon(self) -> float:
        return self.inner.epsilon

    @property
    def forward(self) -> Operator:
        return Dense(self.inner.forward.dense()[:, self.leaf_of])

    @property
    def inverse(self) -> Operator:
        raise no_inverse()

    def weights(self) -> list[list[int]]:
        rows = self.inner.weights()
        return [list(rows[leaf]) for leaf in self.leaf_of]

    def respond(self, codes: NDArray[Any], numbers: Words) -> NDArray[Any]:
        # One look into a table, whatever the answer.
        return self.inner.respond(self.leaf_of[codes], numbers)

    def project(self, sizes: Sequence[int], keep: Sequence[int]) -> Lens:
        if len(keep) == len(sizes):
            return self
        return PartitionMargin(self, tuple(keep))

    @property
    def best_guess(self) -> float:
        return _best(self._columns, self.total * self.inputs)

    @property
    def worst_guess(self) -> float:
        each = zip(self._columns, self._sums, strict=True)
        return float(max(Fraction(max(column), total) for column, total in each))

    @cached_property
    def _columns(self) -> list[list[int]]:
        """For each report the weight of each leaf."""
        return [list(column) for column in zip(*self.inner.weights(), strict=True)]

    @cached_property
    def _sums(self) -> list[int]:
        """For each report the weight of all answers."""
        volumes = self.volumes
        return [
            sum(w * v for w, v in zip(column, volumes, strict=True)) for column in self._columns
        ]

    def document(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "sizes": list(self.sizes),
            "leaves": [[list(codes) for codes in box] for box in self.leaves],
            "channel": self.inner.document(),
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> PartitionResponse:
        sizes, leaves, inner = entries(document, "sizes", "leaves", "channel")
        kind = inner.get("kind") if isinstance(inner, dict) else None
        if not isinstance(kind, str) or kind not in _INNER:
            raise ChannelError(
                f"the leaves of a partition go through a channel of kind {kind!r}",
                f"use one of {', '.join(_INNER)}",
            )
        return cls(sizes, leaves, _INNER[kind].from_document(inner))


@dataclass(frozen=True, eq=False)
class PartitionMargin:
    """Some attributes of a block that asks coarsely. Only ever looked through."""

    has_forward: ClassVar[bool] = False

    block: PartitionResponse
    keep: tuple[int, ...]

    @property
    def forward(self) -> Operator:
        raise no_forward()

    @property
    def inverse(self) -> Operator:
        raise no_inverse()

    @cached_property
    def _columns(self) -> list[list[int]]:
        """For each report the weights of the kept combinations, as exact whole numbers."""
        shape = [self.block.sizes[i] for i in self.keep]
        each = []
        for box in self.block.leaves:
            inside = np.zeros(shape, dtype=np.int64)
            rest = prod(len(codes) for i, codes in enumerate(box) if i not in self.keep)
            inside[np.ix_(*(list(box[i]) for i in self.keep))] = rest
            each.append(inside.ravel().tolist())
        cells = list(zip(*each, strict=True))
        return [
            [sum(w * v for w, v in zip(column, cell, strict=True)) for cell in cells]
            for column in self.block._columns
        ]

    @property
    def best_guess(self) -> float:
        return _best(self._columns, self.block.total * self.block.inputs)

    @property
    def worst_guess(self) -> float:
        return float(max(Fraction(max(column), sum(column)) for column in self._columns))


def no_inverse() -> QueryError:
    """What is said where a channel cannot be taken back out."""
    return QueryError(
        "a block that asks coarsely does not tell its answers apart",
        "use a method that fits a model to all reports, such as auto",
    )


def _best(columns: list[list[int]], total: int) -> float:
    best: int = sum(max(column) for column in columns)
    return best / total


def _codes(listed: Any, least: int) -> tuple[int, ...]:
    try:
        found = tuple(listed)
    except TypeError:
        found = (None,)
    for value in found:
        if not is_whole(value, least):
            raise ChannelError(f"{value!r} is no size or code", f"give integers from {least} up")
    return tuple(int(value) for value in found)


def _boxes(listed: Any) -> tuple[Box, ...]:
    try:
        return tuple(tuple(_codes(codes, 0) for codes in box) for box in listed)
    except TypeError:
        raise ChannelError("the leaves are no boxes", "give a list of lists of codes") from None
