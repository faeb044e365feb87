"""The statement follows from the weights: best guesses by brute force, influence by closed form."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import exp, log, prod

import numpy as np
import pytest

from castell import Attribute, Reports, Schema, Study
from castell.bounds import influence
from castell.counting import MemoryCounts, drawn_blocks
from castell.drawn import pooled, sources
from castell.tables import print_statement
from tests.populations import drawn_matrix, drawn_studies, schema

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


# -- where one block is drawn --------------------------------------------------------------------

DRAWN = drawn_studies()


@pytest.mark.parametrize("study", DRAWN.values(), ids=DRAWN)
def test_guesses_at_a_drawn_report_are_what_an_attacker_gets(study: Study) -> None:
    """From the chance of every report for every set of answers, all alike beforehand."""
    chances = drawn_matrix(study)
    statement, joint = study.statement(), chances / len(chances)
    assert statement.all_by_chance == pytest.approx(1 / len(chances))
    assert statement.all_guessed == pytest.approx(joint.max(axis=0).sum())
    table = joint.reshape(*study.schema.sizes, -1)
    for i, exposure in enumerate(statement.exposures):
        gone = tuple(k for k in range(len(study.names)) if k != i)
        assert exposure.best_guess == pytest.approx(table.sum(axis=gone).max(axis=0).sum())
        assert exposure.chance == pytest.approx(1 / study.schema.sizes[i])
        # What the report tells about this attribute alone is never more than is stated of it.
        seen = table.sum(axis=gone)
        assert np.log((seen.max(axis=0) / seen.min(axis=0)).max()) <= exposure.epsilon + 1e-12
        assert exposure.epsilon <= study.epsilon
    assert max(e.epsilon for e in statement.exposures) == study.epsilon


@pytest.mark.parametrize("study", DRAWN.values(), ids=DRAWN)
def test_the_worst_forged_report_counts_as_much_as_stated(study: Study) -> None:
    """Every code there is, sent to a collection with as many reports of each block."""
    blocks, each = len(study.design.blocks), 1000
    codes = np.repeat(study.design.starts, each)
    views = drawn_blocks(MemoryCounts(Reports(study, [codes], secure=True)))
    assert {view.n for view in views} == {each}
    for exposure in study.statement().exposures:
        group, worst = (exposure.name,), 0.0
        for source in sources(views, [group]):
            for code in np.eye(len(source.reports.codes), dtype=np.int64):
                # What this report adds to the sum over the block's reports, as the table sees it.
                added = pooled(
                    [replace(source, reports=replace(source.reports, codes=code))], group
                )
                worst = max(worst, float(np.abs(added).max()) / each)
        # An honest report adds one in n to its own cell.
        assert worst * each * blocks == pytest.approx(exposure.influence, rel=1e-9)


def test_a_forged_report_may_count_for_more_in_a_joint_table_of_a_draw() -> None:
    # The margins come from two blocks each, the table of a pair from one: more than the product.
    study = Study(schema((2, 2, 2)), 4.0, "pairs")
    exposures = study.statement().exposures
    alone = 3 * study.design.blocks[0].channel.inverse.extreme()
    assert alone > exposures[0].influence * exposures[1].influence
    assert "multiply" not in study.statement().words()[-1]
    assert "count for more" in study.statement().words()[-1]
    assert "multiply" in Study(SCHEMA, epsilon=3.0).statement().words()[-1]


def test_the_statement_of_a_draw_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_statement(DRAWN["pairs"].statement())
    shown = capsys.readouterr().out
    assert "epsilon   2 in all" in shown
    assert shown.count("2.0000") == 3
    # Every attribute is in several blocks: none is randomised with another throughout.
    assert "randomised with" not in shown
    print_statement(DRAWN["cover"].statement())
    assert "epsilon   2.5 in all" in capsys.readouterr().out
    document = DRAWN["pairs"].statement().document()
    assert [a["block"] for a in document["attributes"]] == [["a"], ["b"], ["c"]]
    assert document["epsilon"] == DRAWN["pairs"].epsilon
