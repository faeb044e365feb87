"""How far two tables are apart, and how dependent two attributes are.

The names are the paper's: AVD is the largest difference of any cell (averaged over attribute sets
by `over_sets`), MAE and MSE are means over cells.

>>> truth, guess = np.array([[0.4, 0.0], [0.2, 0.4]]), np.array([[0.45, -0.15], [0.25, 0.45]])
>>> round(avd(truth, guess), 4), round(mse(truth, guess), 4)
(0.15, 0.0075)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from castell.linear.operators import Floats


def _difference(truth: ArrayLike, estimate: ArrayLike) -> Floats:
    a, b = np.asarray(truth, dtype=np.float64), np.asarray(estimate, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"tables of shapes {a.shape} and {b.shape} cannot be compared")
    return np.abs(a - b)


def avd(truth: ArrayLike, estimate: ArrayLike) -> float:
    """The largest absolute difference of any cell."""
    return float(_difference(truth, estimate).max())


def mae(truth: ArrayLike, estimate: ArrayLike) -> float:
    """The mean absolute difference over cells."""
    return float(_difference(truth, estimate).mean())


def mse(truth: ArrayLike, estimate: ArrayLike) -> float:
    """The mean squared difference over cells."""
    return float((_difference(truth, estimate) ** 2).mean())


def tvd(truth: ArrayLike, estimate: ArrayLike) -> float:
    """The total variation distance: half the sum of absolute differences."""
    return float(_difference(truth, estimate).sum() / 2)


def cramers_v(table: ArrayLike, *, noise: ArrayLike | None = None) -> float:
    """Cramer's V of a two-way table of probabilities (or counts).

    The squared differences of an estimated table hold its noise too. Given the variance of each
    cell, `noise`, that part is taken out; an estimate that is all noise then has V near 0.

    >>> round(cramers_v([[0.4, 0.0], [0.2, 0.4]]), 3)
    0.667
    """
    p = np.asarray(table, dtype=np.float64)
    if p.ndim != 2 or min(p.shape) < 2:
        raise ValueError("Cramer's V is of a table with two attributes of two values or more")
    total = p.sum()
    p = p / total
    product = np.outer(p.sum(axis=1), p.sum(axis=0))
    squares = (p - product) ** 2
    if noise is not None:
        squares = squares - np.asarray(noise, dtype=np.float64) / total**2
    # Margins estimated at or below zero say nothing of dependence.
    usable = product > 0
    chi2 = float((squares[usable] / product[usable]).sum())
    return float(np.sqrt(np.clip(chi2 / (min(p.shape) - 1), 0.0, 1.0)))


METRICS: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "avd": avd,
    "mae": mae,
    "mse": mse,
    "tvd": tvd,
}


def attribute_sets(
    names: Sequence[str], width: int, most: int | None = None, seed: int = 0
) -> list[tuple[str, ...]]:
    """All sets of some width, or `most` of them chosen at random.

    >>> attribute_sets(["a", "b", "c"], 2)
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    sets = list(combinations(names, width))
    if most is None or len(sets) <= most:
        return sets
    chosen = np.random.default_rng(seed).choice(len(sets), most, replace=False)
    return [sets[i] for i in sorted(chosen)]


def over_sets(
    truth: Callable[[tuple[str, ...]], ArrayLike],
    estimate: Callable[[tuple[str, ...]], ArrayLike],
    sets: Iterable[tuple[str, ...]],
    metrics: Sequence[str] = ("avd", "tvd"),
) -> dict[str, Any]:
    """The mean of each metric over many attribute sets, and its values in the order of the sets."""
    values: dict[str, list[float]] = {name: [] for name in metrics}
    for names in sets:
        true, guess = truth(names), estimate(names)
        for name in metrics:
            values[name].append(METRICS[name](true, guess))
    return {name: (float(np.mean(found)), found) for name, found in values.items()}
