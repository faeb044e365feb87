"""Channels that people give to blocks: matrices over clusters, in drawn designs, and in files."""

from __future__ import annotations

from decimal import Decimal
from math import log
from typing import Any

import numpy as np
import pytest

import castell
from castell import KaryResponse, MatrixResponse, Study
from castell.channels.budget import EXACT, log_ratio
from castell.errors import StudyError
from tests.populations import collect, population, report_distribution, schema

COIN = [[0.8, 0.2], [0.3, 0.7]]
OWN = [[7, 1, 2, 2], [1, 8, 1, 2], [2, 1, 6, 3], [1, 1, 1, 9]]
THREE = schema((2, 2, 3))
PAIR = ("a", "b")


def _own(**others: Any) -> Study:
    return Study(THREE, channels={PAIR: MatrixResponse(OWN)}, **others)


def test_the_total_is_worked_out_from_the_weights() -> None:
    study = _own(design=[["a", "b"]], epsilon=4.0)
    own, rest = (block.channel for block in study.design.blocks)
    assert own.exact_epsilon == log_ratio(8)  # type: ignore[arg-type]
    # What the matrix leaves of the total is for the others.
    assert Decimal(4) - Decimal(2**-30) < EXACT.add(own.exact_epsilon, rest.exact_epsilon) <= 4
    alone = _own(design=[["a", "b"]], shares={"c": 1.0})
    assert alone.epsilon == pytest.approx(log(8) + 1.0, abs=1e-9)
    joint = Study(schema((2, 2)), None, "joint", channels={PAIR: MatrixResponse(OWN)})
    assert joint.epsilon == pytest.approx(log(8))


def test_of_a_draw_the_total_is_the_worst_block() -> None:
    study = _own(design="pairs", epsilon=5.0)
    assert study.design.draw
    assert study.design.blocks[0].channel == MatrixResponse(OWN)
    assert 5.0 - 2**-30 < study.epsilon <= 5.0
    coins: dict[str, Any] = {**dict.fromkeys("ab", COIN)} | {"c": KaryResponse(3, 3, 1)}
    assert Study(THREE, None, "singles", channels=coins).epsilon == pytest.approx(log(3.5))
    # A rectangular matrix, in clusters that people list.
    wide = [[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.2, 0.5]]
    sets = [["b", "c"], ["a"], ["a", "b"]]
    drawn = Study(THREE, 3.0, sets, draw=True, channels={"a": wide})
    assert drawn.design.widths[0] == drawn.design.blocks[0].channel.outputs + 4 + 4
    assert Study.from_json(drawn.to_json()) == drawn


@pytest.mark.parametrize("design", [[["a", "b"]], "joint", "pairs", [["a", "b"], ["c", "a"]]])
def test_the_reports_are_distributed_as_the_weights_say(design: Any) -> None:
    """A chi-square of what devices send, which fails by chance less than once in a million."""
    from scipy import stats

    own: dict[Any, Any] = {PAIR: MatrixResponse(OWN)}
    if design == "joint":
        weights = np.random.default_rng(1).integers(1, 5, (12, 12)) + 20 * np.eye(12, dtype=int)
        weights[:, 0] += weights.sum(axis=1).max() - weights.sum(axis=1)
        own = {("a", "b", "c"): MatrixResponse(weights.tolist())}
    draw = isinstance(design, list) and len(design) > 1
    study = Study(THREE, 9.0, design, channels=own, draw=draw)
    people = population((2, 2, 3), seed=1)
    n = 30_000
    answers = people.answers(n, seed=2)
    codes = [np.searchsorted(a.values, answers[a.name]) for a in THREE]
    asked = np.bincount(np.ravel_multi_index(codes, (2, 2, 3)), minlength=12).reshape(2, 2, 3) / n
    reports = study.randomize(answers, seed=5)
    expected = report_distribution(study, asked)
    flat = np.ravel_multi_index([c.astype(int) for c in reports.columns], expected.shape)
    seen = np.bincount(flat, minlength=expected.size)
    assert stats.chisquare(seen, n * expected.ravel()).pvalue > 1e-6


@pytest.mark.parametrize("draw", [False, True])
def test_castell_is_unbiased_through_a_matrix_over_a_cluster(draw: bool) -> None:
    """Over repeated collections; means and coverage fail by chance less than once in a million."""
    sets = [["a", "b"], ["c"], ["c", "a"]] if draw else [["a", "b"]]
    study = _own(design=sets, epsilon=4.0, draw=draw)
    people, generator, tries = population((2, 2, 3), seed=3), np.random.default_rng(7), 200
    tables: dict[tuple[str, ...], list[Any]] = {("a", "b"): [], ("b",): [], ("a",): []}
    covered = total = 0
    for _ in range(tries):
        model = castell.fit(collect(study, people.table, 2000, generator), "castell")
        for names, found in tables.items():
            joint = model.estimate(names)
            found.append(joint.probabilities)
            low, high = joint.conf_int(0.95)
            truth = people.margin(names)
            covered += int(((low <= truth) & (truth <= high)).sum())
            total += truth.size
    for names, found in tables.items():
        mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(tries)
        assert (np.abs(mean - people.margin(names)) < 5.5 * error).all()
    assert 0.92 < covered / total < 0.98


# -- written by people --------------------------------------------------------------------------

FILE = """
epsilon = 4
clusters = [["a", "b"]]
[[attribute]]
name = "a"
values = ["a0", "a1"]
[[attribute]]
name = "b"
values = ["b0", "b1"]
[[attribute]]
name = "c"
values = ["c0", "c1", "c2"]
"""
SECTION = '[[channel]]\nattributes = ["a", "b"]\n'


@pytest.mark.parametrize("draw", ["", "draw = true\n"])
def test_a_channel_of_a_cluster_in_a_study_file(draw: str) -> None:
    text = FILE if not draw else draw + FILE.replace('["a", "b"]]', '["a", "b"], ["c"]]')
    written = Study.from_toml(f"{text}{SECTION}weights = {OWN}\n")
    sets = [["a", "b"], ["c"]] if draw else [["a", "b"]]
    made = _own(design=sets, epsilon=4.0, draw=bool(draw))
    assert [b.channel for b in written.design.blocks] == [b.channel for b in made.design.blocks]
    also = Study.from_toml(f'{text}{SECTION}kind = "matrix"\nweights = {OWN}\n')
    assert also.digest == written.digest


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (f"{SECTION}", "a channel without a matrix: give one of them"),
        (f"{SECTION}matrix = {COIN}\nweights = {OWN}\n", "matrix and weights: give one of them"),
        (f"{SECTION}weights = {OWN}\nsize = 4\n", "unknown entry 'size'"),
        (f"{SECTION}weights = {OWN}\n{SECTION}weights = {OWN}\n", "a x b has two channels"),
        (f"[[channel]]\nweights = {OWN}\n", "for no attributes"),
        ("[[channel]]\nattributes = [3]\n", "for no attributes"),
        (f"{SECTION}matrix = {COIN}\n", "has 2 rows for 4 combinations of values"),
        (f'[[channel]]\nattributes = ["b", "a"]\nweights = {OWN}\n', "in another order"),
        (f'[[channel]]\nattributes = ["b", "c"]\nweights = {OWN}\n', "no block of the design"),
        (f'[[channel]]\nattributes = ["b", "z"]\nweights = {OWN}\n', "a channel for 'z'"),
        (f'{SECTION}kind = "coin"\n', "a channel of kind 'coin' is unknown here"),
        (f'[[channel]]\nattributes = ["a"]\nmatrix = {COIN}\n', "but shares a block"),
        (f'{SECTION}kind = "matrix"\nweights = {OWN}\nsize = 4\n', "other entries than weights"),
    ],
)
def test_a_wrong_section_says_what_is_wrong(section: str, message: str) -> None:
    with pytest.raises(castell.CastellError, match=message):
        Study.from_toml(FILE + section)
    with pytest.raises(StudyError, match="write \\[\\[channel\\]\\]"):
        Study.from_toml("channel = 3\n" + FILE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"design": "pairs", "channels": {PAIR: OWN}}, "sums to 12"),
        ({"design": "pairs", "epsilon": 1.0}, "costs 2.07944, more than epsilon = 1"),
        ({"design": "pairs", "epsilon": None}, "no epsilon and no channel for a x c"),
        ({"design": "cover", "epsilon": None}, "has no epsilon"),
        ({"design": "pairs", "shares": {"c": 1.0}}, "has shares"),
        ({"design": "singles"}, "which are no block of the design"),
        ({"design": "pairs", "channels": {("b", "a"): MatrixResponse(OWN)}}, "another order"),
        ({"design": "bloom"}, "no method reads both"),
        ({"design": [["a", "b"]], "shares": {"b": 1.0}}, "'b' has a share and a channel"),
        ({"design": "independent", "channels": {"a": COIN, ("a",): COIN}}, "has two channels"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    given = {"epsilon": 4.0, "channels": {PAIR: MatrixResponse(OWN)}, **arguments}
    with pytest.raises(castell.CastellError, match=message):
        Study(THREE, **given)


def test_a_statement_tells_what_a_matrix_over_a_cluster_gives_away() -> None:
    study = _own(design=[["a", "b"]], epsilon=4.0)
    told = {e.name: e for e in study.statement().exposures}
    weights = np.array(OWN)
    # Seen by the first attribute alone: rows 0 and 1 against 2 and 3, in each report.
    parts = np.array([weights[:2].sum(axis=0), weights[2:].sum(axis=0)])
    assert told["a"].best_guess == pytest.approx(parts.max(axis=0).sum() / weights.sum())
    assert told["a"].worst_guess == pytest.approx((parts.max(axis=0) / parts.sum(axis=0)).max())
    inverse = np.linalg.inv(weights.T / 12)
    assert told["a"].influence == pytest.approx(np.abs(inverse[:2].sum(axis=0)).max())
    assert "'a'" in str(study.statement())
