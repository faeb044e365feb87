"""A channel on a block of several attributes, seen by some of them alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from castell.errors import QueryError
from castell.linear.operators import Dense, Operator


def answers_behind(sizes: Sequence[int], keep: Sequence[int]) -> list[NDArray[np.intp]]:
    """For each combination of the kept attributes the block's answers it stands for.

    >>> [answers.tolist() for answers in answers_behind((2, 3), (0,))]
    [[0, 1, 2], [3, 4, 5]]
    """
    codes = np.arange(prod(sizes)).reshape(sizes)
    rest = [i for i in range(len(sizes)) if i not in keep]
    kept = prod(sizes[i] for i in keep)
    return list(codes.transpose([*keep, *rest]).reshape(kept, -1))


def no_forward() -> QueryError:
    """What is said where a margin has no `forward`."""
    return QueryError(
        "how some attributes of this block come to be reported depends on the others",
        "use a method that looks at whole blocks (castell.methods_for(study) names them)",
    )


@dataclass(frozen=True, eq=False)
class MatrixMargin:
    """Some attributes of a block through any matrix. Only ever looked through.

    `weights` are those of the whole block. An answer of the margin stands for several of the
    block's, so its rows of the inverse are theirs added up; reports are always the whole block's.
    """

    has_forward: ClassVar[bool] = False

    weights: tuple[tuple[int, ...], ...]
    block_inverse: Operator
    sizes: tuple[int, ...]
    keep: tuple[int, ...]

    @property
    def forward(self) -> Operator:
        raise no_forward()

    @cached_property
    def inverse(self) -> Dense:
        behind = answers_behind(self.sizes, self.keep)
        return Dense(np.array([self.block_inverse.combine(answers) for answers in behind]))

    @cached_property
    def _columns(self) -> list[list[int]]:
        """For each report the weights of the kept combinations, as exact whole numbers."""
        behind = answers_behind(self.sizes, self.keep)
        return [
            [sum(column[x] for x in answers) for answers in behind]
            for column in zip(*self.weights, strict=True)
        ]

    @property
    def best_guess(self) -> float:
        best = sum(max(column) for column in self._columns)
        return best / sum(map(sum, self.weights))

    @property
    def worst_guess(self) -> float:
        return float(max(Fraction(max(column), sum(column)) for column in self._columns))
