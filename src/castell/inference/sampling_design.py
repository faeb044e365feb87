"""How respondents were sampled: weights, strata, clusters, and the errors that follow from them.

A weighted mean of what each report adds to a share is Hajek's estimate. Its variance follows by
Taylor linearisation: each report's weighted deviation is added up in its cluster, and the sums of
the clusters of a stratum vary about their mean,

    sum over strata of n_h / (n_h - 1) times the sum over clusters of (z_hc - mean z_h)^2,

as if clusters were sampled with replacement (Sarndal, Swensson and Wretman 1992, 5.5; Lumley 2010).
The noise of the reports is in it: it comes for each respondent alone, so it varies between
clusters like anything else. Weights that were raked to known margins leave only what a weighted
regression on the margins does not explain (Deville and Sarndal 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from castell.errors import OptionError
from castell.inference.intervals import Normal, quantile
from castell.inference.reasons import Code, Reason, reason
from castell.inference.student_t import student_quantile
from castell.linear.operators import Floats

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SampleDesign:
    """For each report its weight, the stratum and the cluster (primary sampling unit) it is of.

    Clusters are numbered through all strata. `margins` are indicators of what the weights were
    raked to, and `before` the weights before that.
    """

    weights: Floats
    strata: Codes
    clusters: Codes
    margins: Floats | None = None
    before: Floats | None = None

    def __post_init__(self) -> None:
        lonely = np.flatnonzero(self._clusters_in == 1)
        if len(lonely):
            raise OptionError(
                f"{len(lonely)} of {len(self._clusters_in)} strata have one cluster",
                "how clusters vary there cannot be seen; put such strata together with others",
            )

    @cached_property
    def _stratum_of(self) -> Codes:
        """The stratum of each cluster."""
        found = np.zeros(int(self.clusters.max()) + 1, dtype=np.intp)
        found[self.clusters] = self.strata
        return found

    @cached_property
    def _clusters_in(self) -> NDArray[np.intp]:
        return np.bincount(self._stratum_of)

    @property
    def freedom(self) -> int:
        """Degrees of freedom: clusters less strata."""
        return len(self._stratum_of) - len(self._clusters_in)

    @property
    def effective_n(self) -> float:
        """How many reports of equal weight would be worth as much, weights alone considered (Kish).

        >>> each = np.arange(4)
        >>> SampleDesign(np.array([1.0, 1.0, 3.0, 3.0]), 0 * each, each).effective_n
        3.2
        """
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())

    def means(self, scores: Floats) -> Floats:
        """The weighted mean of each column; a row is a report."""
        return np.asarray(self.weights @ scores / self.weights.sum())

    def _cluster_sums(self, scores: Floats) -> Floats:
        """The linearised sums of each cluster, less the mean of its stratum, scaled so that sums of
        their products are covariances."""
        apart = scores - self.means(scores)
        if self.margins is not None and self.before is not None:
            root = np.sqrt(self.before)[:, None]
            slopes = np.linalg.lstsq(self.margins * root, apart * root, rcond=None)[0]
            apart = apart - self.margins @ slopes
        apart *= (self.weights / self.weights.sum())[:, None]
        sums = _sums(self.clusters, apart, len(self._stratum_of))
        many = self._clusters_in
        means = _sums(self._stratum_of, sums, len(many)) / many[:, None]
        scale = np.sqrt(many / (many - 1.0))
        return (sums - means[self._stratum_of]) * scale[self._stratum_of][:, None]

    def covariance(self, scores: Floats) -> Floats:
        """How the weighted means of the columns err together."""
        sums = self._cluster_sums(scores)
        return np.asarray(sums.T @ sums)

    def variance(self, scores: Floats) -> Floats:
        """The variance of the weighted mean of each column."""
        return np.asarray((self._cluster_sums(scores) ** 2).sum(axis=0))

    def design_reason(self) -> Reason:
        """That an answer is weighted, and by what its errors are known."""
        return reason(
            Code.DESIGN_BASED,
            text="raked" if self.margins is not None else "",
            strata=len(self._clusters_in),
            clusters=len(self._stratum_of),
            freedom=self.freedom,
            effective_n=self.effective_n,
        )


def _sums(groups: Codes, rows: Floats, many: int) -> Floats:
    return np.stack([np.bincount(groups, column, many) for column in rows.T], axis=1)


@dataclass(frozen=True, eq=False)
class DesignSpread:
    """The error of weighted estimates: intervals by Student's t, as far as clusters are few."""

    of: Normal
    freedom: float = inf

    @property
    def variance(self) -> Floats:
        return self.of.variance

    @property
    def errors(self) -> Floats:
        return self.of.errors

    def _at(self, level: float) -> Normal:
        wider = (student_quantile(level, self.freedom) / quantile(level)) ** 2
        slope, bend = np.asarray(self.of.slope), np.asarray(self.of.bend)
        return Normal(self.of.variance * wider, slope * wider, bend * wider)

    def plain(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        return self._at(level).plain(values, level)

    def interval(self, values: Floats, level: float) -> tuple[Floats, Floats]:
        return self._at(level).interval(values, level)
