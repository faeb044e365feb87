"""The event that tells two answers apart best: chosen on some reports, to be tested on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import erfc, sqrt
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from castell.auditing.audited_codes import Part, Row
from castell.auditing.devices import Codes
from castell.auditing.exact_bounds import epsilon_at_least
from castell.inference.chisquare import tail
from castell.linear.operators import Floats

Reports = NDArray[np.bool_]  # which reports belong to an event

# Below so many expected reports the chi-square distribution is not to be relied on far out, where
# an audit that must hardly ever be wrong looks.
LEAST_EXPECTED_FAR_OUT = 50.0


@dataclass(frozen=True)
class Event:
    """Some reports of a part, likelier under the first of two rows than under the second."""

    part: Part
    first: Row
    second: Row
    reports: Reports
    # The chances that the weights give it.
    likely: float
    unlikely: float


def choose(part: Part, rows: Sequence[Row], codes: Sequence[Codes]) -> Event:
    """The event with the largest likely bound, over every two rows, by some reports of each.

    Sets of reports that are tried are the one of the weights, and those that tell most in half of
    the reports: one, two, four of them, and so on. The other half says how good each is; the same
    half would be too kind to its own.
    """
    proposing = [part.counts(made[::2]) for made in codes]
    counts = [part.counts(made[1::2]) for made in codes]
    found: list[tuple[float, Event]] = []
    chances_of = [part.chances(row) for row in rows]
    for i, j in permutations(range(len(rows)), 2):
        one, two = chances_of[i], chances_of[j]
        for reports in _sets(one, two, proposing[i], proposing[j]):
            gain = _likely_bound(counts[i], counts[j], reports)
            chances = float(one[reports].sum()), float(two[reports].sum())
            found.append((gain, Event(part, rows[i], rows[j], reports, *chances)))
    return max(found, key=itemgetter(0))[1]


def _sets(one: Floats, two: Floats, first: Floats, second: Floats) -> list[Reports]:
    found = [likeliest(one, two)]
    order = np.argsort(-(first + 0.5) / (second + 0.5), kind="stable")
    size = 1
    while size < len(order):
        reports = np.zeros(len(order), dtype=np.bool_)
        reports[order[:size]] = True
        found.append(reports)
        size *= 2
    return found


def likeliest(one: Floats, two: Floats) -> Reports:
    """The reports that one row makes most likelier than another; one that neither makes is none."""
    ratio = np.divide(one, two, out=np.zeros_like(one), where=two > 0.0)
    return np.asarray(ratio >= ratio.max() * (1.0 - 1e-9))


def _likely_bound(first: Floats, second: Floats, reports: Reports) -> float:
    """About what the bound will be: the log of the ratio less five standard errors.

    Many sets are tried, so a few are lucky by three or four of them.
    """
    n, m = float(first.sum()), float(second.sum())
    p = (float(first[reports].sum()) + 0.5) / (n + 1.0)
    q = (float(second[reports].sum()) + 0.5) / (m + 1.0)
    return float(np.log(p / q)) - 5.0 * sqrt((1.0 - p) / (n * p) + (1.0 - q) / (m * q))


@dataclass(frozen=True)
class Bound:
    """What was measured of one part: epsilon is at least `lower`, and stated as `epsilon`.

    The event was seen in `hits` of `trials` reports of one row of answers and in `other_hits` of
    `other_trials` of the other; the published weights expect `expected` as the bound.
    """

    name: str
    epsilon: float
    lower: float
    expected: float
    hits: int
    trials: int
    other_hits: int
    other_trials: int

    @property
    def holds(self) -> bool:
        return self.lower <= self.epsilon


def bound(
    name: str,
    epsilon: float,
    hits: Reports,
    others: Reports,
    chances: tuple[float, float],
    alpha: float,
) -> Bound:
    """The bound of an event, seen or not by each of some people and of some others."""
    n, m = len(hits), len(others)
    a, b = int(hits.sum()), int(others.sum())
    expected = epsilon_at_least(round(n * chances[0]), n, round(m * chances[1]), m, alpha)
    return Bound(name, epsilon, epsilon_at_least(a, n, b, m, alpha), expected, a, n, b, m)


def fit_of(counts: Floats, chances: Floats) -> float:
    """How often counts stray at least so far from their chances (Pearson's chi-square)."""
    order = np.argsort(chances, kind="stable")
    likely = chances[order] * counts.sum()
    starts = pools(likely)
    seen, likely = np.add.reduceat(counts[order], starts), np.add.reduceat(likely, starts)
    if len(seen) < 2:
        return 1.0
    return tail(float(((seen - likely) ** 2 / likely).sum()), len(seen) - 1)


def pools(likely: Floats) -> list[int]:
    """Where to begin anew, so that what lies between is expected often enough; rarest first."""
    starts, in_bin = [0], 0.0
    for place, more in enumerate(likely):
        if in_bin >= LEAST_EXPECTED_FAR_OUT:
            starts.append(place)
            in_bin = 0.0
        in_bin += float(more)
    return starts


def repeats_of(codes: NDArray[np.int64], chances: Floats, lag: int) -> float:
    """How often so many people report like the one `lag` before them, or even more stray numbers.

    Reports of different people have nothing to do with each other, so two are alike with the sum of
    the squared chances.
    """
    alike, thrice = float((chances**2).sum()), float((chances**3).sum())
    trials = len(codes) - lag
    # Neighbouring pairs share a person, which makes them vary together.
    variance = trials * (alike * (1.0 - alike) + 2.0 * (thrice - alike**2))
    if trials < 1 or variance <= 0.0:
        return 1.0
    seen = float((codes[lag:] == codes[:-lag]).sum())
    return erfc(abs(seen - trials * alike) / sqrt(2.0 * variance))
