"""What stands beside the table of one attribute: mean, quantiles, and who did not answer.

Each is the library's own answer: `model.mean`, `model.quantile`, `model.answered` and
`model.probability`, among those whom the question gives, or within each value of another attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from castell.collector.results.question import Question
from castell.collector.results.shares import groups_of
from castell.display.json_values import plain
from castell.errors import QueryError
from castell.results.answered_shares import Answered
from castell.results.conditional import Conditional
from castell.results.mean import Mean
from castell.results.model import Model
from castell.results.probability import Probability
from castell.results.quantile import Quantile
from castell.results.score_scale import numbers_of
from castell.results.text_lines import quote_text
from castell.study.declining import answered_codes, number_codes
from castell.study.scales import Bins, Points
from castell.study.schema import Attribute, Schema

QUANTILES = (0.25, 0.5, 0.75)
# Each value is several questions of its own, which take milliseconds each.
MOST_VALUES = 100

Group = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Summary:
    """Numbers of one attribute, of everybody or of those with some values of others.

    There is no mean where values stand for no numbers, or, with the reason in `no_mean`, where a
    bin has no end; no quantile where values have no order; and the last two are only of an
    attribute that somebody may not have answered.
    """

    attribute: Attribute
    given: Group
    mean: Mean | None
    no_mean: str | None
    quantiles: tuple[Quantile, ...]
    answered: Answered | None
    unanswered: Probability | Conditional | None
    having: Conditional | None  # of a key-value question: who has any of it

    def to_dict(self, level: float) -> dict[str, Any]:
        return {
            "attribute": self.attribute.name,
            "given": {name: list(values) for name, values in self.given.items()},
            "unit": getattr(self.attribute.scale, "unit", ""),
            "mean": None if self.mean is None else self.mean.to_dict(level),
            "no_mean": self.no_mean,
            "quantiles": [each.to_dict(level) for each in self.quantiles],
            "answered": None if self.answered is None else self.answered.to_dict(level),
            "no_answer": None if self.unanswered is None else _share(self.unanswered, level),
            "having": None if self.having is None else _share(self.having, level),
        }


def asked_groups(schema: Schema, question: Question) -> tuple[str, list[Group]] | None:
    """The attribute that a table is about, and whom: none of a table of several, which has no mean.

    >>> from castell.population import SCHEMA
    >>> asked_groups(SCHEMA, Question(("age",), given=(("smokes", ("now",)),)))
    ('age', [{'smokes': ('now',)}])
    """
    given = dict(question.given)
    if len(question.shown) == 1:
        return question.shown[0], [given]
    if len(question.shown) != 2 or not question.within:
        return None
    (name,) = (name for name in question.shown if name != question.within)
    merged = dict(question.merged).get(question.within, ())
    parts = groups_of(schema[question.within].values, merged)
    return name, [{**given, question.within: part} for part in parts]


def summaries(model: Model, question: Question) -> tuple[Summary, ...]:
    """Of an attribute shown by itself, or within each value of another, the largest groups if there
    are many; of no other table."""
    asked = _what_to_summarize(model, question)
    if asked is None:
        return ()
    attribute, groups = asked
    return tuple(_summary(model, attribute, group) for group in _largest(model, attribute, groups))


def summaries_left_out(model: Model, question: Question) -> str:
    """What is not shown since it would take too long, and how it is had; empty if nothing is."""
    asked = _what_to_summarize(model, question)
    if asked is None:
        return ""
    attribute, groups = asked
    shown = MOST_VALUES // attribute.size
    if shown >= len(groups):
        return ""
    if shown == 0:
        return (
            f"{quote_text(attribute.name)} has {attribute.size:,} values, too many to summarize on "
            f"this page: ask the command line, castell estimate --mean or --quantile, or in Python "
            "model.mean and model.quantile."
        )
    return (
        f"Of {len(groups):,} groups these are the {shown:,} largest: choose one of the others as a "
        "filter to see it."
    )


def _what_to_summarize(model: Model, question: Question) -> tuple[Attribute, list[Group]] | None:
    """The attribute that has means, quantiles or missing answers, and whom it is asked of."""
    asked = asked_groups(model.study.schema, question)
    if asked is None:
        return None
    attribute = model.study.schema[asked[0]]
    has_any = attribute.ordered or _may_be_unanswered(attribute)
    return (attribute, asked[1]) if has_any else None


def _largest(model: Model, attribute: Attribute, groups: list[Group]) -> list[Group]:
    """As many groups as a page waits for, in their order."""
    shown = MOST_VALUES // attribute.size
    if shown >= len(groups):
        return groups
    if shown == 0:
        return []
    shares = np.array([model.probability(group).value for group in groups])
    return [groups[k] for k in sorted(np.argsort(shares)[::-1][:shown])]


def _summary(model: Model, attribute: Attribute, given: Group) -> Summary:
    name, among = attribute.name, dict(given) or None
    mean, no_mean = _mean(model, attribute, given)
    quantiles: tuple[Quantile, ...] = ()
    if attribute.ordered and not isinstance(attribute.scale, Points):
        found = model.quantile(name, QUANTILES[0], given=among)
        quantiles = tuple(replace(found, q=q) for q in QUANTILES)
    answered, unanswered = None, None
    if _may_be_unanswered(attribute):
        answered = model.answered(name, given=among)
        rest = not_answers(attribute)
        unanswered = model.conditional(rest, given=given) if among else model.probability(rest)
    having = model.having(name, given=among) if attribute.may_have_none else None
    return Summary(attribute, given, mean, no_mean, quantiles, answered, unanswered, having)


def _mean(model: Model, attribute: Attribute, given: Group) -> tuple[Mean | None, str | None]:
    """The mean, or why there is none, where one would be looked for."""
    codes = number_codes(attribute)
    numbers = isinstance(attribute.scale, (Bins, Points)) or (
        # Values such as "1" and "2" may be names: that they are numbers must have been said.
        attribute.ordered and numbers_of(attribute, codes) is not None
    )
    if not numbers:
        return None, None
    try:
        return model.mean(attribute.name, given=dict(given) or None), None
    except QueryError as error:
        return None, error.problem  # a bin has no end


def _share(found: Probability | Conditional, level: float) -> dict[str, Any]:
    """One share, of everybody or among some, in the same words."""
    low, high = (float(np.ravel(end)[0]) for end in found.conf_int(level))
    share, error = float(np.asarray(found).ravel()[0]), _error(found)
    numbers = {"probability": share, "standard_error": error, "lower": low, "upper": high}
    return {key: plain(number) for key, number in numbers.items()}


def _error(found: Probability | Conditional) -> float:
    if isinstance(found, Probability):
        return found.standard_error
    return float(found.standard_errors[0])


def not_answers(attribute: Attribute) -> dict[str, list[str]]:
    """The values that are no answers, as a question.

    >>> not_answers(Attribute("smokes", ["no", "yes"], missing="category"))
    {'smokes': ['no answer']}
    """
    codes = answered_codes(attribute)
    rest = [value for code, value in enumerate(attribute.values) if code not in codes]
    return {attribute.name: rest}


def _may_be_unanswered(attribute: Attribute) -> bool:
    return len(answered_codes(attribute)) < attribute.size
