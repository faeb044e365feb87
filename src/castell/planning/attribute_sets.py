"""Sets of attributes by their places: all of one width, or some where there are too many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np


def some_sets(
    attributes: int, width: int, most: int, generator: np.random.Generator
) -> Iterator[tuple[int, ...]]:
    """All sets, or so many at random; one may come twice then."""
    if math.comb(attributes, width) <= most:
        yield from combinations(range(attributes), width)
        return
    for _ in range(most):
        chosen = generator.choice(attributes, width, replace=False)
        yield tuple(sorted(chosen.tolist()))
