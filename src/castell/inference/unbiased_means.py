"""Unbiased means of any functions of the answers, and how they err together.

A function f of the answers, through the transposed inverse channels, is a function of the report
with the same mean. So its mean over the reports is an unbiased estimate, and what it varies by over
the reports is its error. Reports of different samples are of different people: they are averaged
with the weights of `support.sources`, and their variances add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from castell.counting import Counts
from castell.inference.inversion import Observed, observe
from castell.inference.pooled_table import sources
from castell.linear.operators import Floats, apply
from castell.linear.table import Table


@dataclass(frozen=True, eq=False)
class Means:
    """The mean of each function, their covariance, and how much of it the noise alone makes."""

    values: Floats
    covariance: Floats
    noise: Floats


def through_inverse(view: Observed, functions: Floats) -> Floats:
    """Functions of the answers, one for each row over the attributes in the order asked, as
    functions of the report: a row for each over all reports."""
    back = [part.lens.inverse.transpose() for part in view.parts]
    return np.array([apply(back, view.in_block_order(one)).ravel() for one in functions])


def means_of(view: Observed, functions: Floats) -> Means:
    """The means over the reports of one sample.

    A report's function has the answer's own as its mean, so what is left of its mean square is
    noise: without noise nothing.
    """
    gains, shares = through_inverse(view, functions), view.frequencies().ravel()
    mean, square = gains @ shares, (gains * shares) @ gains.T
    flat = functions.reshape(len(functions), -1)
    answers = (flat * view.invert().ravel()) @ flat.T
    return Means(mean, (square - np.outer(mean, mean)) / view.n, (square - answers) / view.n)


def variance_of_mean(seen: Sequence[tuple[float, Observed]], function: Floats) -> float:
    """Of the weighted mean of a function of the answers over samples of different people."""
    total = 0.0
    for weight, view in seen:
        gain, shares = through_inverse(view, function[None])[0], view.frequencies().ravel()
        total += weight**2 * float(gain**2 @ shares - (gain @ shares) ** 2) / view.n
    return max(total, 0.0)


def unbiased_means(counts: Counts, functions: Sequence[Table]) -> Means:
    """The means of functions of some attributes each, from all samples that reported those."""
    many = len(functions)
    values = np.zeros(many)
    covariance, noise = np.zeros((many, many)), np.zeros((many, many))
    groups = list(dict.fromkeys(one.names for one in functions))
    for source in sources(counts, groups):
        mine = [k for k, one in enumerate(functions) if one.names in source.weights]
        names = tuple(dict.fromkeys(name for k in mine for name in functions[k].names))
        view = observe(source.reports, names)
        tables = np.array(
            [np.broadcast_to(functions[k].along(names), view.shape) for k in mine], dtype=np.float64
        )
        weights = np.array([source.weights[functions[k].names] for k in mine])
        found = means_of(view, tables)
        values[mine] += weights * found.values
        both, square = np.ix_(mine, mine), np.outer(weights, weights)
        covariance[both] += square * found.covariance
        noise[both] += square * found.noise
    return Means(values, covariance, noise)
