"""How wrong a model will be about associations, before there are reports to measure it by.

`inference/model_error.py` measures beta^2, a model's mean squared error for a unit of association,
on reports held out from the model. Here the same calculation is done on what is expected of these
reports. For a pair of attributes and groups of their values, let r be the association in the
population and v the variance of its unbiased estimate from all reports. The best estimate that
shrinks towards independence errs by

    e^2 = r^2 v / (r^2 + v)

in mean square (James and Stein's risk; r^2 is averaged over the groups of a pair). The held-out
reports, a fifth of all, then differ from the model by e^2 + 5 v in mean square, and beta^2 is what
the composite likelihood of such differences gives. No constant is fitted: what a model learns of an
association from other pairs, and what it loses by being fitted to four fifths and to noise, about
cancel (benchmarks/plan.py measures it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from castell.counting import Counts, samples_of
from castell.inference.inversion import observe
from castell.inference.latent.cross_fit_error import MOST_PAIRS
from castell.inference.model_error import (
    AssociationError,
    Pair,
    Residuals,
    association_error,
    groups_of,
    residuals,
)
from castell.linear.operators import Floats
from castell.planning.population import Population

FOLDS = 5


@dataclass(frozen=True, eq=False)
class PairNoise:
    """A pair of attributes in one sample: its associations, and the variance of each for one
    report."""

    pair: Pair
    sample: int
    square: float  # the association, squared, on average over groups of values
    variances: Floats
    weights: Floats


def pair_noise(counts: Counts, population: Population) -> tuple[PairNoise, ...]:
    """What one report of each sample leaves open of every pair it holds, or of some of them."""
    # Repeatable: nobody's privacy depends on it.
    generator = np.random.default_rng(0)
    groups: Mapping[str, Floats] = {
        name: groups_of(population.table([name]), generator) for name in counts.study.names
    }
    keys = list(_keys(counts))
    found = []
    for i, one, two in keys[:: max(-(-len(keys) // MOST_PAIRS), 1)]:
        sample = samples_of(counts)[i]
        view = observe(sample, [one, two])
        table = population.table([one, two])
        told = residuals([view], [table], view.frequencies(), groups[one], groups[two])
        if told is None:
            continue
        r = np.einsum("ka,ab,kb->k", groups[one], table, groups[two])
        # A sample of people shows associations where there are none.
        square = max(float(np.mean(r**2)) - 1.0 / population.people, 0.0)
        found.append(
            PairNoise(
                frozenset((one, two)), i, square, told.variances * view.n, told.weights
            )
        )
    return tuple(found)


def _keys(counts: Counts) -> Iterator[tuple[int, str, str]]:
    order = {name: i for i, name in enumerate(counts.study.names)}
    for i, sample in enumerate(samples_of(counts)):
        if sample.n:
            names = sorted(sample.study.names, key=order.__getitem__)
            yield from ((i, one, two) for one, two in combinations(names, 2))


def predicted_error(noise: tuple[PairNoise, ...], counts: Counts) -> AssociationError:
    """beta^2, overall and of each pair, as reports of these numbers would measure it."""
    reports = [sample.n for sample in samples_of(counts)]
    known: dict[Pair, float] = {}
    for each in noise:
        if reports[each.sample]:
            told = reports[each.sample] / float(each.variances.mean())
            known[each.pair] = known.get(each.pair, 0.0) + told
    found: dict[Pair, list[Residuals]] = {}
    for each in noise:
        if not reports[each.sample]:
            continue
        left = 1.0 / known[each.pair]
        wrong = each.square * left / (each.square + left) if each.square else 0.0
        fold = FOLDS * each.variances / reports[each.sample]
        made = Residuals(np.sqrt(wrong + fold), fold, each.weights)
        found.setdefault(each.pair, []).append(made)
    return association_error(found)
