"""A way not to answer: found where it is offered, and its price."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from castell import Attribute, Schema, Study
from castell.channels import KaryResponse
from castell.study.declining import (
    decline_warning,
    impossible_decline_warning,
    offers_decline,
    price,
)
from castell.study.texts import StudyText


@pytest.mark.parametrize(
    "value",
    ["prefer not to say", "Prefer not to say.", "No answer", "I don\u2019t want to say",
     "keine Angabe", "Prefiero no contestar", "Je préfère ne pas répondre"],
)  # fmt: skip
def test_usual_ways_not_to_answer_are_known(value: str) -> None:
    assert offers_decline(Attribute("smokes", ["yes", "no", value]))
    assert not offers_decline(Attribute("smokes", ["yes", "no", f"{value} more"]))


def test_a_study_without_one_is_warned_of_and_one_with_it_is_not() -> None:
    way = "prefer not to say"
    two = Schema([Attribute("a", ["x", "y"]), Attribute("b", ["x", "y", way])])
    warning = decline_warning(Study(two, epsilon=2.0)) or ""
    assert warning.startswith("no way not to answer 'a': who does not want to say lies or leaves")
    assert "(it makes standard errors up to 17 % larger)" in warning
    assert decline_warning(Study([Attribute("a", ["x", way])], epsilon=1.0)) is None


def test_the_price_is_said_only_where_it_is_simple() -> None:
    two = [Attribute("a", ["x", "y"]), Attribute("b", ["x", "y"])]
    joint = decline_warning(Study(two, epsilon=2.0, design="joint")) or ""
    assert "randomised like any other" in joint
    strong = decline_warning(Study(two, epsilon=20.0)) or ""
    assert "(it makes standard errors less than 1 % larger)" in strong


def test_nothing_is_said_in_languages_whose_words_are_not_known() -> None:
    schema = [Attribute("a", ["x", "y"])]
    assert decline_warning(Study(schema, epsilon=1.0, text=StudyText(language="ar"))) is None
    assert decline_warning(Study(schema, epsilon=1.0, text=StudyText(language="de-AT")))


@pytest.mark.parametrize("size", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_price_is_that_of_the_channels(size: int, epsilon: float) -> None:
    """The variance of the unbiased estimate of a share of 0, from the weights themselves."""

    def error(values: int) -> float:
        weights = KaryResponse.with_epsilon(values, epsilon).weights()
        total = sum(weights[0])
        own, other = weights[0][0] / total, weights[0][1] / total
        return math.sqrt(other * (1 - other)) / (own - other)

    assert price(size, epsilon) == pytest.approx(error(size + 1) / error(size), rel=1e-6)


def test_the_documents_have_these_prices() -> None:
    page = (Path(__file__).parents[2] / "docs" / "browser.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (\d+) %[^|]*\| (\d+) % \| (\d+) % \| (\d+) % \|$", page, re.M)
    assert len(rows) == 4
    for size, *told in rows:
        worked_out = [100 * (price(int(size), epsilon) - 1) for epsilon in (0.5, 1.0, 2.0, 4.0)]
        assert [int(text) for text in told] == [round(number) for number in worked_out]


def test_a_rule_that_makes_declining_impossible_is_warned_of() -> None:
    asked = [
        Attribute("smokes", ["never", "now", "prefer not to say"]),
        Attribute("brand", ["none", "A", "B", "prefer not to say"]),
    ]
    trap = Schema(asked, [{"smokes": "never", "brand": "!none"}])
    warning = impossible_decline_warning(Study(trap, epsilon=2.0)) or ""
    assert warning.startswith("rules of impossible hold brand = 'prefer not to say'")
    # Nor are other values beside the answers for a rule to hold.
    brands = Attribute("brand", ["none", "A", "B"], also=["?"])
    beside = [Attribute("smokes", ["never", "now"]), brands]
    caught = Study(Schema(beside, [{"smokes": "never", "brand": "!none"}]), epsilon=2.0)
    assert "brand = '?'" in (impossible_decline_warning(caught) or "")
    fair = Schema(asked, [{"smokes": "never", "brand": ["A", "B"]}])
    assert impossible_decline_warning(Study(fair, epsilon=2.0)) is None
