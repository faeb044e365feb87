"""What an analyst asks for, checked against the study before anything is worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from castell.errors import OptionError, QueryError
from castell.estimators import check_reads
from castell.inference.intervals import quantile
from castell.inference.postprocess import step
from castell.results.model import DEFAULT_METHOD
from castell.study.schema import Schema, suggest
from castell.study.study import Study

# What a question is asked by.
PARAMETERS = ("attributes", "method", "level", "post", "chart", "given", "merge", "within")
# Parameters that may be given several times.
SEVERAL = ("attributes", "given", "merge")
CHARTS = ("auto", "heat", "bars", "mosaic")
# A page shows no more cells than a person can look through.
MOST_SHOWN_CELLS = 5_000
# Groups and shares among some are asked cell by cell, which takes milliseconds for each.
MOST_SHARES = 1_000

Asked = Mapping[str, Sequence[str]]
# Values by attribute, in the order of the schema.
Labels = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Question:
    """Attributes in the order asked, the method, and how to show the answer.

    `given` are the values of those who are asked about: their attributes come last among
    `attributes`, and are no axis of the table shown. `merged` values of an attribute are one group;
    shares `within` an attribute are of those with each of its values.
    """

    attributes: tuple[str, ...]
    method: str = DEFAULT_METHOD
    level: float = 0.95
    post: str = "raw"
    chart: str = "auto"
    given: Labels = ()
    merged: Labels = ()
    within: str = ""

    @property
    def shown(self) -> tuple[str, ...]:
        """The axes of the table."""
        return tuple(name for name in self.attributes if name not in dict(self.given))

    @property
    def whole(self) -> bool:
        """Whether the joint table itself is asked for."""
        return not (self.given or self.merged or self.within)


def parse(study: Study, asked: Asked) -> Question:
    """A question from the parameters of a request; one that has no place is refused.

    Attributes are named one by one, or several with commas between them.
    """
    schema = study.schema
    for name, values in asked.items():
        if name not in PARAMETERS:
            raise OptionError(f"there is no parameter {name!r}", suggest(name, PARAMETERS))
        if name not in SEVERAL and len(values) > 1:
            raise OptionError(f"{name} is given twice", "give it once")
    names = [name for text in asked.get("attributes", ()) for name in _names(schema, text)]
    if not names:
        raise QueryError("no attribute was asked for", f"name some of {', '.join(schema.names)}")
    given = _labels(schema, asked.get("given", ()))
    question = Question(
        tuple(a.name for a in schema.select([*names, *dict(given)])),
        _one(asked, "method", DEFAULT_METHOD),
        _number(_one(asked, "level", "0.95")),
        _one(asked, "post", "raw"),
        _one(asked, "chart", "auto"),
        given,
        _labels(schema, asked.get("merge", ())),
        _one(asked, "within", ""),
    )
    # Each of these refuses what it does not know, with what to do about it.
    check_reads(question.method, study)
    quantile(question.level)
    step(question.post)
    if question.chart not in CHARTS:
        raise OptionError(f"there is no chart {question.chart!r}", suggest(question.chart, CHARTS))
    _check_shares(schema, question)
    return question


def _check_shares(schema: Schema, question: Question) -> None:
    """That groups, and the attribute that shares are within, are of the table shown."""
    if question.whole:
        return
    for name, values in question.merged:
        if name not in question.shown:
            raise QueryError(f"values of {name!r} are merged, which is not shown", "ask for it too")
        if not 2 <= len(values) < schema[name].size:
            raise QueryError(
                f"{len(values)} of the {schema[name].size} values of {name!r} are merged",
                "merge two or more, and leave one out",
            )
    if question.within and (question.within not in question.shown or len(question.shown) < 2):
        raise QueryError(
            f"shares cannot be within {question.within!r}",
            "take one of two or more attributes shown",
        )
    if question.post != "raw":
        raise OptionError("shares of a part are not post-processed", "leave out post")
    merged = dict(question.merged)
    cells = prod(schema[n].size - max(len(merged.get(n, ())) - 1, 0) for n in question.shown)
    if cells > MOST_SHARES:
        raise QueryError(
            f"these are {cells:,} shares, the limit is {MOST_SHARES:,}", "ask for fewer attributes"
        )


def _labels(schema: Schema, texts: Sequence[str]) -> Labels:
    """Texts such as "smokes=now"; several values of an attribute count together."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, value = _label(schema, text)
        found.setdefault(name, []).append(value)
    return tuple(
        (a.name, tuple(value for value in a.values if value in found[a.name]))
        for a in schema
        if a.name in found
    )


def _label(schema: Schema, text: str) -> tuple[str, str]:
    # Names and values may hold "=" themselves.
    possible = [name for name in schema.names if text.startswith(f"{name}=")]
    if not possible:
        raise QueryError(f"{text!r} names no attribute", f"write {schema.names[0]}=VALUE")
    for name in possible:
        if text[len(name) + 1 :] in schema[name].values:
            return name, text[len(name) + 1 :]
    name = possible[0]
    value = text[len(name) + 1 :]
    raise QueryError(f"{name!r} has no value {value!r}", suggest(value, schema[name].values))


def _names(schema: Schema, text: str) -> list[str]:
    return [text] if text in schema.names else [part for part in text.split(",") if part]


def _one(asked: Asked, name: str, default: str) -> str:
    values = asked.get(name) or [default]
    return values[0]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"the level is {text!r}", "give a number such as 0.95") from None
