"""What schemathesis is told that a description cannot say.

JSON Schema takes 1.0 for an integer. The collector does not: its types are strict, so bodies with
such numbers are no valid ones. And which chart, filter or group a table can have depends on the
attributes that are shown.
"""

from typing import Any

import schemathesis

from castell import CastellError
from castell.collector.results.charts import kinds
from castell.collector.results.question import PARAMETERS, SEVERAL, parse
from tests.collector.small_study import SMALL

_LABELS = [f"{a.name}={value}" for a in SMALL.schema for value in a.values]


@schemathesis.hook
def filter_body(context: Any, body: Any) -> bool:
    """Leave out valid bodies that hold a number with a point."""
    del context
    return not _has_float(body)


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """Leave out questions in which each parameter is as described, but one does not fit another."""
    del context
    asked = case.query or {}
    if not any(name in asked for name in ("given", "merge", "within", "chart")):
        return True
    return not _is_described(asked) or _is_answered(asked)


def _is_described(asked: dict[str, Any]) -> bool:
    """Whether values of parameters that depend on others are such as the description has them."""
    labels = [asked.get(name, []) for name in ("given", "merge")]
    return all(isinstance(each, list) and set(map(str, each)) <= set(_LABELS) for each in labels)


def _is_answered(asked: dict[str, Any]) -> bool:
    texts = {
        name: [str(each) for each in value] if isinstance(value, list) else [str(value)]
        for name, value in asked.items()
        if name in PARAMETERS and (name in SEVERAL or not isinstance(value, list))
    }
    try:
        question = parse(SMALL, texts)
    except CastellError:
        return False
    return question.chart in ("auto", *kinds(len(question.shown), whole=question.whole))


def _has_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_float(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return any(_has_float(inner) for inner in value)
    return isinstance(value, float)
