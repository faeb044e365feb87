"""How the variance of an estimate goes along with the estimate: the slope that intervals need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

import numpy as np

from castell.counting import Factor
from castell.counting.kernels import Integers
from castell.linear.operators import Floats

# Cells at a time: what is worked out of so many on the way stays in the cache.
_CELLS = 1 << 14


def growth(powers: Sequence[Floats], n: int) -> Floats:
    """How the variance of an estimate goes along with the estimate itself, times n.

    `powers` are the means of g, g^2 and g^3, where g is what a report adds. The mean of g and the
    mean of g^2 over the same reports covary; this is the slope of the second on the first,
    cov(g^2, g) / var(g). It is a correction of first order. Where noise is so large that it would
    move a 95 % interval by half its reach or more, rare reports decide and it is left out.
    """
    one, two, three = powers
    # A report that cannot vary has no slope.
    variance = np.maximum(two - one**2, 1e-300)
    slope = (three - one * two) / variance
    noisy = (variance > 1.0) & (1.96 * np.abs(slope - 2.0 * one) > np.sqrt(n * variance))
    return np.where(noisy, 2.0 * one, slope)


def margin_powers(factor: Factor, counts: Integers) -> Floats:
    """The means of g, g^2 and g^3 for one block, with one report added to each code.

    Over several blocks they are multiplied, as if the blocks' reports were independent: it is
    the stable part of the slope that counts, and single blocks have many reports for each code.
    """
    share = (counts.ravel() + 1.0) / (counts.sum() + counts.size)
    return np.array([(factor.values**power * share).sum() for power in (1, 2, 3)])


def margins_of(table: Floats) -> list[Floats]:
    """The sums over all axes but one, for each. The table itself is read twice."""
    if table.ndim == 1:
        return [table]
    front, back = table.shape[: table.ndim // 2], table.shape[table.ndim // 2 :]
    halves = table.reshape(prod(front), prod(back))
    first, last = halves.sum(axis=1).reshape(front), halves.sum(axis=0).reshape(back)
    return margins_of(first) + margins_of(last)


def product_growth(means: Sequence[Sequence[Floats]], n: int) -> Floats:
    """`growth` of every cell, whose powers are products of means, one for each part.

    Cells are flat, the last part fastest. Neither the powers nor what is made of them is ever held
    for the whole table.
    """
    sizes = [len(mean) for mean in means[0]]
    cut = next(k for k in range(len(sizes)) if k == len(sizes) - 1 or prod(sizes[k:]) <= _CELLS)
    front = [reduce(_multiply_out, own[:cut], np.ones(1)) for own in means]
    back = [reduce(_multiply_out, own[cut:], np.ones(1)) for own in means]
    result = np.empty((len(front[0]), len(back[0])))
    step = max(1, _CELLS // len(back[0]))
    for start in range(0, len(result), step):
        some = slice(start, start + step)
        powers = [np.multiply.outer(f[some], b) for f, b in zip(front, back, strict=True)]
        result[some] = growth(powers, n)
    return result.reshape(-1)


def _multiply_out(one: Floats, two: Floats) -> Floats:
    return np.multiply.outer(one, two).ravel()
