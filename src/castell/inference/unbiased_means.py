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
    """The mean of each function, and their covariance."""

    values: Floats
    covariance: Floats


def through_inverse(view: Observed, functions: Floats) -> Floats:
    """Functions of the answers, one for each row over the attributes in the order asked, as
    functions of the report: a row for each over all reports."""
    back = [part.lens.inverse.transpose() for part in view.parts]
    return np.array([apply(back, view.in_block_order(one)).ravel() for one in functions])


def means_of(view: Observed, functions: Floats, *, corrected: bool = False) -> Means:
    """The means over the reports of one sample; `corrected` divides by n - 1 instead of n."""
    gains, shares = through_inverse(view, functions), view.frequencies().ravel()
    mean = gains @ shares
    square = (gains * shares) @ gains.T - np.outer(mean, mean)
    return Means(mean, square / max(view.n - corrected, 1))


def variance_of_mean(seen: Sequence[tuple[float, Observed]], function: Floats) -> float:
    """Of the weighted mean of a function of the answers over samples of different people."""
    each = (w**2 * float(means_of(view, function[None]).covariance[0, 0]) for w, view in seen)
    return max(sum(each), 0.0)


def unbiased_means(counts: Counts, functions: Sequence[Table]) -> Means:
    """The means of functions of some attributes each, from all samples that reported those."""
    many = len(functions)
    values, covariance = np.zeros(many), np.zeros((many, many))
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
        covariance[np.ix_(mine, mine)] += np.outer(weights, weights) * found.covariance
    return Means(values, covariance)
