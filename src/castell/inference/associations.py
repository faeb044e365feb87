"""How strongly two attributes go together: Cramer's V without the noise, an interval, and a test.

With orthonormal contrasts f of the one attribute and h of the other (under their margins), the mean
square contingency is phi^2 = sum rho^2, rho = E f h, and V = sqrt(phi^2 / min(r - 1, c - 1)). The
unbiased means r of f h through the inverse channels have a covariance C, so sum r^2 is too large by
tr C on average: that is taken off (as Bergsma 2013 does where there is no noise but sampling).

    theta = sum r^2 - tr C,    var(theta) = 2 tr C^2 + 4 rho' C rho

The interval holds all theta that this estimate would not surprise (a score interval: the variance
is that at theta), cut at 0 and 1. Independence is tested by Wald's r' C0^- r, with C0 the
covariance under independence, which is chi-square with (r - 1)(c - 1) degrees of freedom; the
interval begins at 0 unless that test rejects. Of many pairs, false discoveries are controlled as
Benjamini and Hochberg (1995) do. Values too rare for the normal approximation are put together, as
in `misfit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt

import numpy as np

from castell.counting import Counts
from castell.inference.chisquare import tail
from castell.inference.intervals import quantile
from castell.inference.inversion import Observed
from castell.inference.misfit import (
    LEAST_EXPECTED,
    contrasts_of,
    expected_reports,
    interactions,
    orthonormal,
    wald,
)
from castell.inference.postprocess import simplex
from castell.inference.support import support, views
from castell.linear.operators import Floats


@dataclass(frozen=True)
class Association:
    """Cramer's V of two attributes; NaN, with an interval from 0 to 1, where nothing is known.

    `contingency` is the estimate of phi^2 = V^2 min(r - 1, c - 1), which may be below 0.
    """

    names: tuple[str, str]
    n: int
    contingency: float
    trace: float  # 2 tr C^2
    slope: float  # 4 rho' C rho / theta
    rank: int  # min(r - 1, c - 1)
    statistic: float
    freedom: int
    p: float

    @property
    def known(self) -> bool:
        return self.rank > 0

    @property
    def value(self) -> float:
        """Cramer's V."""
        if not self.known:
            return float("nan")
        return min(1.0, sqrt(max(0.0, self.contingency) / self.rank))

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """A confidence interval for V."""
        if not self.known:
            return 0.0, 1.0
        z = quantile(level)
        middle = self.contingency + self.slope * z**2 / 2
        inside = self.trace + self.slope * self.contingency + (self.slope * z / 2) ** 2
        reach = z * sqrt(max(0.0, inside))
        ends = [sqrt(min(1.0, max(0.0, e) / self.rank)) for e in (middle - reach, middle + reach)]
        low = ends[0] if self.p < 1.0 - level else 0.0
        return min(low, self.value), max(ends[1], self.value)


def association(counts: Counts, names: tuple[str, str]) -> Association:
    """How strongly two attributes go together, from the reports that hold both."""
    behind = support(counts, names)
    nothing = Association(names, behind.together, 0.0, 0.0, 0.0, 0, 0.0, 0, 1.0)
    if not behind.together:
        return nothing
    seen = views(counts, names)
    if not all(view.has_small_inverses for _, view in seen):
        return nothing
    table = np.asarray(sum(weight * view.invert() for weight, view in seen))
    margins = [simplex(table.sum(axis=1)), simplex(table.sum(axis=0))]
    found = _solve(seen, names, margins)
    return nothing if found is None else found


def _solve(
    seen: Sequence[tuple[float, Observed]], names: tuple[str, str], margins: Sequence[Floats]
) -> Association | None:
    reports = sum(view.n for _, view in seen)
    by_name = dict(zip(names, margins, strict=True))
    groups = contrasts_of(by_name, sqrt(LEAST_EXPECTED / reports))
    contrasts = {name: orthonormal(each, by_name[name]) for name, each in groups.items()}
    ways = prod(len(each) for each in contrasts.values())
    if not ways:
        return None
    apart = np.multiply.outer(*margins)
    mean, spread, null = np.zeros(ways), np.zeros((ways, ways)), np.zeros((ways, ways))
    for weight, view in seen:
        gains = interactions(view, contrasts)
        shares = view.frequencies().ravel()
        scatter = view.smoothed().frequencies().ravel() if len(seen) > 1 else shares
        mean += weight * (gains @ shares)
        spread += weight**2 * _covariance(gains, scatter) / view.n
        null += weight**2 * _covariance(gains, expected_reports(view, apart)) / view.n
    statistic, freedom = wald(mean, null)
    whole = float(mean @ mean)
    theta = whole - float(np.trace(spread))
    traces = float((spread**2).sum()), float(np.trace(spread))
    # Where next to nothing was found, no direction is more likely than another.
    likely = theta > 0.0 and statistic > freedom + 2.0 * sqrt(2.0 * freedom)
    along = float(mean @ spread @ mean) / whole if likely else traces[0] / max(traces[1], 1e-300)
    rank = min(len(each) for each in contrasts.values())
    p = tail(statistic, freedom) if freedom else 1.0
    return Association(
        names, reports, theta, 2.0 * traces[0], 4.0 * along, rank, statistic, freedom, p
    )


def _covariance(gains: Floats, shares: Floats) -> Floats:
    mean = gains @ shares
    return np.asarray((gains * shares) @ gains.T - np.outer(mean, mean))


def false_discovery(p: Sequence[float]) -> Floats:
    """The false discovery rate at which each of some tests would just be rejected.

    Benjamini and Hochberg's step-up procedure.

    >>> false_discovery([0.01, 0.04, 0.03, 0.5]).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    each = np.asarray(p, dtype=np.float64)
    order = np.argsort(each, kind="stable")
    steps = each[order] * len(each) / np.arange(1, len(each) + 1)
    found = np.empty(len(each))
    found[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return found
