"""Shuffled reports of small channels, enumerated: the exact worst data set, or next to it.

The privacy blanket takes reports that are not of the background out, and so loses something where
there are few answers or few people. Here nothing is taken out: for two answers, the reports of n
people are one number, and what others answered is how many of them gave the first. These counts are
put in classes; in each, as many others are left out as the class is wide, which can only cost
privacy. Other small channels are enumerated: all answers of the others, all sets of reports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, pairwise, permutations
from math import comb, exp, prod

import numpy as np

from castell.linear.operators import Floats
from castell.study.design import Design

# Classes of what others answered: nobody is left out below so many people, then one in so many.
CLASSES = 64
# Numbers that an enumeration may look at, for one epsilon.
MOST_ENUMERATED = 1 << 20
# Sums of chances are a little off, relative to delta and in all.
_RELATIVE, _ABSOLUTE = 1e-10, 1e-14

# Delta at an epsilon, for one class of data sets.
Curve = Callable[[float], float]


def whole_matrix(design: Design, most: int = 8) -> Floats | None:
    """The chances of every report for every set of answers, if there are few of both."""
    channels = [block.channel for block in design.hidden]
    if not all(channel.has_matrix for channel in channels):
        return None
    wide = sum(
        prod(channels[place].outputs for place in sample) for sample in design.hidden_samples
    )
    sizes = {n: s for block in design.hidden for n, s in zip(block.names, block.sizes, strict=True)}
    if prod(sizes.values()) > most or wide > most:
        return None
    names = list(sizes)
    answers = np.indices([sizes[name] for name in names]).reshape(len(names), -1)
    rows = []
    for block, channel in zip(design.hidden, channels, strict=True):
        digits = [answers[names.index(name)] for name in block.names]
        codes = np.ravel_multi_index(digits, block.sizes)
        weights = np.array(channel.weights(), dtype=np.float64)
        rows.append(weights[codes] / weights[0].sum())
    tables = []
    for sample, weight in zip(design.hidden_samples, design.weights, strict=True):
        table = np.full((answers.shape[1], 1), weight / design.total_weight)
        for place in sample:
            table = (table[:, :, None] * rows[place][:, None, :]).reshape(len(table), -1)
        tables.append(table)
    return np.unique(np.hstack(tables), axis=0)


def curves(matrix: Floats, n: int) -> Iterator[Curve]:
    """Delta of every class of data sets; the worst of them is a bound. None if all are too many."""
    if matrix.shape == (2, 2):
        yield from _two_answers(matrix, n)
    else:
        most = _enumerable(matrix.shape, n)
        if most > 1:
            yield _enumerate_answers(matrix, most)


def _two_answers(matrix: Floats, n: int) -> Iterator[Curve]:
    first, second = float(matrix[0, 1]), float(matrix[1, 1])  # chances to report the second value
    ends = sorted({i * n // CLASSES for i in range(CLASSES + 1)})
    # The outermost classes are the worst or nearly so: later ones need only be looked at.
    classes = sorted(pairwise(ends), key=lambda ends: -abs(ends[0] + ends[1] - n))
    for low, high in classes:
        # Between `low` and `high` - 1 of the n - 1 others gave the first answer.
        others = _convolve(_binomial(low, first), _binomial(n - high, second))
        yield _curve_of_two(others, first, second, n)


def _curve_of_two(others: Floats, first: float, second: float, n: int) -> Curve:
    ones = [
        np.append(others, 0.0) * (1.0 - chance) + np.append(0.0, others) * chance
        for chance in (first, second)
    ]

    def delta(epsilon: float) -> float:
        gaps = (ones[i] - exp(epsilon) * ones[1 - i] for i in (0, 1))
        worst = max(float(np.maximum(gap, 0.0).sum()) for gap in gaps)
        return worst * (1.0 + _RELATIVE * n) + _ABSOLUTE

    return delta


def _binomial(many: int, chance: float) -> Floats:
    """Chances of a binomial number, but for some 1e-15 in the tails."""
    wide = int(9.0 * np.sqrt(many * chance * (1.0 - chance))) + 40
    middle = int(many * chance)
    low, high = max(0, middle - wide), min(many, middle + wide)
    number = np.arange(low, high, dtype=np.float64)
    ratios = np.log((many - number) / (number + 1.0)) + np.log(chance / (1.0 - chance))
    logs = np.append(0.0, np.cumsum(ratios))
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _convolve(one: Floats, two: Floats) -> Floats:
    wide = len(one) + len(two) - 1
    if min(len(one), len(two)) < 64:
        return np.convolve(one, two)
    size = 1 << (wide - 1).bit_length()
    found = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(two, size), size)
    return np.maximum(found[:wide], 0.0)


def _enumerable(shape: tuple[int, ...], n: int) -> int:
    """The most people, up to n, whose reports can be enumerated; 1 if none can."""
    answers, reports = shape

    def cells(people: int) -> int:
        data_sets = answers * answers * comb(people + answers - 2, answers - 1)
        return data_sets * comb(people + reports - 1, reports - 1)

    most = 1
    while most < n and cells(most + 1) <= MOST_ENUMERATED:
        most += 1
    return most


def _enumerate_answers(matrix: Floats, n: int) -> Curve:
    """All answers of n - 1 others, all sets of n reports."""
    answers, reports = matrix.shape
    every, last = np.ones((1, 1)), np.zeros(1, dtype=np.intp)  # nobody; each data set is made once
    for people in range(n):
        places = _with_one_more(people, reports)
        if people == n - 1:
            with_own = [_with_report(every, row, places) for row in matrix]
            break
        grown = [_with_report(every[last <= x], row, places) for x, row in enumerate(matrix)]
        last = np.repeat(np.arange(answers), [len(one) for one in grown])
        every = np.concatenate(grown)

    def delta(epsilon: float) -> float:
        worst = 0.0
        for one, two in permutations(with_own, 2):
            gap = np.maximum(one - exp(epsilon) * two, 0.0)
            worst = max(worst, float(gap.sum(axis=1).max()))
        return worst * (1.0 + _RELATIVE) + _ABSOLUTE

    return delta


def _with_one_more(people: int, reports: int) -> list[list[int]]:
    """For each report, the place of every set of so many when the report is added to it, among the
    sets of one more. A set is a sorted tuple, in the order that itertools lists them."""
    larger = combinations_with_replacement(range(reports), people + 1)
    place = {found: i for i, found in enumerate(larger)}
    smaller = list(combinations_with_replacement(range(reports), people))
    return [[place[tuple(sorted((*found, y)))] for found in smaller] for y in range(reports)]


def _with_report(every: Floats, row: Floats, places: list[list[int]]) -> Floats:
    """The chances of all sets of reports, with one more of a row."""
    found = np.zeros((len(every), 1 + max(map(max, places))))
    for chance, moved in zip(row, places, strict=True):
        found[:, moved] += chance * every  # no two sets become the same by one report
    return found
