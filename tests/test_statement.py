"""The statement follows from the weights: best guesses by brute force, influence by closed form."""

from __future__ import annotations

from itertools import product
from math import exp, log, prod

import numpy as np
import pytest

from castell import Attribute, Schema, Study
from castell.bounds import influence
from castell.tables import print_statement

SCHEMA = Schema(
    [Attribute("a", ["x", "y"]), Attribute("b", ["x", "y", "z"]), Attribute("c", ["x", "y"])]
)
MATRIX = [[0.8, 0.2], [0.3, 0.7]]


def _brute_force(study: Study, name: str) -> float:
    """How often the most likely value given the report is the answer, over all answers alike."""
    (index,) = study.design.holders(name)
    block = study.design.blocks[index]
    position = block.names.index(name)
    answers = list(product(*(range(size) for size in block.sizes)))
    matrix = np.array(block.channel.weights()) / block.channel.total
    joint = np.zeros((block.sizes[position], matrix.shape[1]))
    for row, answer in zip(matrix, answers, strict=True):
        joint[answer[position]] += row / len(answers)
    return float(joint.max(axis=0).sum())


@pytest.mark.parametrize("design", ["independent", "joint", [["a", "c"], ["b"]]])
def test_best_guess_is_what_an_attacker_gets(design: str) -> None:
    study = Study(SCHEMA, epsilon=3.0, design=design)
    for exposure in study.statement().exposures:
        assert exposure.best_guess == pytest.approx(_brute_force(study, exposure.name))
        assert exposure.best_guess > exposure.chance


def test_statement_of_a_matrix() -> None:
    study = Study(SCHEMA, epsilon=4.0, channels={"a": MATRIX})
    exposure = study.statement().exposures[0]
    assert exposure.best_guess == pytest.approx(_brute_force(study, "a"))
    assert exposure.epsilon == pytest.approx(log(3.5))
    assert exposure.influence == pytest.approx(np.abs(np.linalg.inv(np.array(MATRIX))).max())


def test_influence_and_totals() -> None:
    study = Study(SCHEMA, epsilon=3.0)
    statement = study.statement()
    for exposure in statement.exposures:
        assert exposure.influence == pytest.approx(influence([exposure.size], [1.0]))
    guesses = [exp(1) / (exp(1) + size - 1) for size in SCHEMA.sizes]
    assert statement.all_guessed == pytest.approx(prod(guesses))
    assert statement.all_by_chance == pytest.approx(1 / 12)
    # What is stated of the parts is never less than the whole.
    assert sum(e.epsilon for e in statement.exposures) >= study.epsilon


def test_words_warn_of_weak_protection() -> None:
    assert "weak" not in " ".join(Study(SCHEMA, epsilon=3.0).statement().words())
    assert "weak" in " ".join(Study(SCHEMA, epsilon=12.0).statement().words())


def test_blocks_are_named_when_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_statement(Study(SCHEMA, epsilon=3.0, design=[["a", "c"]]).statement())
    shown = capsys.readouterr().out
    assert "randomised with" in shown
    assert "share one epsilon" in shown
