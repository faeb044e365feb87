"""The answer to a question: the table, what to think of it, and the chart, ready to send."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from castell.collector.results.charts import kinds, pictures
from castell.collector.results.dated_reports import DatedReports, period_tables, periods
from castell.collector.results.question import MOST_SHOWN_CELLS, Question
from castell.collector.results.shares import ShareTable, share_table
from castell.collector.results.summaries import Summary, summaries, summaries_left_out
from castell.display.json_values import plain
from castell.inference.goodness_of_fit import Verdict
from castell.results import trust
from castell.results.chart_data import ChartData
from castell.results.joint import JointEstimate
from castell.results.text_lines import quote_text
from castell.results.trust import Signal, where_possible

# The tables of an estimate, as `to_dict` names them, in the order of a row's numbers.
TABLES = ("probabilities", "standard_errors", "lower", "upper")
SUMS = (
    "Each of these shares is estimated by itself and has an interval of its own. So they need not "
    "add up to 100%, nor do those of a row or a column."
)


@dataclass(frozen=True, eq=False)
class Answer:
    """Which question of which reports it answers, the estimate, and its trust signals.

    The estimate is the joint table of all attributes in the question, those given included.
    """

    question: Question
    dated: DatedReports
    joint: JointEstimate
    signals: tuple[Signal, ...]

    @cached_property
    def shares(self) -> ShareTable | None:
        """The shares asked for, where that is not the joint table itself."""
        if self.question.whole:
            return None
        return share_table(self.dated.model(self.question.method), self.question)

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """Means, quantiles and shares of those who answered, of a table of one attribute."""
        return summaries(self.dated.model(self.question.method), self.question)


def solve(dated: DatedReports, question: Question) -> JointEstimate:
    """The table that was asked for."""
    model = dated.model(question.method)
    return model.estimate(question.attributes, post=question.post, max_cells=MOST_SHOWN_CELLS)


def signals(dated: DatedReports, joint: JointEstimate, level: float) -> tuple[Signal, ...]:
    """Every trust signal: what the table and its reports say, and what their hours do."""
    drifted = where_possible("drift", "Drift between days", lambda: _drift(dated, joint.names))
    return (*trust.signals(dated.counts, joint, level), drifted)


def _drift(dated: DatedReports, names: tuple[str, ...]) -> Signal:
    # In the stage with most reports: between stages the questions differ, not the people.
    longest = max(dated.stages, key=lambda stage: len(stage.hours))
    spans = periods(longest.hours)
    return trust.drift(period_tables(longest, names, spans), spans.labels, spans.unit)


def document(answer: Answer) -> dict[str, Any]:
    """An answer for the page."""
    told = tables(answer)
    # The page reads rows: the values of each cell and its numbers.
    numbers = [np.ravel(np.array(told.pop(name), dtype=object)) for name in TABLES]
    rows = zip(product(*told["values"]), zip(*numbers, strict=True), strict=True)
    pictures, problem = _pictures(answer)
    return {
        **told,
        "labels": labels(answer),
        "cells": [[*values, *row] for values, row in rows],
        "signals": [signal.to_dict() for signal in answer.signals],
        "sentence": in_one_sentence(answer.joint.verdict, answer.signals),
        "charts": list(kinds(len(answer.question.shown), whole=answer.question.whole)),
        "pictures": pictures,
        "chart_problem": problem,
    }


def tables(answer: Answer) -> dict[str, Any]:
    """The library's document of the table; of shares, with what they are shares of."""
    level = answer.question.level
    told = answer.joint.to_dict(level)
    told["summaries"] = [summary.to_dict(level) for summary in answer.summaries]
    model = answer.dated.model(answer.question.method)
    told["summaries_left_out"] = summaries_left_out(model, answer.question)
    shares = answer.shares
    if shares is None:
        return told
    return told | {
        "kind": "shares",
        "attributes": list(shares.attributes),
        "values": [list(axis) for axis in shares.values],
        "within": answer.question.within or None,
        "given": {name: list(values) for name, values in answer.question.given},
        "merged": {name: list(values) for name, values in answer.question.merged},
        "notes": list(shares.notes),
        "sums": SUMS,
        **{name: plain(table) for name, table in zip(TABLES, shares.numbers, strict=True)},
    }


def labels(answer: Answer) -> list[str]:
    """What the attributes shown are called: their questions, as respondents read them."""
    schema = answer.joint.study.schema
    return [schema[name].question or name for name in answer.question.shown]


def in_one_sentence(verdict: Verdict, found: tuple[Signal, ...]) -> str:
    """What all signals say together."""
    looks = [signal.title.lower() for signal in found if signal.state == "look"]
    unknown = sum(signal.state == "unknown" for signal in found)
    if verdict is Verdict.DOUBTFUL:
        return f"Do not rely on this table: its own reports contradict it ({', '.join(looks)})."
    if looks:
        ask = "asks" if len(looks) == 1 else "ask"
        many = f"{len(looks)} of {len(found)} signals {ask} for a look"
        return f"Use with care: {many} ({', '.join(looks)})."
    if unknown:
        return (
            f"Nothing speaks against this table; {unknown} of {len(found)} signals cannot be told."
        )
    return f"Nothing speaks against this table: all {len(found)} signals are fine."


def chart_data(answer: Answer) -> ChartData:
    """What the chart is drawn from, with questions as its labels."""
    question, shares = answer.question, answer.shares
    data = ChartData.of(answer.joint, question.level)
    named = replace(data, labels=tuple(labels(answer)), whom=_whom(answer))
    return named if shares is None else replace(named, values=shares.values, numbers=shares.numbers)


def _whom(answer: Answer) -> str:
    """Whose shares these are."""
    question = answer.question
    parts = []
    if question.within:
        label = answer.joint.study.schema[question.within].question or question.within
        parts.append(f"gave the same answer to {quote_text(label)}")
    if question.given:
        parts.append("are in the filter")
    return f"those who {' and '.join(parts)}" if parts else "respondents"


def _pictures(answer: Answer) -> tuple[list[dict[str, Any]], str | None]:
    joint = answer.joint if answer.question.whole else None
    try:
        found = pictures(chart_data(answer), answer.question.chart, joint)
    except ImportError as error:
        return [], str(error)
    return [asdict(picture) for picture in found], None
