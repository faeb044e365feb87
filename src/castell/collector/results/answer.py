"""The answer to a question: the table, what to think of it, and the chart, ready to send."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from castell.collector.results.charts import draw, kinds
from castell.collector.results.dated_reports import DatedReports, period_tables, periods
from castell.collector.results.question import MOST_CELLS, Question
from castell.results import trust
from castell.results.joint import JointEstimate
from castell.results.trust import Signal, where_possible

# The tables of an estimate, as `to_dict` names them, in the order of a row's numbers.
TABLES = ("probabilities", "standard_errors", "lower", "upper")


@dataclass(frozen=True, eq=False)
class Answer:
    """Which question of which reports it answers, the estimate, and its trust signals."""

    question: Question
    dated: DatedReports
    joint: JointEstimate
    signals: tuple[Signal, ...]


def solve(dated: DatedReports, question: Question) -> JointEstimate:
    """The table that was asked for."""
    model = dated.model(question.method)
    return model.estimate(question.attributes, post=question.post, max_cells=MOST_CELLS)


def signals(dated: DatedReports, joint: JointEstimate, level: float) -> tuple[Signal, ...]:
    """Every trust signal: what the table and its reports say, and what their hours do."""
    drifted = where_possible("drift", "Drift between days", lambda: _drift(dated, joint.names))
    return (*trust.signals(dated.counts, joint, level), drifted)


def _drift(dated: DatedReports, names: tuple[str, ...]) -> Signal:
    spans = periods(dated.hours)
    return trust.drift(period_tables(dated, names, spans), spans.labels, spans.unit)


def document(answer: Answer) -> dict[str, Any]:
    """An answer for the page."""
    told = answer.joint.to_dict(answer.question.level)
    # The page reads rows: the values of each cell and its numbers.
    numbers = [np.ravel(np.array(told.pop(name), dtype=object)) for name in TABLES]
    rows = zip(product(*told["values"]), zip(*numbers, strict=True), strict=True)
    kind, spec, problem = _chart(answer)
    return {
        **told,
        "cells": [[*values, *row] for values, row in rows],
        "signals": [signal.to_dict() for signal in answer.signals],
        "charts": list(kinds(answer.joint.names)),
        "chart": kind,
        "spec": spec,
        "chart_problem": problem,
    }


def _chart(answer: Answer) -> tuple[str | None, dict[str, Any] | None, str | None]:
    try:
        kind, spec = draw(answer.joint, answer.question.level, answer.question.chart)
    except ImportError as error:
        return None, None, str(error)
    return kind, spec, None
