"""How far coefficients may be off where the slope of the estimated equations is noisy as well.

Corrected scores estimate an equation, U(t) = 0, and the noise of the reports is in its slope too.
The sandwich takes the variance of U at the estimate: where a coefficient is off, that variance is
too large, since the noise of the slope counts as often as the coefficient is large. So estimate and
error err together, and estimate +- z errors holds the truth more often than it says (a ratio whose
denominator is noisy, and Fieller's answer to it). An interval here holds every value of a
coefficient that the score test does not reject, with the other coefficients moved along: with w the
row of the inverse slope, d how all move as this one does, s what an answer adds to U and h to its
slope, b is held if

    (b - t)^2 <= z^2 Var(w s - (b - t) w h d).

What changes with b is the noise alone. The variation of the respondents themselves is taken at the
estimate, as everywhere, so that without noise this is the sandwich's interval. Where the noise of
the slope is so large that no value is rejected, or only some in the middle, nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from castell.inference.intervals import Normal
from castell.linear.operators import Floats


@dataclass(frozen=True, eq=False)
class ScoreError:
    """The covariance of coefficients; and with u how far the truth is above an estimate, a variance
    of covariance + slope u + bend u^2."""

    covariance: Floats
    slope: Floats
    bend: Floats

    @classmethod
    def constant(cls, covariance: Floats) -> ScoreError:
        """The same everywhere: intervals are Wald's."""
        return cls(covariance, np.zeros(len(covariance)), np.zeros(len(covariance)))

    @classmethod
    def along_profiles(cls, covariance: Floats, both: Floats) -> ScoreError:
        """From how w s (the first half) and w h d (the second) err together by noise alone."""
        many = len(covariance)
        bend = np.maximum(np.diag(both)[many:], 0.0)
        # What reports leave of a covariance is an estimate too, but no product of two errors.
        most = np.sqrt(np.maximum(np.diag(covariance), 0.0) * bend)
        slope = -2.0 * np.clip(np.diag(both[:many, many:]), -most, most)
        return cls(covariance, slope, bend)

    def take(self, order: NDArray[np.intp]) -> ScoreError:
        """That of coefficients in another order."""
        return ScoreError(
            self.covariance[np.ix_(order, order)], self.slope[order], self.bend[order]
        )

    @property
    def errors(self) -> Floats:
        """Standard errors: the sandwich's; not a number where they are not known."""
        variances = np.diag(self.covariance)
        return np.sqrt(np.where(variances >= 0.0, variances, np.nan))

    def statistic(self, values: Floats) -> Floats:
        """Each coefficient over its error if it were 0."""
        return np.asarray(
            values / np.sqrt(self.errors**2 - self.slope * values + self.bend * values**2)
        )

    def interval(self, values: Floats, reach: float) -> tuple[Floats, Floats]:
        """What is not further from the estimate than so many errors; infinite if not known."""
        variances = self.errors**2
        known = np.isfinite(variances) & (reach**2 * self.bend < 1.0)
        of = Normal(variances, self.slope, np.where(known, self.bend, 0.0))
        low, high = of.ends(values, reach)
        return np.where(known, low, -np.inf), np.where(known, high, np.inf)


def profile_directions(inverse: Floats) -> Floats:
    """How all coefficients move along with each, a row each: the others solve their equations."""
    return np.asarray((inverse / np.diag(inverse)).T)
