"""The answer to a question: the table, what to think of it, and the chart, ready to send."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from castell.collector.results.charts import draw, kinds
from castell.collector.results.question import MOST_CELLS, Question
from castell.collector.results.snapshot import Snapshot, period_tables, periods
from castell.results import trust
from castell.results.joint import JointEstimate
from castell.results.trust import Signal, where_possible

# The tables of an estimate, as `to_dict` names them, in the order of a row's numbers.
TABLES = ("probabilities", "standard_errors", "lower", "upper")


@dataclass(frozen=True, eq=False)
class Answer:
    """Which question of which reports it answers, the estimate, and its trust signals."""

    question: Question
    moment: Snapshot
    joint: JointEstimate
    signals: tuple[Signal, ...]


def solve(moment: Snapshot, question: Question) -> JointEstimate:
    """The table that was asked for."""
    model = moment.model(question.method)
    return model.estimate(question.attributes, post=question.post, max_cells=MOST_CELLS)


def signals(moment: Snapshot, joint: JointEstimate, level: float) -> tuple[Signal, ...]:
    """Every trust signal: what the table and its reports say, and what their hours do."""
    drifted = where_possible("drift", "Drift between days", lambda: _drift(moment, joint.names))
    return (*trust.signals(moment.counts, joint, level), drifted)


def _drift(moment: Snapshot, names: tuple[str, ...]) -> Signal:
    spans = periods(moment.hours)
    return trust.drift(period_tables(moment, names, spans), spans.labels, spans.unit)


def document(given: Answer) -> dict[str, Any]:
    """An answer for the page."""
    told = given.joint.to_dict(given.question.level)
    # The page reads rows: the values of each cell and its numbers.
    numbers = [np.ravel(np.array(told.pop(name), dtype=object)) for name in TABLES]
    rows = zip(product(*told["values"]), zip(*numbers, strict=True), strict=True)
    kind, spec, problem = _chart(given)
    return {
        **told,
        "cells": [[*values, *row] for values, row in rows],
        "signals": [signal.to_dict() for signal in given.signals],
        "charts": list(kinds(given.joint.names)),
        "chart": kind,
        "spec": spec,
        "chart_problem": problem,
    }


def _chart(given: Answer) -> tuple[str | None, dict[str, Any] | None, str | None]:
    try:
        kind, spec = draw(given.joint, given.question.level, given.question.chart)
    except ImportError as error:
        return None, None, str(error)
    return kind, spec, None
