"""InpHT: parities with exact weights, and tables from their coefficients."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

import castell
from castell import Attribute, Study
from castell.auditing.audited_codes import count_wrong_cells
from castell.channels import ParityResponse, channel_of
from castell.channels.budget import log_ratio
from castell.errors import ChannelError, MethodError, QueryError, ReportError, StudyError
from castell.inference.hadamard_coefficients import coefficient_model
from castell.results.model import counts_of
from castell.study.design import Block, lens_on
from tests.auditing.broken_devices import SeededFrame
from tests.guessing import best_guess, worst_guess
from tests.populations import schema

ASKED = schema((2, 2, 2))
TRUTH = np.array([[[0.3, 0.05], [0.1, 0.02]], [[0.08, 0.15], [0.1, 0.2]]])


def _people(n: int) -> dict[str, list[str]]:
    """People of whom exactly so many gave each combination of answers."""
    cells = list(product(range(2), repeat=3))
    rows = [cell for cell in cells for _ in range(round(n * TRUTH[cell]))]
    return {name: [f"{name}{row[i]}" for row in rows] for i, name in enumerate("abc")}


def test_every_number_and_every_answer() -> None:
    for channel in (ParityResponse(1, 3, 1), ParityResponse(2, 5, 2), ParityResponse(4, 3, 1)):
        assert count_wrong_cells([channel]) == (channel.inputs * channel.total, 0)
        columns = zip(*channel.weights(), strict=True)
        widest = max(Fraction(max(column), min(column)) for column in columns)
        assert channel.exact_epsilon == log_ratio(widest)


def test_what_a_parity_gives_away() -> None:
    block = Block(("a", "b", "c"), (2, 2, 2), ParityResponse(3, 3, 1))
    assert block.channel.best_guess == pytest.approx(best_guess(block))
    assert block.channel.worst_guess == pytest.approx(worst_guess(block))
    for some in (["a"], ["b"]):
        lens = lens_on(block, some)
        assert lens.best_guess == pytest.approx(best_guess(block, some[0])) == 0.5
        assert lens.worst_guess == pytest.approx(worst_guess(block, some[0]))
        with pytest.raises(QueryError, match="use the method castell"):
            _ = lens.inverse
        with pytest.raises(QueryError, match="depends on the others"):
            _ = lens.forward
    with pytest.raises(QueryError, match="use the method castell"):
        _ = block.channel.inverse
    assert channel_of(block.channel.document()) == block.channel


def test_tables_are_unbiased_and_have_the_variance_of_the_paper() -> None:
    """Each coefficient has gain^2 - theta^2 over its reports; a cell is a quarter of three."""
    study, n, repeats = Study(ASKED, 2.0, "inpht"), 1500, 200
    answers = _people(n)
    pair = TRUTH.sum(axis=2)
    tables, errors = [], []
    for seed in range(repeats):
        model = castell.fit(study.randomize(answers, seed=seed), "castell")
        joint = model.estimate(["a", "b"])
        tables.append(joint.probabilities)
        errors.append(joint.standard_errors)
    odd = [pair[1].sum(), pair[:, 1].sum(), pair[0, 1] + pair[1, 0]]
    theta = [1 - 2 * share for share in odd]
    gain = (exp(2.0) + 1) / (exp(2.0) - 1)
    paper = sum((gain**2 - t**2) / (n / 6) for t in theta) / 16
    found = np.array(tables)
    assert np.abs(found.mean(axis=0) - pair).max() < 5 * np.sqrt(paper / repeats)
    # Four cells that share coefficients, 200 times: 6 % by one standard error.
    assert found.var(axis=0).mean() == pytest.approx(paper, rel=0.3)
    assert np.mean(np.square(errors)) == pytest.approx(paper, rel=0.05)
    shares = coefficient_model(counts_of(study.randomize(answers, seed=1))).shares(
        [{"a": np.array([1]), "b": np.array([0])}, {"a": np.array([0, 1]), "b": np.array([0])}]
    )
    assert shares.values[0] == pytest.approx(tables[1][1, 0])
    assert shares.values[1] == pytest.approx(tables[1][:, 0].sum())


def test_shares_and_tables_agree_and_name_those_behind_them() -> None:
    study = Study(ASKED, 3.0, "inpht", sample=3)
    model = castell.fit(study.randomize(_people(4000), seed=1), "castell")
    joint = model.estimate(["c", "a", "b"])
    share = model.probability(a="a1", c=["c0"])
    assert share.value == pytest.approx(joint.probabilities[0, 1].sum())
    assert share.standard_error == pytest.approx(joint.project(["c", "a"]).standard_errors[0, 1])
    assert joint.checked == "whole"
    assert joint.probabilities.sum() == pytest.approx(1.0)
    assert castell.methods_for(study) == ("castell",)
    with pytest.raises(MethodError, match="parities of drawn sets of attributes: use castell"):
        castell.fit(study.randomize(_people(4000), seed=1), "latent")


def test_stages_are_pooled() -> None:
    study, other = Study(ASKED, 3.0, "inpht"), Study(ASKED, 1.0, "inpht", name="second")
    one, two = (s.randomize(_people(3000), seed=i) for i, s in enumerate((study, other)))
    both = castell.fit([one, two], "castell").estimate("a")
    alone = [castell.fit(each, "castell").estimate("a") for each in (one, two)]
    precision = [1.0 / each.standard_errors[0] ** 2 for each in alone]
    assert both.standard_errors[0] == pytest.approx(sum(precision) ** -0.5, rel=1e-6)


def test_what_nobody_was_asked_or_reported() -> None:
    study = Study(ASKED, 3.0, "inpht")
    model = castell.fit(study.randomize(_people(1000), seed=1), "castell")
    with pytest.raises(QueryError, match="ask for 2 attributes or fewer"):
        model.estimate(["a", "b", "c"])
    one = {name: answers[:1] for name, answers in _people(100).items()}
    few = castell.fit(study.randomize(one, seed=1), "castell")
    with pytest.raises(ReportError, match="nobody reported the coefficient"):
        few.estimate(["a", "b"])


def test_audited() -> None:
    study = Study(ASKED, 1.0, "inpht")
    found = castell.audit(study, SeededFrame(1), n=100_000, confidence=1.0 - 1e-6)
    assert found.passed, str(found)
    assert found.lower > 0.7 * study.epsilon


TOML = """
design = "inpht"
epsilon = 1.0
sample = 2
[[attribute]]
name = "a"
values = ["no", "yes"]
[[attribute]]
name = "b"
values = ["no", "yes"]
"""


def test_in_a_study_file() -> None:
    study = Study.from_toml(TOML)
    assert [block.names for block in study.design.blocks] == [("a",), ("b",), ("a", "b")]
    assert Study.from_json(study.to_json()) == study
    assert 1.0 - 1e-9 < study.epsilon <= 1.0
    assert "x" in str(study.statement())


def test_designs_that_are_none() -> None:
    for asked, told in (
        ({"epsilon": None}, "has no epsilon"),
        ({"sample": 0}, "width of the tables"),
        ({"sample": 11}, "width of the tables"),
        ({"shares": {"a": 1.0}}, "leave them out"),
    ):
        with pytest.raises(StudyError, match=told):
            Study(ASKED, **{"epsilon": 1.0, "design": "inpht", **asked})  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="several yes-or-no questions"):
        Study(schema((2, 3)), 1.0, "inpht")
    many = [Attribute(f"q{i}", ["no", "yes"]) for i in range(60)]
    with pytest.raises(StudyError, match="use narrower tables"):
        Study(many, 1.0, "inpht", sample=3)
    with pytest.raises(ChannelError, match="from 1 to 10"):
        ParityResponse(11, 3, 1)
    with pytest.raises(ChannelError, match="must weigh more"):
        ParityResponse(2, 1, 1)
