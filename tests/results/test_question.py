"""Questions are checked before anything is worked out, and each refusal says what to do."""

from __future__ import annotations

import pytest

from castell import Attribute, CastellError, Schema
from castell.collector.results.question import Question, parse
from castell.fitting import DEFAULT_METHOD
from castell.population import SCHEMA


def test_a_question_has_defaults_and_keeps_the_order_asked() -> None:
    assert parse(SCHEMA, {"attributes": ["health", "age"]}) == Question(("health", "age"))
    assert parse(SCHEMA, {"attributes": ["health,age"]}).attributes == ("health", "age")
    assert parse(SCHEMA, {"attributes": ["age"]}).method == DEFAULT_METHOD


def test_everything_can_be_chosen() -> None:
    asked = {"attributes": ["age"], "method": ["em"], "level": ["0.9"], "post": ["clip"]}
    question = parse(SCHEMA, {**asked, "chart": ["bars"]})
    assert question == Question(("age",), "em", 0.9, "clip", "bars")


def test_a_name_with_a_comma_is_a_name() -> None:
    schema = Schema([Attribute("a,b", ["x", "y"]), Attribute("a", ["x", "y"])])
    assert parse(schema, {"attributes": ["a,b", "a"]}).attributes == ("a,b", "a")


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({}, "no attribute"),
        ({"attributes": [""]}, "no attribute"),
        ({"attributes": ["agee"]}, "agee"),
        ({"attributes": ["age", "age"]}, "asked for twice"),
        ({"attributes": ["age"], "method": ["magic"]}, "no method 'magic'"),
        ({"attributes": ["age"], "level": ["1.5"]}, "level is 1.5"),
        ({"attributes": ["age"], "level": ["nan"]}, "level is nan"),
        ({"attributes": ["age"], "level": ["high"]}, "level is 'high'"),
        ({"attributes": ["age"], "post": ["magic"]}, "no post-processing 'magic'"),
        ({"attributes": ["age"], "chart": ["pie"]}, "no chart 'pie'"),
        ({"attributes": ["age"], "colour": ["red"]}, "no parameter 'colour'"),
        ({"attributes": ["age"], "method": ["em", "castell"]}, "method is given twice"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, list[str]], problem: str) -> None:
    with pytest.raises(CastellError) as refused:
        parse(SCHEMA, asked)
    assert problem in refused.value.problem
    assert refused.value.remedy
