"""The classic designs against their published closed forms, and by enumeration of the chance."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, Study, mechanism
from castell.channels.classic import MECHANISMS, classic_design
from castell.errors import ChannelError, StudyError

N, SECOND = 1000, 380  # reports in all, and those of the second kind

# The estimate of the share that is hidden from the share of second reports, and its slope: as in
# Warner 1965, Boruch 1971, Greenberg et al. 1969, Kuk 1990, Yu, Tian and Tang 2008.
CLOSED = [
    ("warner", {"p": "5/6"}, lambda y: (y - 1 / 6) / (2 / 3), 3 / 2, math.log(5)),
    ("warner", {"p": 0.3}, lambda y: (y - 0.7) / -0.4, 5 / 2, math.log(7 / 3)),
    ("forced", {"forced": ["1/6", "1/12"]}, lambda y: (y - 1 / 12) / 0.75, 4 / 3, math.log(10)),
    (
        "unrelated",
        {"p": "2/3", "prevalence": 0.25},
        lambda y: (y - 1 / 12) / (2 / 3),
        3 / 2,
        math.log(9),
    ),
    ("kuk", {"red": [0.2, 0.7]}, lambda y: (y - 0.2) / 0.5, 2.0, math.log(3.5)),
    ("crosswise", {"prevalence": 0.25}, lambda y: (y + 0.25 - 1) / -0.5, 2.0, math.log(3)),
    ("triangular", {"prevalence": 0.25}, lambda y: 1 - (1 - y) / 0.75, 4 / 3, math.inf),
]


@pytest.mark.parametrize(("name", "parameters", "closed", "slope", "epsilon"), CLOSED)
def test_estimates_are_the_published_ones(
    name: Any, parameters: Any, closed: Any, slope: Any, epsilon: Any
) -> None:
    channel = classic_design(name, **parameters)
    study = Study([Attribute("a", ["no", "yes"])], channels={"a": channel})
    words = [said[0] for said in channel.said] or ["no", "yes"]
    reports = castell.import_reports(study, {"a": [words[1]] * SECOND + [words[0]] * (N - SECOND)})
    found = castell.estimate(reports, "a", "castell")
    share = SECOND / N
    assert found.probabilities[1] == pytest.approx(closed(share), abs=1e-12)
    expected = slope * math.sqrt(share * (1 - share) / N)
    assert found.standard_errors[1] == pytest.approx(expected, rel=1e-9)
    assert study.epsilon == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [(name, parameters) for name, parameters, *_, epsilon in CLOSED if epsilon < math.inf]
    + [
        ("forced", {"forced": ["1/6", "1/12", "1/3"]}),
        ("kuk", {"red": ["1/4", "2/3"], "cards": 2}),
    ],
)
def test_every_number_of_every_answer_is_reported_as_the_weights_say(
    name: Any, parameters: Any
) -> None:
    channel = classic_design(name, **parameters)
    numbers = np.arange(channel.total, dtype=np.uint64)
    for answer, weights in enumerate(channel.weights()):
        reports = channel.respond(np.full(channel.total, answer), numbers)
        assert np.bincount(reports, minlength=channel.outputs).tolist() == weights


def test_red_cards_are_those_of_all_draws() -> None:
    red = [Fraction(1, 4), Fraction(2, 3)]
    channel = classic_design("kuk", red=red, cards=3)
    for share, weights in zip(red, channel.weights(), strict=True):
        chances = [Fraction(0)] * 4
        for drawn in product([True, False], repeat=3):
            chances[sum(drawn)] += math.prod(share if card else 1 - share for card in drawn)
        assert [Fraction(weight, channel.total) for weight in weights] == chances
    assert channel.epsilon == pytest.approx(3 * math.log(8 / 3))
    # With more reports than answers the estimate is still unbiased.
    back = channel.inverse.dense() @ channel.forward.dense()
    assert np.allclose(back, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("sixth", ["1/6", 1 / 6, Fraction(1, 6), np.float64(1 / 6)])
def test_chances_are_what_was_meant(sixth: Any) -> None:
    assert classic_design("warner", p=sixth).rows == ((1, 5), (5, 1))


def test_decimals_of_a_file_are_exact() -> None:
    assert classic_design("crosswise", prevalence=Decimal("0.246")).rows == ((123, 377), (377, 123))


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("warmer", {"p": 0.7}, "castell knows best, crosswise"),
        ("warner", {}, "mechanism 'warner' has no p: add p"),
        ("warner", {"p": 0.7, "cards": 2}, "has no 'cards': it takes p"),
        ("warner", {"p": 0.5}, "say nothing"),
        ("warner", {"p": 1}, "epsilon would be infinite"),
        ("warner", {"p": 0}, "epsilon would be infinite"),
        ("warner", {"p": 1.2}, "between 0 and 1"),
        ("warner", {"p": "half"}, "give a chance"),
        ("warner", {"p": "1/0"}, "give a chance"),
        ("warner", {"p": True}, "give a chance"),
        ("warner", {"p": [0.7]}, "give a chance"),
        ("warner", {"p": math.nan}, "give a chance"),
        ("warner", {"p": math.inf}, "give a chance"),
        ("forced", {"forced": "1/6"}, "a chance for each value"),
        ("forced", {"forced": {"no": 0.2}}, "a chance for each value"),
        ("forced", {"forced": [0.2]}, "fewer than two"),
        ("forced", {"forced": [0.6, 0.4]}, "sum to 1"),
        ("forced", {"forced": [0.6, 0.7]}, "sum to 1.3"),
        ("unrelated", {"p": 0.7}, "has no prevalence"),
        ("unrelated", {"p": 0, "prevalence": 0.3}, "say nothing"),
        ("kuk", {"red": [0.3, 0.3]}, "say nothing"),
        ("kuk", {"red": [0.3]}, "share of red cards"),
        ("kuk", {"red": 0.3}, "share of red cards"),
        ("kuk", {"red": [0, 0.3]}, "epsilon would be infinite"),
        ("kuk", {"red": [0.3, 0.7], "cards": 0}, "from 1 to 50"),
        ("kuk", {"red": [0.3, 0.7], "cards": 2.5}, "from 1 to 50"),
        ("kuk", {"red": [0.3, 0.7], "cards": 51}, "from 1 to 50"),
        ("kuk", {"red": [0.3, 0.7], "cards": 20}, "too many digits"),
        ("crosswise", {"prevalence": 0.5}, "say nothing"),
        ("crosswise", {"prevalence": 1}, "epsilon would be infinite"),
        ("triangular", {"prevalence": 1}, "say nothing"),
    ],
)
def test_what_cannot_be_estimated_or_hides_nothing_is_refused(
    name: Any, parameters: Any, words: Any
) -> None:
    with pytest.raises(ChannelError, match=words):
        mechanism(name, **parameters)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("triangular", {"prevalence": 0.25}),
        ("forced", {"forced": [0, "1/6"]}),
        ("unrelated", {"p": 0.5, "prevalence": 0}),
        ("unrelated", {"p": 1, "prevalence": 0.3}),
    ],
)
def test_one_sided_designs_read_paper_and_ask_nobody(name: Any, parameters: Any) -> None:
    study = Study([Attribute("a", ["no", "yes"])], channels={"a": mechanism(name, **parameters)})
    assert study.epsilon == math.inf
    assert "epsilon is infinite" in " ".join(study.statement().words())
    assert study.statement().to_dict()["epsilon"] is None
    for collect in (
        lambda: study.randomize({"a": ["no", "yes"]}),
        study.to_json,
        lambda: castell.plan(study, 100),
    ):
        with pytest.raises(ChannelError, match="epsilon is infinite"):
            collect()


def test_a_study_file_names_designs_and_publishes_their_weights() -> None:
    text = """
    [[attribute]]
    name = "copied"
    values = ["no", "yes"]
    mechanism = "kuk"
    red = [0.2, "4/5"]
    cards = 2
    """
    study = Study.from_toml(text)
    assert study.design.blocks[0].channel.weights() == [[16, 8, 1], [1, 8, 16]]
    again = Study.from_json(study.to_json())
    assert again == study
    assert again.design.blocks[0].channel.document()["kind"] == "matrix"
    reports = study.randomize({"copied": ["no", "yes"] * 500})
    assert castell.estimate(reports, "copied", "em").probabilities.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('mechanism = "warner"', "'a': mechanism 'warner' has no p"),
        ("p = 0.7", "has 'p' and no mechanism"),
        ('mechanism = "warner"\np = 0.7\nmatrix = [[0.7, 0.3], [0.3, 0.7]]', "give one of them"),
        ('mechanism = "warner"\np = 0.7\nepsilon = 1.0', "a share and a channel"),
        ('mechanism = "forced"\nforced = [0.1, 0.1, 0.1]', "3 rows for 2 values"),
        ("mechanism = 3\np = 0.7", "mechanism is 3"),
    ],
)
def test_mistakes_of_a_study_file_are_told(lines: Any, words: Any) -> None:
    with pytest.raises((StudyError, ChannelError), match=words):
        Study.from_toml(f'[[attribute]]\nname = "a"\nvalues = ["no", "yes"]\n{lines}\n')


def test_the_value_that_is_hidden_comes_second() -> None:
    for values in (["yes", "no"], ["True", "False"], [1, 0]):
        with pytest.raises(StudyError, match="list the harmless one first"):
            Study([Attribute("a", values)], channels={"a": mechanism("warner", p=0.7)})
    with pytest.raises(StudyError, match="2 rows for 3 values"):
        Study([Attribute("a", ["x", "y", "z"])], channels={"a": mechanism("warner", p=0.7)})


def test_every_design_is_tested_here() -> None:
    assert {name for name, *_ in CLOSED} == set(MECHANISMS)
