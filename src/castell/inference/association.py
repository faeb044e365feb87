"""How strongly two attributes are associated: Cramer's V, and a test of independence.

All of it is read off the reports through their inverse channels; no model is involved. With u_i and
v_j contrasts of the two attributes, orthonormal under their margins, the interactions
s_ij = E u_i(x) v_j(y) have phi^2 = sum s_ij^2, and V^2 = phi^2 / min(rows - 1, columns - 1). Under
independence the estimated s has mean 0 and a covariance C that follows from margins and channels:

    chi-square = s' C^- s, with as many degrees of freedom as interactions; Pearson's without noise,
    phi^2      = s's - tr C is free of the bias that noise and sampling cause (Bergsma 2013),
    variance   = 2 tr C^2 + k phi^2, with k from the influence function of phi^2,

and the interval holds all phi^2 that the estimate is not further from than z times that error, as
Wilson's does. For the test, values too rare for the normal approximation are put together.

Of those who answered both questions, with I whether somebody did and c the share of these, it is
s_ij = E I u_i(x) v_j(y) / c, contrasts under the margins among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from castell.counting import Counts, studies_of
from castell.inference.answered_pairs import Answering, Pair, Seen, answering, errors_of_margins
from castell.inference.chisquare import tail
from castell.inference.constants import LEAST_EXPECTED
from castell.inference.goodness_of_fit import (
    expected_reports,
    interactions,
    orthonormal,
    smallest_detected,
    tested_contrasts,
    wald,
)
from castell.inference.pooled_table import views
from castell.inference.regression.complete_cases import CompleteCases
from castell.inference.student_t import student_quantile
from castell.inference.support import support
from castell.inference.unbiased_means import variance_of_mean
from castell.linear.operators import Floats

# The influence function is that of a phi^2 of at least this part of what was observed.
_LEAST_PART = 0.05
# A value's share is told from 0 if it is so many standard errors from it.
SURE = 4.0


@dataclass(frozen=True)
class Independence:
    """The test of independence, and phi^2 with what its interval needs."""

    statistic: float
    freedom: float
    p: float
    square: float  # phi^2 without its bias; may be below 0
    scale: float  # what phi^2 can be at most
    at_zero: float  # the variance of the estimate where phi^2 = 0
    slope: float  # by how much it grows with phi^2
    grouped: tuple[str, ...]  # attributes of which V has rare values put together
    # Of a sampling design; if there are any, the statistic is an F, with so many times `freedom`
    # below.
    of_design: float = inf

    @property
    def v(self) -> float:
        """Cramer's V."""
        return sqrt(min(max(self.square / self.scale, 0.0), 1.0))

    def interval(self, level: float) -> tuple[float, float]:
        """Of V: (square - t)^2 <= z^2 (at_zero + slope t), solved for t = phi^2.

        It holds 0 wherever the test does not reject independence.
        """
        z = student_quantile(level, self.of_design)
        middle = self.square + z * z * self.slope / 2
        inside = middle**2 - self.square**2 + z * z * self.at_zero
        reach = sqrt(max(inside, 0.0))
        low, high = (
            sqrt(min(max(end / self.scale, 0.0), 1.0)) for end in (middle - reach, middle + reach)
        )
        return min(low, self.v) if self.p < 1.0 - level else 0.0, max(high, self.v)


def is_testable(counts: Counts, names: Sequence[str]) -> bool:
    """Whether some reports hold both attributes and can be taken back out."""
    blocks = [block for study in studies_of(counts) for block in study.design.blocks]
    return all(block.channel.has_matrix for block in blocks) and bool(
        support(counts, names).together
    )


def independence(
    counts: Counts, names: Pair, cases: CompleteCases | None = None
) -> Independence | None:
    """Test a pair, among those with some values only; None where an attribute has no two values
    that are common enough.

    The test puts values together that are too rare for its normal approximation, V only those whose
    own share is hardly told from 0: it is an average over all values, weighted by one over it.
    """
    seen = views(counts, names)
    if not all(view.has_small_inverses for _, view in seen):
        return None
    if cases is None:
        cases = CompleteCases.everybody([counts.study.schema[name].size for name in names])
    answers = answering(counts, names, seen, cases)
    reports = answers.share * sum(view.n for _, view in seen)
    if reports <= 1.0:
        return None
    errors = errors_of_margins(counts, names, cases)
    by_name = dict(zip(names, answers.margins, strict=True))
    rare = np.array(sqrt(LEAST_EXPECTED / reports))
    unsure = {
        name: np.maximum(SURE * error, LEAST_EXPECTED / reports)
        for name, error in zip(names, errors, strict=True)
    }
    tested = tested_contrasts(by_name, dict.fromkeys(names, rare))
    told = tested_contrasts(by_name, unsure)
    if not all(len(each) for each in (*tested.values(), *told.values())):
        return None
    s, null, _ = _interactions(seen, answers, _orthonormal(tested, by_name))
    statistic, rank = wald(s, null)
    contrasts = _orthonormal(told, by_name)
    s, _, exact = _interactions(seen, answers, contrasts)
    square, bias = float(s @ s), float(np.trace(exact))
    kept = kept_part(square, bias)
    slope = _influence(seen, answers, contrasts, kept * s) / max(kept**2 * square, 1e-300)
    fewest = min(len(each) for each in contrasts.values())
    return Independence(
        statistic,
        rank,
        tail(statistic, rank),
        square - bias,
        fewest - fewest**2 / (reports - 1),
        2.0 * float((exact**2).sum()),
        slope,
        tuple(n for n, m in by_name.items() if len(told[n]) + 1 < len(m)),
    )


def detectable_association(counts: Counts, names: Pair, cases: CompleteCases) -> float:
    """The smallest V among those with some values that the test finds with 80 % power at 5 %."""
    seen = views(counts, names)
    answers = answering(counts, names, seen, cases)
    reports = answers.share * sum(view.n for _, view in seen)
    if reports <= 1.0 or not all(view.has_small_inverses for _, view in seen):
        return 1.0
    by_name = dict(zip(names, answers.margins, strict=True))
    least = dict.fromkeys(names, np.array(sqrt(LEAST_EXPECTED / reports)))
    contrasts = _orthonormal(tested_contrasts(by_name, least), by_name)
    if not all(len(each) for each in contrasts.values()):
        return 1.0
    _, null, _ = _interactions(seen, answers, contrasts)
    return smallest_detected(null, min(len(each) for each in contrasts.values()))


def _orthonormal(contrasts: dict[str, Floats], margins: dict[str, Floats]) -> dict[str, Floats]:
    return {name: orthonormal(each, margins[name]) for name, each in contrasts.items()}


def _interactions(
    seen: Seen, answers: Answering, contrasts: dict[str, Floats]
) -> tuple[Floats, Floats, Floats]:
    """The interactions, their covariance under independence, and the same with divisor n - 1, n
    those who answered."""
    ways = int(np.prod([len(each) for each in contrasts.values()]))
    s, null, exact = np.zeros(ways), np.zeros((ways, ways)), np.zeros((ways, ways))
    everywhere = answers.on_all_values(contrasts)
    for weight, view in seen:
        gains = interactions(view, everywhere) / answers.share
        expected = expected_reports(view, answers.apart)
        mean = gains @ expected
        s += weight * (gains @ view.frequencies().ravel())
        square = weight**2 * ((gains * expected) @ gains.T - np.outer(mean, mean))
        null += square / view.n
        exact += square / max(view.n - 1.0 / answers.share, 1.0)
    return s, null, exact


def kept_part(square: float, bias: float) -> float:
    """What is left of the interactions once phi^2 is free of its bias."""
    return sqrt(max(square - bias, _LEAST_PART * square) / max(square, 1e-300))


def slopes_of_square(contrasts: Sequence[Floats], margins: Sequence[Floats], s: Floats) -> Floats:
    """What an answer adds to phi^2 to first order, at interactions s:
    2 rho(x, y) - sum_y m(y) rho^2 - sum_x m(x) rho^2, with rho = 1 + sum s u v."""
    u, v = contrasts
    one, two = margins
    rho = 1.0 + u.T @ s.reshape(len(u), len(v)) @ v
    return np.asarray(2.0 * rho - (rho**2 @ two)[:, None] - (one @ rho**2)[None, :])


def _influence(seen: Seen, answers: Answering, contrasts: dict[str, Floats], s: Floats) -> float:
    """The variance of phi^2 to first order."""
    adds = slopes_of_square(list(contrasts.values()), answers.margins, s)
    # Its mean among those who answered is 0, as it is of everybody else.
    return variance_of_mean(seen, answers.cases.whole(adds / answers.share))
