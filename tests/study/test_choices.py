"""Choose all that apply: one question, a yes or no for each option."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest

import castell
from castell import Study
from castell.errors import AnswerError, CastellError, SchemaError, StudyError

_NUMBER: Any = 3
TEXT = """
epsilon = 5.0

[[attribute]]
name = "sports"
question = "Do you:"
choose = ["run", "swim", "ski"]
epsilon = 3.0

[[attribute]]
name = "smokes"
values = ["never", "now"]
"""


def test_a_question_becomes_attributes_that_share_its_budget() -> None:
    study = Study.from_toml(TEXT)
    assert study.names == ("sports: run", "sports: swim", "sports: ski", "smokes")
    assert study.schema["sports: ski"].question == "Do you: ski?"
    spent = [float(block.channel.exact_epsilon) for block in study.design.blocks]
    assert spent == pytest.approx([1.0, 1.0, 1.0, 2.0], abs=1e-8)
    assert study.epsilon <= 5.0
    assert Study.from_json(study.to_json()) == study
    plain = Study.from_toml(TEXT.replace("epsilon = 3.0\n", ""))
    assert [float(b.channel.exact_epsilon) for b in plain.design.blocks] == pytest.approx(
        [1.25] * 4
    )
    thirds = Study.from_toml(TEXT.replace("epsilon = 3.0", "epsilon = 1.0"))
    assert thirds.epsilon <= 5.0


def test_shares_and_pairs_of_options_are_found() -> None:
    options = ["run", "swim", "ski"]
    generator = np.random.default_rng(1)
    n = 20_000
    run = generator.random(n) < 0.5
    picks = np.column_stack([run, generator.random(n) < 0.2, run & (generator.random(n) < 0.4)])
    said = [";".join(o for o, p in zip(options, row, strict=True) if p) for row in picks.tolist()]
    study = Study(castell.choose_all("sports", options), epsilon=6.0)
    model = castell.fit(study.randomize(castell.chosen("sports", options, said), seed=2), "castell")
    for k, option in enumerate(options):
        found = model.probability({f"sports: {option}": "yes"})
        assert abs(found.value - picks[:, k].mean()) < 5.2 * found.standard_error
    both = model.estimate(["sports: run", "sports: ski"])
    away = (both.probabilities[1, 1] - (picks[:, 0] & picks[:, 2]).mean()) / both.standard_errors[
        1, 1
    ]
    assert abs(away) < 5.2


def test_what_was_chosen_becomes_columns() -> None:
    found = castell.chosen("q", ["a", 1], [" 1 ;a", "", None, nan, ["1"], []])
    assert found == {
        "q: a": ["yes", "no", None, None, "no", "no"],
        "q: 1": ["yes", "no", None, None, "yes", "no"],
    }
    comma = castell.chosen("q", ["a", "b"], ["a,b"], separator=",")
    assert comma == {"q: a": ["yes"], "q: b": ["yes"]}
    study = Study(castell.choose_all("q", ["a", 1], missing="skip"), 2.0)
    assert len(study.randomize(found)) == 6


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: castell.choose_all("q", "ab"), "no list of options"),
        (lambda: castell.choose_all("q", _NUMBER), "no list of options"),
        (lambda: castell.choose_all("q", []), "no options"),
        (lambda: castell.choose_all("q", ["a", "a"]), "one of them twice"),
        (lambda: castell.choose_all("q", ["a", ""]), "empty value"),
        (lambda: castell.choose_all(_NUMBER, ["a"]), "not a name"),
        (lambda: castell.choose_all("q", ["a"], bins=[1]), "'bins' beside"),
        (lambda: castell.choose_all("q", ["a"], missing="never"), "missing is 'never'"),
        (lambda: castell.chosen("q", ["a"], ["a", "b"]), "row 2: 'b' is no option of 'q'"),
    ],
)
def test_what_cannot_be_chosen_from_is_told(call: Any, words: str) -> None:
    with pytest.raises((SchemaError, AnswerError), match=words):
        call()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('choose = ["run", "swim", "ski"]', "choose = 3", "no list of options"),
        ('name = "sports"\n', "", "a question has no name"),
        ("epsilon = 3.0", "epsilon = 0", "positive"),
        ("epsilon = 3.0", "epsilon = 6.0", "raise epsilon or lower the shares"),
        ("epsilon = 3.0", 'values = ["a", "b"]', "unknown entry 'values'"),
        ('name = "smokes"', 'name = "sports: run"', "sports: run"),
    ],
)
def test_mistakes_of_a_study_file_are_told(old: str, new: str, words: str) -> None:
    with pytest.raises((StudyError, CastellError), match=words):
        Study.from_toml(TEXT.replace(old, new, 1))
