"""Questions are checked before anything is worked out, and each refusal says what to do."""

from __future__ import annotations

import pytest

from castell import Attribute, CastellError, Schema, Study
from castell.collector.results.question import Question, parse
from castell.errors import MethodError
from castell.results.model import DEFAULT_METHOD
from tests.collector.results.stores import PAIRS, STUDY


def test_a_question_has_defaults_and_keeps_the_order_asked() -> None:
    assert parse(STUDY, {"attributes": ["health", "age"]}) == Question(("health", "age"))
    assert parse(STUDY, {"attributes": ["health,age"]}).attributes == ("health", "age")
    assert parse(STUDY, {"attributes": ["age"]}).method == DEFAULT_METHOD


def test_everything_can_be_chosen() -> None:
    asked = {"attributes": ["age"], "method": ["em"], "level": ["0.9"], "post": ["clip"]}
    question = parse(STUDY, {**asked, "chart": ["bars"]})
    assert question == Question(("age",), "em", 0.9, "clip", "bars")


def test_a_name_with_a_comma_is_a_name() -> None:
    schema = Schema([Attribute("a,b", ["x", "y"]), Attribute("a", ["x", "y"])])
    assert parse(Study(schema, 2.0), {"attributes": ["a,b", "a"]}).attributes == ("a,b", "a")


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
        parse(STUDY, asked)
    assert problem in refused.value.problem
    assert refused.value.remedy


def test_a_method_that_does_not_read_the_reports_is_refused() -> None:
    assert parse(PAIRS, {"attributes": ["age"], "method": ["latent"]}).method == "latent"
    with pytest.raises(MethodError, match=r"method 'em' reads every block.*: use auto, "):
        parse(PAIRS, {"attributes": ["age"], "method": ["em"]})
