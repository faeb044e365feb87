"""The Gaussian copula on categories: ordered values are intervals of a normal variable."""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.linear.operators import Floats

# Beyond this two attributes are as good as one.
STRONGEST = 0.97
_GRID = np.linspace(-STRONGEST, STRONGEST, 49)
_NORMAL = NormalDist()
# The integral over the correlation, between neighbours of the grid.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


def cuts(margin: Floats) -> Floats:
    """Where a normal variable is cut so that its intervals have these shares."""
    ends = np.clip(np.cumsum(margin)[:-1] / margin.sum(), 1e-9, 1.0 - 1e-9)
    return np.array([_inverse(float(end)) for end in ends])


@lru_cache(maxsize=4096)
def _inverse(share: float) -> float:
    return _NORMAL.inv_cdf(share)


def tables(one: Floats, two: Floats) -> Floats:
    """The joint table of two margins at every correlation of the grid, one after the other.

    The chance that both normal variables lie below their cuts grows with the correlation by their
    joint density (Plackett), so it is an integral over the correlation, from independence on.
    """
    a, b = cuts(one)[:, None, None, None], cuts(two)[None, :, None, None]
    low, high = _GRID[:-1, None], _GRID[1:, None]
    r = (low + high) / 2 + (high - low) / 2 * _NODES
    rest = 1.0 - r**2
    density = np.exp(-(a**2 - 2.0 * r * a * b + b**2) / (2.0 * rest)) / np.sqrt(rest)
    pieces = (density * _WEIGHTS).sum(axis=-1) * (_GRID[1] - _GRID[0]) / 2 / (2.0 * np.pi)
    path = np.concatenate([np.zeros((*pieces.shape[:2], 1)), np.cumsum(pieces, axis=-1)], axis=-1)
    path -= path[:, :, [len(_GRID) // 2]]
    below = np.outer(np.cumsum(one)[:-1], np.cumsum(two)[:-1])[:, :, None] + path
    whole = np.zeros((len(one) + 1, len(two) + 1, len(_GRID)))
    whole[1:-1, 1:-1] = below
    whole[-1, 1:] = np.cumsum(two)[:, None]
    whole[1:, -1] = np.cumsum(one)[:, None]
    return np.moveaxis(np.diff(np.diff(whole, axis=0), axis=1), -1, 0)


def correlation(table: Floats, one: Floats, two: Floats) -> float:
    """The correlation at which the copula of two margins comes nearest to a joint table."""
    far = ((tables(one, two) - table) ** 2).sum(axis=(1, 2))
    k = int(far.argmin())
    if not 0 < k < len(far) - 1:
        return float(_GRID[k])
    # The lowest point of the parabola through the best one and its neighbours.
    left, here, right = far[k - 1 : k + 2]
    bend = left - 2.0 * here + right
    shift = 0.5 * (left - right) / bend if bend > 0 else 0.0
    return float(_GRID[k] + shift * (_GRID[1] - _GRID[0]))


def nearest_correlation(matrix: Floats) -> Floats:
    """The matrix with its negative eigenvalues lifted and its diagonal put back to one."""
    values, vectors = np.linalg.eigh(matrix)
    lifted = (vectors * np.maximum(values, 1e-6)) @ vectors.T
    scale = np.sqrt(np.diag(lifted))
    return np.asarray(lifted / np.outer(scale, scale))


def sample(
    margins: list[Floats], matrix: Floats, rows: int, generator: np.random.Generator
) -> list[NDArray[Any]]:
    """Rows of codes: correlated normal variables, cut by the margins."""
    root = np.linalg.cholesky(matrix)
    normal = generator.standard_normal((rows, len(margins))) @ root.T
    return [
        np.searchsorted(cuts(margin), column).astype(np.intp)
        for margin, column in zip(margins, normal.T, strict=True)
    ]
