"""The unbiased table of some attributes, from all samples of respondents who reported them.

Where everybody reports everything there is one sample. Where several hold the attributes, each
inverts its own reports, and the tables are averaged, each with a weight in proportion to its
reports and to what one of them is expected to tell. The weights come from the channels and the
numbers of reports alone, so the average is unbiased too. Samples are of different people, so their
variances add up. Next to a model, the unbiased table weighs as much as its variance allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from castell.channels.protocol import precision_weights, predicted_variance
from castell.counting import Counts, is_coarse, samples_of, tells
from castell.errors import QueryError, ReportError
from castell.inference.intervals import Normal
from castell.inference.inversion import Groups, Observed, observe, parts_of, wilson
from castell.linear.operators import Floats
from castell.study.study import Study

View = tuple[float, Observed]


@dataclass(frozen=True, eq=False)
class Source:
    """A sample, the groups of a question it holds, and its weight in each."""

    reports: Counts
    weights: dict[tuple[str, ...], float]

    @property
    def groups(self) -> list[tuple[str, ...]]:
        return list(self.weights)


def sources(counts: Counts, groups: Groups) -> list[Source]:
    """Who knows about the groups of a question. A group nobody reported together is refused."""
    every = samples_of(counts)
    weights: list[dict[tuple[str, ...], float]] = [{} for _ in every]
    for group in groups:
        known = [i for i, s in enumerate(every) if set(group) <= set(s.study.names)]
        holding = [i for i in known if tells(every[i], group)]
        if not holding and known and not any(is_coarse(every[i]) for i in known):
            raise QueryError(
                f"no report tells how {', '.join(group)} go together: all but one of its answers "
                "are made up",
                "ask for single attributes, or use the method independent",
            )
        if not holding and known:
            raise QueryError(
                f"only blocks that ask coarsely hold {', '.join(group)}",
                "nothing could be checked; fit them together with the reports of a stage that asks "
                "for every answer by itself: castell.fit([first, then])",
            )
        if not holding:
            raise QueryError(
                f"no respondent reported {', '.join(group)} together",
                "ask for fewer attributes, or use a method that models all of them, such as auto",
            )
        able = [i for i in holding if every[i].n]
        if not able:
            raise ReportError(f"nobody reported {', '.join(group)} yet", "collect some more")
        if len(every) == 1:
            weights[0][tuple(group)] = 1.0
            continue
        some = [every[i] for i in able]
        variances = [one_report_variance(s.study, group) for s in some]
        each = precision_weights(variances, [s.n for s in some])
        for i, weight in zip(able, each, strict=True):
            weights[i][tuple(group)] = float(weight)
    return [Source(s, w) for s, w in zip(every, weights, strict=True) if w]


def one_report_variance(study: Study, group: Sequence[str]) -> float:
    """What one report of a sample leaves open of a cell, as far as the channels tell."""
    return predicted_variance(*(part.lens for part in parts_of(study, group)))


# -- the table -------------------------------------------------------------------------------------


def views(counts: Counts, names: Sequence[str]) -> tuple[View, ...]:
    """The reports' tables over some attributes, and the weight of each in the unbiased table."""
    group = tuple(names)
    return tuple(
        (source.weights[group], observe(source.reports, group))
        for source in sources(counts, [group])
    )


def average_of_views(views: Sequence[View]) -> Floats:
    """The weighted average of the tables that several samples invert."""
    return np.asarray(sum(weight * view.invert() for weight, view in views))


def pooled_table(counts: Counts, names: Sequence[str]) -> tuple[Floats, Floats]:
    """The unbiased table, and the variance of each cell."""
    seen = views(counts, names)
    tables = [view.invert() for _, view in seen]
    if len(samples_of(counts)) > 1:  # one of several may be small
        variances = [_smoothed_variance(view) for _, view in seen]
    else:
        variances = [cell_variance(view, t) for (_, view), t in zip(seen, tables, strict=True)]
    weights = [weight for weight, _ in seen]
    average = sum(weight * table for weight, table in zip(weights, tables, strict=True))
    variance = sum(weight**2 * each for weight, each in zip(weights, variances, strict=True))
    return np.asarray(average), np.asarray(variance)


def cell_variance(observed: Observed, table: Floats, target: str = "population") -> Floats:
    """The variance of each cell of the inverted table of one sample, which is `table`."""
    variance = observed.second_moment()
    variance -= table**2 if target == "population" else table
    variance /= observed.n
    # Rounding may leave a cell that is certain a hair below zero.
    return np.maximum(variance, 0.0, out=variance)


def _smoothed_variance(observed: Observed) -> Floats:
    """The same of few reports, which show too little variance by themselves."""
    smooth = observed.smoothed()
    return cell_variance(smooth, smooth.invert())


def spread_of_views(views: Sequence[View]) -> Normal:
    """The spread of the weighted average of what several samples say of one table."""
    return _average([(weight, _of_one(view)) for weight, view in views])


def _of_one(observed: Observed) -> Normal:
    variance = _smoothed_variance(observed)
    return wilson(observed.invert(), variance, observed.moment_slope(), observed.n, "population")


def _average(parts: Sequence[tuple[float, Normal]]) -> Normal:
    """The spread of a weighted average of estimates from different people."""
    return Normal(
        np.asarray(sum(w**2 * s.variance for w, s in parts)),
        np.asarray(sum(w**2 * np.asarray(s.slope) for w, s in parts)),
        np.asarray(sum(w**2 * np.asarray(s.bend) for w, s in parts)),
    )


# -- next to a model -------------------------------------------------------------------------------


def expected_variance(counts: Counts, names: Sequence[str]) -> float:
    """The variance of a cell of `castell`'s table, on average, if answers are uniform."""
    group = tuple(names)
    return sum(
        source.weights[group] ** 2
        * one_report_variance(source.reports.study, group)
        / source.reports.n
        for source in sources(counts, [group])
    )


def james_stein_weight(direct: Floats, model: Floats, variance: float) -> float:
    """The weight of an unbiased table next to a model's: a positive-part James-Stein estimate.

    The squared difference is the unbiased table's noise and the model's error; the best weight is
    the part of it that is not noise. Only what stands out from noise by two standard deviations
    counts (a sum of so many squares varies by about sqrt(2 / many)).
    """
    square = float(((direct - model) ** 2).sum())
    if square == 0.0:
        return 0.0
    noise = variance * (1.0 + 2.0 * sqrt(2.0 / max(direct.size - 1, 1)))
    return max(0.0, 1.0 - noise / square)
