"""The answer to a question: the table, what to think of it, and the chart, ready to send."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from castell.collector.results.charts import draw, kinds
from castell.collector.results.moment import Moment, period_tables, periods
from castell.collector.results.question import MOST_CELLS, Question
from castell.errors import CastellError
from castell.estimate import JointEstimate
from castell.fitting import fit
from castell.inversion import observe
from castell.trust import (
    Signal,
    below_noise,
    drift,
    influence,
    negative_mass,
    standard_errors,
    unknown,
)


@dataclass(frozen=True, eq=False)
class Answer:
    """Which question of which reports it answers, the estimate, and its trust signals."""

    question: Question
    moment: Moment
    joint: JointEstimate
    signals: tuple[Signal, ...]


def solve(moment: Moment, question: Question) -> JointEstimate:
    """The table that was asked for."""
    model = fit(moment.counts, question.method)
    return model.estimate(question.attributes, post=question.post, max_cells=MOST_CELLS)


def signals(moment: Moment, joint: JointEstimate, level: float) -> tuple[Signal, ...]:
    """Every trust signal. What is said of reports is said of the raw inversion, by any method."""
    names, counts = joint.names, moment.counts

    @cache
    def raw() -> JointEstimate:
        return fit(counts, "castell").estimate(names, max_cells=MOST_CELLS)

    return (
        standard_errors(joint, level),
        below_noise(joint, level),
        _where_possible("negative", "Negative mass beyond its error", lambda: negative_mass(raw())),
        _where_possible(
            "influence",
            "Influence of one forged report",
            lambda: influence(observe(counts, names, MOST_CELLS), raw()),
        ),
        _where_possible("drift", "Drift between days", lambda: _drift(moment, names)),
    )


def _drift(moment: Moment, names: tuple[str, ...]) -> Signal:
    spans = periods(moment.hours)
    return drift(period_tables(moment, names, spans), spans.labels, spans.unit)


def _where_possible(key: str, title: str, check: Callable[[], Signal]) -> Signal:
    try:
        return check()
    except CastellError as error:
        # A design whose reports cannot be inverted for these attributes can still be estimated.
        return unknown(key, title, f"{error.problem[:1].upper()}{error.problem[1:]}.")


def document(given: Answer) -> dict[str, Any]:
    """An answer for the page."""
    joint, level = given.joint, given.question.level
    columns = joint.columns(level)
    labels = list(columns)[: len(joint.names)]
    numbers = np.stack([columns[k] for k in list(columns)[len(labels) :]], axis=1)
    rows = zip(zip(*(columns[k] for k in labels), strict=True), numbers.tolist(), strict=True)
    kind, spec, problem = _chart(given)
    return {
        "attributes": list(joint.names),
        "method": joint.method,
        "post": joint.post,
        "level": level,
        "n": joint.n,
        "secure": joint.secure,
        "epsilon": joint.epsilon,
        "epsilon_of_these": joint.spent,
        "cells": [[*values, *row] for values, row in rows],
        "notes": list(joint.notes),
        "signals": [signal.document() for signal in given.signals],
        "charts": list(kinds(joint.names)),
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
