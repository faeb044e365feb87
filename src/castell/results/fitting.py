"""The two verbs of the server's side: fit a model to reports, and ask it for a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from castell.counting import Counts, MemoryCounts
from castell.errors import ReportError
from castell.estimators import Method, fit_counts, name_of
from castell.reports.reports import Reports
from castell.results.joint import JointEstimate
from castell.results.model import Model

DEFAULT_METHOD = "auto"


def fit(reports: Reports | Counts, method: Method = DEFAULT_METHOD, **options: Any) -> Model:
    """Fit a method to reports in memory, or to a file opened by `scan_reports`.

    `castell.methods_for(study)` names the methods that read a study's reports; others are refused.
    A method of one's own is given as it is: a function `fit(counts, **options) -> Fitted`, or what
    `castell.extend.table_method` makes of a function that gives tables.

    >>> from castell import Attribute, Schema, Study
    >>> study = Study(Schema([Attribute("sex", ["Female", "Male"])]), epsilon=4.0)
    >>> reports = study.randomize({"sex": ["Male", "Female"] * 500})
    >>> fit(reports).estimate("sex").probabilities.shape
    (2,)
    """
    if isinstance(reports, Reports):
        return Model(fit_counts(MemoryCounts(reports), method, options), name_of(method))
    if not hasattr(reports, "moments"):
        raise ReportError(
            f"a {type(reports).__name__} holds no reports",
            "give what study.randomize returned, or scan_reports('reports.parquet', study)",
        )
    return Model(fit_counts(reports, method, options), name_of(method))


def estimate(
    reports: Reports | Counts,
    names: Iterable[str] | str,
    method: Method = DEFAULT_METHOD,
    *,
    post: str = "raw",
    max_cells: int | None = None,
    **options: Any,
) -> JointEstimate:
    """Fit and ask for one table, in one step."""
    return fit(reports, method, **options).estimate(names, post=post, max_cells=max_cells)
