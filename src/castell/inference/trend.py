"""Whether the scores of two ordered attributes go together: their correlation, and a trend test.

With the scores of both standardised, u and v, the unbiased mean s of u(x) v(y) is their
correlation, and s^2 over its variance under independence is the test of Cochran and Armitage, or
of linear-by-linear association (Mantel 1963).

Where some did not answer, it is the correlation among those who answered both: of I u v / c, with I
whether both are answered, c the share of these, and scores standardised among them. Under
independence answers are a product among those; who they are is left as it was estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from castell.counting import Counts
from castell.inference.answered_pairs import Pair, answering
from castell.inference.goodness_of_fit import expected_reports
from castell.inference.pooled_table import views
from castell.inference.regression.complete_cases import CompleteCases
from castell.inference.student_t import student_tail
from castell.inference.unbiased_means import through_inverse, variance_of_mean
from castell.linear.operators import Floats


@dataclass(frozen=True)
class Trend:
    """The correlation of two attributes' scores, its error, and the test that it is 0."""

    correlation: float
    error: float
    z: float
    of_design: float = inf  # degrees of freedom of a sampling design: z is then Student's t

    @property
    def p(self) -> float:
        return student_tail(self.z, self.of_design)


def trend(
    counts: Counts, names: Pair, scores: Sequence[Floats], answers: CompleteCases
) -> Trend | None:
    """None where all who answered both seem to have one and the same score, or nobody did."""
    seen = views(counts, names)
    found = answering(counts, names, seen, answers)
    standard = [
        standard_scores(score, margin) for score, margin in zip(scores, found.margins, strict=True)
    ]
    if found.share <= 0.0 or standard[0] is None or standard[1] is None:
        return None
    u, v = standard[0], standard[1]
    both = answers.whole(np.multiply.outer(u, v) / found.share)
    correlation = null = 0.0
    for weight, view in seen:
        gains = through_inverse(view, both[None])
        expected = expected_reports(view, found.apart)
        correlation += weight * float((gains @ view.frequencies().ravel())[0])
        # Given the margins, the variance under independence has n - 1 (Mantel 1963).
        less = max(view.n - 1.0 / found.share, 1.0)
        null += weight**2 * float((gains**2 @ expected)[0]) / less
    squares = answers.whole((u[:, None] ** 2 + v[None, :] ** 2) / found.share)
    error = sqrt(variance_of_mean(seen, both - correlation * squares / 2))
    return Trend(correlation, error, correlation / sqrt(max(null, 1e-300)))


def standard_scores(score: Floats, margin: Floats) -> Floats | None:
    centred = score - margin @ score
    variance = float(margin @ centred**2)
    # Shares sum to one up to rounding, so that equal scores vary by a hair.
    if variance <= (1e-9 * float(np.abs(score).max())) ** 2:
        return None
    standard: Floats = centred / sqrt(variance)
    return standard
