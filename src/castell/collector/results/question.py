"""What an analyst asks for, checked against the study before anything is worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from castell.errors import OptionError, QueryError
from castell.estimators import check_reads
from castell.inference.intervals import quantile
from castell.inference.postprocess import step
from castell.results.fitting import DEFAULT_METHOD
from castell.study.schema import Schema, suggest
from castell.study.study import Study

CHARTS = ("auto", "heat", "bars", "mosaic")
# A page shows no more cells than a person can look through.
MOST_CELLS = 5_000

Asked = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Question:
    """Attributes in the order asked, the method, and how to show the answer."""

    attributes: tuple[str, ...]
    method: str = DEFAULT_METHOD
    level: float = 0.95
    post: str = "raw"
    chart: str = "auto"


def parse(study: Study, asked: Asked, also: Sequence[str] = ()) -> Question:
    """A question from the parameters of a request; one that has no place is refused.

    Attributes are named one by one, or several with commas between them.
    """
    schema = study.schema
    known = ["attributes", "method", "level", "post", "chart", *also]
    for name, values in asked.items():
        if name not in known:
            raise OptionError(f"there is no parameter {name!r}", suggest(name, known))
        if name != "attributes" and len(values) > 1:
            raise OptionError(f"{name} is given twice", "give it once")
    names = [name for text in asked.get("attributes", ()) for name in _names(schema, text)]
    if not names:
        raise QueryError("no attribute was asked for", f"name some of {', '.join(schema.names)}")
    question = Question(
        tuple(attribute.name for attribute in schema.select(names)),
        _one(asked, "method", DEFAULT_METHOD),
        _number(_one(asked, "level", "0.95")),
        _one(asked, "post", "raw"),
        _one(asked, "chart", "auto"),
    )
    # Each of these refuses what it does not know, with what to do about it.
    check_reads(question.method, study)
    quantile(question.level)
    step(question.post)
    if question.chart not in CHARTS:
        raise OptionError(f"there is no chart {question.chart!r}", suggest(question.chart, CHARTS))
    return question


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
