"""The statement follows from the weights: best guesses by brute force, influence by closed form."""

from __future__ import annotations

import json
import subprocess
import sys
from math import exp, log, prod
from pathlib import Path

import numpy as np
import pytest

from castell import Attribute, Reports, Schema, Study
from castell.counting import MemoryCounts, Tally, samples_of
from castell.evaluation.bounds import influence
from castell.inference.inversion import observe
from castell.inference.pooled_table import sources
from tests.guessing import best_guess, worst_guess
from tests.populations import drawn_matrix, drawn_studies, schema

SCHEMA = Schema(
    [Attribute("a", ["x", "y"]), Attribute("b", ["x", "y", "z"]), Attribute("c", ["x", "y"])]
)
MATRIX = [[0.8, 0.2], [0.3, 0.7]]
CLUSTERS = [["a", "c"], ["b"]]


@pytest.mark.parametrize("design", ["independent", "joint", CLUSTERS])
def test_best_guess_is_what_an_attacker_gets(design: str) -> None:
    study = Study(SCHEMA, epsilon=3.0, design=design)
    for exposure in study.statement().exposures:
        (index,) = study.design.holders(exposure.name)
        assert exposure.best_guess == pytest.approx(
            best_guess(study.design.blocks[index], exposure.name)
        )
        assert exposure.best_guess > exposure.chance
        # Nothing is drawn: what is asked is asked of everybody.
        assert exposure.best_guess_over_draw == exposure.least_guess == exposure.best_guess
        assert exposure.chance_drawn == 1.0


def test_statement_of_a_matrix() -> None:
    study = Study(SCHEMA, epsilon=4.0, channels={"a": MATRIX})
    exposure = study.statement().exposures[0]
    assert exposure.best_guess == pytest.approx((0.8 + 0.7) / 2)
    assert exposure.worst_guess == pytest.approx(0.7 / 0.9)
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


def test_blocks_are_named_when_printed() -> None:
    shown = str(Study(SCHEMA, epsilon=3.0, design=[["a", "c"]]).statement())
    assert "randomised with" in shown
    assert "share one epsilon" in shown


# -- where one block is drawn --------------------------------------------------------------------

DRAWN = drawn_studies()


@pytest.mark.parametrize("study", DRAWN.values(), ids=DRAWN)
def test_guesses_at_a_drawn_report_are_what_an_attacker_gets(study: Study) -> None:
    """Over the draw: the chance of every report for every set of answers, all alike beforehand."""
    chances = drawn_matrix(study)
    statement, joint = study.statement(), chances / len(chances)
    assert statement.all_by_chance == pytest.approx(1 / len(chances))
    assert statement.all_guessed == pytest.approx(joint.max(axis=0).sum())
    table = joint.reshape(*study.schema.sizes, -1)
    for i, exposure in enumerate(statement.exposures):
        gone = tuple(k for k in range(len(study.names)) if k != i)
        seen = table.sum(axis=gone)
        assert exposure.best_guess_over_draw == pytest.approx(seen.max(axis=0).sum())
        assert exposure.worst_guess == pytest.approx((seen.max(axis=0) / seen.sum(axis=0)).max())
        assert exposure.chance == pytest.approx(1 / study.schema.sizes[i])
        # What the report tells about this attribute alone is never more than is stated of it.
        assert np.log((seen.max(axis=0) / seen.min(axis=0)).max()) <= exposure.epsilon + 1e-12
        assert exposure.epsilon <= study.epsilon
    assert max(e.epsilon for e in statement.exposures) == study.epsilon


@pytest.mark.parametrize("study", DRAWN.values(), ids=DRAWN)
def test_the_risk_of_who_is_asked_is_that_of_the_block_drawn(study: Study) -> None:
    blocks = study.design.blocks
    statement = study.statement()
    for exposure in statement.exposures:
        held = [block for block in blocks if exposure.name in block.names]
        each = [best_guess(block, exposure.name) for block in held]
        assert exposure.guesses == pytest.approx(each)
        assert (exposure.least_guess, exposure.best_guess) == pytest.approx((min(each), max(each)))
        worst = max(worst_guess(block, exposure.name) for block in held)
        assert exposure.worst_guess == pytest.approx(worst)
        assert exposure.chance_drawn == len(held) / len(blocks)
        assert exposure.best_guess >= exposure.best_guess_over_draw >= exposure.chance
    most = max(blocks, key=best_guess)
    assert statement.together.guess == pytest.approx(best_guess(most))
    assert statement.together.chance == pytest.approx(1 / prod(most.sizes))


def test_twelve_questions_of_which_one_is_asked() -> None:
    study = Study(schema((2,) * 12), 6.0, "singles")
    for exposure in study.statement().exposures:
        assert exposure.best_guess == pytest.approx(exp(6) / (exp(6) + 1), rel=1e-8)
        assert f"{exposure.best_guess:.5f}" == "0.99753"
        assert f"{exposure.best_guess_over_draw:.4f}" == "0.5415"
        assert exposure.chance_drawn == 1 / 12
    shown = str(study.statement())
    assert shown.count("99.8%          54.1%      50.0%  1 in 12") == 12
    said = study.statement().words()
    assert "guesses it right 99.8% of the time, instead of 50.0%" in said[0]
    assert "asked of 1 in 12 respondents" in said[1]
    assert "54.1%" in said[1]


def test_where_blocks_differ_the_range_is_said() -> None:
    study = Study(schema((2, 3, 4)), 2.0, [["c", "a"], ["b"], ["b", "c"]], draw=True)
    exposure = study.statement().exposures[1]
    assert exposure.least_guess < exposure.best_guess
    ends = f"{exposure.least_guess:.1%} to {exposure.best_guess:.1%}"
    assert ends in str(study.statement()).split("\n\n")[1]


@pytest.mark.parametrize("study", DRAWN.values(), ids=DRAWN)
def test_the_worst_forged_report_counts_as_much_as_stated(study: Study) -> None:
    """Every code there is, sent to a collection with as many reports of each block."""
    blocks, each = len(study.design.blocks), 1000
    codes = np.repeat(study.design.starts, each)
    counts = MemoryCounts(Reports(study, [codes], secure=True))
    assert {sample.n for sample in samples_of(counts)} == {each}
    for exposure in study.statement().exposures:
        group, worst = (exposure.name,), 0.0
        for source in sources(counts, [group]):
            (width,) = source.reports.study.design.widths
            for code in np.eye(width, dtype=np.int64):
                # What this report adds to the sum over the block's reports, as the table sees it.
                one = Tally.of_table(source.reports.study, code, secure=True)
                added = source.weights[group] * observe(one, group).invert()
                worst = max(worst, float(np.abs(added).max()) / each)
        # An honest report adds one in n to its own cell.
        assert worst * each * blocks == pytest.approx(exposure.influence, rel=1e-9)


def test_a_forged_report_may_count_for_more_in_a_joint_table() -> None:
    # The margins come from two blocks each, the table of a pair from one: more than the product.
    study = Study(schema((2, 2, 2)), 4.0, "pairs")
    exposures = study.statement().exposures
    alone = 3 * study.design.blocks[0].channel.inverse.extreme()
    assert alone > exposures[0].influence * exposures[1].influence
    assert "multiply" not in study.statement().words()[-1]
    assert "count for more" in study.statement().words()[-1]
    assert "multiply" in Study(SCHEMA, epsilon=3.0).statement().words()[-1]
    # In one block they do not multiply, but a table of more of it weighs more.
    joint = Study(SCHEMA, 3.0, "joint")
    whole = joint.design.blocks[0].channel.inverse.extreme()
    several = [e.influence for e in joint.statement().exposures]
    assert max(several) < whole < several[0] * several[1]
    assert "multiply" not in joint.statement().words()[-1]


def test_the_statement_of_a_draw_is_printed() -> None:
    shown = str(DRAWN["pairs"].statement())
    assert "epsilon   2 in all" in shown
    assert shown.count("2.0000") == 3
    # Every attribute is in several blocks: none is randomised with another throughout.
    assert "randomised with" not in shown
    assert "epsilon   2.5 in all" in str(DRAWN["cover"].statement())
    document = DRAWN["pairs"].statement().to_dict()
    assert [a["block"] for a in document["attributes"]] == [["a"], ["b"], ["c"]]
    assert document["epsilon"] == DRAWN["pairs"].epsilon


# -- the same everywhere ---------------------------------------------------------------------------

FILE = """
name = "smoking"
epsilon = 2.0
design = "cover"
[[attribute]]
name = "smokes"
values = ["never", "before", "now"]
[[attribute]]
name = "health"
values = ["poor", "fair", "good", "excellent"]
[[attribute]]
name = "sex"
values = ["f", "m"]
"""


def test_the_command_says_what_python_says(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(FILE)
    statement = Study.from_toml(FILE).statement()
    program = [sys.executable, "-m", "castell", "check", str(tmp_path / "study.toml")]
    told = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert told == f"{statement}\n"
    assert told.endswith("\n".join(statement.words()) + "\n")
    as_json = subprocess.run([*program, "--json"], capture_output=True, text=True, check=True)
    # The file says nothing of when it collects, and nothing was corrected.
    nothing: dict[str, object] = {"opens": None, "closes": None, "corrections": []}
    assert json.loads(as_json.stdout) == {**statement.to_dict(), **nothing}
    for entry, exposure in zip(statement.to_dict()["attributes"], statement.exposures, strict=True):
        assert entry["best_guess"] == entry["best_guess_if_drawn"] == exposure.best_guess
        assert entry["best_guess_over_draw"] == exposure.best_guess_over_draw
        assert entry["chance_drawn"] == exposure.chance_drawn
