"""Associations and trends from weighted reports, with errors by the sampling design.

The test of independence is that of Rao and Scott (1984) with their second-order correction, as R's
`svychisq` has it. With functions f that span the interactions of two attributes, orthogonal to
their main effects under a table q,

    D = (E_q f f')^-1 Cov(mean f),   F = phi^2 / tr D,   d = (tr D)^2 / tr D^2,

where Cov is by the sampling design, with the noise of the reports in it, and phi^2 is Pearson's
statistic for one respondent; F has d and d times the design's degrees of freedom. R takes the
estimated table for q. Through noise that has cells below 0, so there q is the product of the
margins, which is the same table if the attributes are independent (Stata's option `null`).

Cramer's V is free of the bias of noise and sampling and has the interval of the unweighted one
(`association`), with covariances by the design and Student's t. A trend is the correlation of
scores; its test is that of the weighted mean of their product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from castell.counting import Counts
from castell.inference.answered_pairs import Pair
from castell.inference.association import SURE, Independence, kept_part, slopes_of_square
from castell.inference.constants import LEAST_EXPECTED
from castell.inference.goodness_of_fit import orthonormal, smallest_detected, tested_contrasts
from castell.inference.incomplete_beta import incomplete_beta
from castell.inference.postprocess import simplex
from castell.inference.regression.complete_cases import CompleteCases
from castell.inference.sampling_design import SampleDesign
from castell.inference.trend import Trend, standard_scores
from castell.inference.weighted_reports import WeightedReports
from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class WeightedPair:
    """Two attributes among those who answered both, from weighted reports."""

    reports: WeightedReports
    cases: CompleteCases

    @classmethod
    def of(
        cls, counts: Counts, sample: SampleDesign, names: Pair, cases: CompleteCases | None = None
    ) -> WeightedPair:
        """Of everybody, where no cases are given."""
        reports = WeightedReports(counts, sample, names)
        return cls(reports, cases or CompleteCases.everybody(reports.shape))

    @cached_property
    def share(self) -> float:
        """Of those who answered both."""
        return float(self.cases.part(self.reports.table).sum())

    @cached_property
    def table(self) -> Floats:
        """The unbiased table of those."""
        return self.cases.part(self.reports.table) / self.share

    @cached_property
    def margins(self) -> tuple[Floats, Floats]:
        """As near to the unbiased ones as shares can be."""
        return simplex(self.table.sum(axis=1)), simplex(self.table.sum(axis=0))

    @property
    def people(self) -> float:
        """As many reports of equal weight as theirs are worth."""
        return self.share * self.reports.sample.effective_n

    def spread(self, functions: Floats) -> tuple[Floats, Floats]:
        """How the means of functions over these people err together, in all and by noise alone."""
        flat = functions.reshape(len(functions), -1)
        centred = (flat - (flat @ self.table.ravel())[:, None]) / self.share
        return self.reports.spread(np.array([self.cases.whole(each) for each in centred]))

    def contrasts(self, least: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Orthonormal contrasts of each attribute, values rarer than these put together."""
        by_place = dict(zip("ab", self.margins, strict=True))
        found = tested_contrasts(by_place, dict(zip("ab", least, strict=True)))
        one, two = (orthonormal(found[key], by_place[key]) for key in "ab")
        return one, two


def weighted_independence(pair: WeightedPair) -> Independence | None:
    """Test a pair; None where an attribute has no two values that are common enough."""
    names: Pair = (pair.reports.names[0], pair.reports.names[1])
    if pair.share <= 0.0 or pair.people <= 1.0:
        return None
    tested, told = _common_contrasts(pair), pair.contrasts(_unsure(pair))
    if not all(len(each) for each in (*tested, *told)):
        return None
    statistic, freedom, p = _rao_scott(pair, *tested)
    products = _products(*told)
    s = products @ pair.table.ravel()
    exact = pair.spread(products)[0]
    square, bias = float(s @ s), float(np.trace(exact))
    kept = kept_part(square, bias)
    adds = slopes_of_square(told, pair.margins, kept * s)
    slope = float(pair.spread(adds[None])[0][0, 0]) / max(kept**2 * square, 1e-300)
    fewest = min(len(each) for each in told)
    return Independence(
        statistic,
        freedom,
        p,
        square - bias,
        fewest - fewest**2 / (pair.people - 1),
        2.0 * float((exact**2).sum()),
        slope,
        tuple(
            name
            for name, each, margin in zip(names, told, pair.margins, strict=True)
            if len(each) + 1 < len(margin)
        ),
        pair.reports.sample.freedom,
    )


def detectable_weighted_association(pair: WeightedPair) -> float:
    """The smallest V that the test finds with 80 % power at 5 %."""
    contrasts = _common_contrasts(pair)
    if pair.share <= 0.0 or not all(len(each) for each in contrasts):
        return 1.0
    covariance = pair.spread(_products(*contrasts))[0]
    return smallest_detected(covariance, min(len(each) for each in contrasts))


def weighted_trend(pair: WeightedPair, scores: Sequence[Floats]) -> Trend | None:
    """None where all who answered both seem to have one and the same score, or nobody did."""
    if pair.share <= 0.0:
        return None
    u, v = (standard_scores(s, m) for s, m in zip(scores, pair.margins, strict=True))
    if u is None or v is None:
        return None
    both = np.multiply.outer(u, v)
    correlation = float((both * pair.table).sum())
    exact = both - correlation * (u[:, None] ** 2 + v[None, :] ** 2) / 2
    null, own = np.diag(pair.spread(np.array([both, exact]))[0])
    error, z = sqrt(max(float(own), 0.0)), correlation / sqrt(max(float(null), 1e-300))
    return Trend(correlation, error, z, pair.reports.sample.freedom)


def _common_contrasts(pair: WeightedPair) -> tuple[Floats, Floats]:
    rare = np.array(sqrt(LEAST_EXPECTED / max(pair.people, 1.0)))
    return pair.contrasts([rare, rare])


def _unsure(pair: WeightedPair) -> list[Floats]:
    """Shares of values that are hardly told from 0."""
    found = []
    for axis, margin in enumerate(pair.margins):
        of = np.eye(len(margin)).reshape([len(margin), *(-1 if a == axis else 1 for a in (0, 1))])
        values = np.broadcast_to(of, (len(margin), *pair.table.shape))
        errors = np.sqrt(np.maximum(np.diag(pair.spread(values)[0]), 0.0))
        found.append(np.maximum(SURE * errors, LEAST_EXPECTED / pair.people))
    return found


def _products(one: Floats, two: Floats) -> Floats:
    """All products of a function of one attribute and one of the other: a row each."""
    return np.asarray(np.einsum("ix,jy->ijxy", one, two).reshape(len(one) * len(two), -1))


def _rao_scott(pair: WeightedPair, one: Floats, two: Floats) -> tuple[float, float, float]:
    """F, its first degrees of freedom, and how often it is larger."""
    products = _products(one, two)
    phi = products @ pair.table.ravel()
    table = _reference(pair, one, two)
    main = np.concatenate([np.ones((1, table.size)), _main_effects(one, two)])
    slopes = np.linalg.solve((main * table) @ main.T, (main * table) @ products.T)
    functions = products - slopes.T @ main
    square = (functions * table) @ functions.T
    delta = np.linalg.solve(square, pair.spread(functions)[0])
    trace = float(np.trace(delta))
    freedom = trace**2 / max(float((delta * delta.T).sum()), 1e-300)
    statistic = float(phi @ phi) / max(trace, 1e-300)
    below = freedom * pair.reports.sample.freedom
    tail = incomplete_beta(below / 2, freedom / 2, below / (below + freedom * statistic))
    return statistic, freedom, tail


def _main_effects(one: Floats, two: Floats) -> Floats:
    rows, columns = one.shape[1], two.shape[1]
    return np.concatenate([np.repeat(one, columns, axis=1), np.tile(two, rows)])


def _reference(pair: WeightedPair, one: Floats, two: Floats) -> Floats:
    """The estimated table where the noise of the reports leaves all of its tested cells well above
    0, else that of independence."""
    groups = [
        np.unique(each.round(9), axis=1, return_inverse=True)[1].ravel() for each in (one, two)
    ]
    first, second = (np.eye(each.max() + 1)[each].T for each in groups)
    cells = np.einsum("ix,jy->ijxy", first, second).reshape(len(first) * len(second), -1)
    shares, noise = cells @ pair.table.ravel(), np.diag(pair.spread(cells)[1])
    apart = np.multiply.outer(*pair.margins).ravel()
    sure = shares > SURE * np.sqrt(np.maximum(noise, 0.0)) + 1e-12
    return pair.table.ravel() if sure.all() else apart
