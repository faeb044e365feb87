"""Weights, strata and clusters as people have them: public attributes, or columns of their own.

A text names a public attribute of the study, which is in the reports. Anything else is a column
with an entry for each report, in the order of the reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from castell.counting import Counts, MemoryCounts, Stages
from castell.counting.tallies import Tally
from castell.counting.unordered_reports import Unordered
from castell.errors import OptionError
from castell.inference.calibration import Margins, indicators, rake_weights
from castell.inference.report_scores import ReportScores
from castell.inference.sampling_design import SampleDesign
from castell.linear.operators import Floats
from castell.reports.reports import Reports
from castell.study.attribute import suggest

# What `castell.fit` takes besides a method's own options.
SAMPLING = ("weights", "strata", "clusters", "rake")


def sample_design(
    counts: Counts,
    weights: Any = None,
    strata: Any = None,
    clusters: Any = None,
    rake: Margins | None = None,
) -> SampleDesign:
    """How the respondents of some reports were sampled; what is not given is as if all were alike.

    Clusters are named within their stratum: two strata may each have a cluster 1.
    """
    if isinstance(counts, Stages):
        raise OptionError(
            "weights, strata or clusters are given for reports of several studies",
            "estimate from those of one study, and compare the models",
        )
    scores, n = ReportScores(counts), counts.n
    before = np.ones(n) if weights is None else _numbers(scores, weights, "weights")
    within = np.zeros(n, dtype=np.intp) if strata is None else _groups(scores, strata, "strata")
    each = np.arange(n) if clusters is None else _groups(scores, clusters, "clusters")
    both = within * (int(each.max(initial=0)) + 1) + each
    numbered = np.unique(both, return_inverse=True)[1].ravel()
    if rake is None:
        return SampleDesign(before, within, numbered)
    columns = {name: _labels(scores, name, "rake") for name in _known_margins(rake)}
    raked = rake_weights(columns, rake, before)
    return SampleDesign(raked, within, numbered, indicators(columns, rake), before)


def rake(respondents: Any, margins: Margins, weights: Any = None) -> Floats:
    """Weights with which respondents have known margins, as near as can be to those they had.

    `respondents` are reports, of which public attributes are raked, or a frame or mapping of
    columns. `castell.fit(reports, rake=margins)` does the same and allows for it in the errors:
    errors with weights that come from here do not know that they were raked.

    >>> rake({"sex": ["f", "f", "m", "f"]}, {"sex": {"f": 0.5, "m": 0.5}}).round(3).tolist()
    [0.667, 0.667, 2.0, 0.667]
    """
    names = _known_margins(margins)
    if isinstance(respondents, Reports):
        scores = ReportScores(MemoryCounts(respondents))
        columns = {name: _labels(scores, name, "rake") for name in names}
    else:
        columns = {name: _own_column(respondents, name) for name in names}
    n = len(next(iter(columns.values())))
    if any(len(column) != n for column in columns.values()):
        raise OptionError("rake: the columns differ in length", "give an entry for each respondent")
    before = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if before.shape != (n,):
        raise OptionError(
            f"weights has {before.size:,} entries for {n:,} respondents", "give one for each"
        )
    return rake_weights(columns, margins, check_weights(before))


def _own_column(respondents: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(respondents[name], dtype=object)
    except (KeyError, TypeError, IndexError, ValueError):
        raise OptionError(
            f"rake: there is no column {name!r}", "give reports, a frame or a mapping with it"
        ) from None


def _known_margins(rake: object) -> list[str]:
    if not isinstance(rake, Mapping) or not rake:
        raise OptionError(
            "rake has no margins", 'give them by public attribute: {"region": {"north": 0.4, ...}}'
        )
    return list(rake)


def _labels(scores: ReportScores, name: object, what: str) -> NDArray[Any]:
    """The values of a public attribute, report by report."""
    schema = scores.counts.study.schema
    if name not in schema.names:
        raise OptionError(
            f"{what} names {name!r}, which is no attribute", suggest(str(name), schema.names)
        )
    attribute = schema[str(name)]
    if not attribute.public:
        raise OptionError(
            f"{what} names {name!r}, which is randomised",
            "only what is known of each respondent can be used: a public attribute, or a column",
        )
    return np.array(attribute.values, dtype=object)[scores.codes(attribute.name)]


def _column(scores: ReportScores, given: Any, what: str) -> NDArray[Any]:
    if isinstance(given, str):
        return _labels(scores, given, what)
    if isinstance(scores.counts, (Unordered, Tally)):
        raise OptionError(
            f"{what} is a column, and these reports have no order",
            "name a public attribute of the study instead",
        )
    try:
        column = np.asarray(given)
    except (TypeError, ValueError):
        column = np.empty(())
    if column.ndim != 1:
        raise OptionError(f"{what} is no column", "give one entry for each report")
    if len(column) != scores.counts.n:
        raise OptionError(
            f"{what} has {len(column):,} entries for {scores.counts.n:,} reports",
            "give one for each report, in the order of the reports",
        )
    return column


def _numbers(scores: ReportScores, given: Any, what: str) -> Floats:
    column = _column(scores, given, what)
    try:
        weights = column.astype(np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{what} holds entries that are no numbers", "give numbers") from None
    return check_weights(weights, what)


def check_weights(weights: Floats, what: str = "weights") -> Floats:
    """Weights as they are, if they are some."""
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0.0))
    if len(wrong):
        raise OptionError(
            f"{what}: report {wrong[0] + 1} has {weights[wrong[0]]}, and {len(wrong):,} of "
            f"{len(weights):,} are no weights",
            "give finite numbers from 0 up",
        )
    if weights.sum() <= 0.0:
        raise OptionError(f"the {what} sum to 0", "give some above 0")
    return weights


def _groups(scores: ReportScores, given: Any, what: str) -> NDArray[np.intp]:
    column = _column(scores, given, what)
    missing = np.array([entry is None or entry != entry for entry in column.tolist()], dtype=bool)
    if missing.any():
        row = int(np.flatnonzero(missing)[0]) + 1
        raise OptionError(
            f"{what}: {int(missing.sum()):,} entries are missing, the first for report {row:,}",
            "give every report one",
        )
    texts = np.array([str(entry) for entry in column.tolist()], dtype=object)
    return np.unique(texts.astype(str), return_inverse=True)[1].ravel().astype(np.intp)
