"""Which attributes are proposed to be randomised together, and what the proposal costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castell
from castell import Attribute, CastellError, Schema, Study
from castell.evaluation.metrics import cramers_v

SIZES = {"a": 2, "b": 3, "c": 2, "d": 2}
SCHEMA = Schema([Attribute(n, [f"{n}{i}" for i in range(d)]) for n, d in SIZES.items()])


def _answers(n: int = 20_000) -> dict[str, list[str]]:
    """a and b go together, c and d go together, nothing else does."""
    generator = np.random.default_rng(7)
    a, c = generator.integers(0, 2, (2, n))
    b = np.where(generator.random(n) < 0.6, a, generator.integers(0, 3, n))
    d = np.where(generator.random(n) < 0.4, c, generator.integers(0, 2, n))
    return {n: [f"{n}{v}" for v in x] for n, x in (("a", a), ("b", b), ("c", c), ("d", d))}


def test_from_public_answers() -> None:
    answers = _answers()
    found = castell.propose_clusters(SCHEMA, 8.0, answers)
    assert found.clusters == (("a", "b"), ("c", "d"))
    assert found.design == [["a", "b"], ["c", "d"]]
    assert (found.epsilon, found.pilot_epsilon, found.total_for_both) == (8.0, 0.0, 8.0)
    table = np.zeros((2, 3))
    for a, b in zip(answers["a"], answers["b"], strict=True):
        table[int(a[1]), int(b[1])] += 1
    assert found.cramers_v["a", "b"] == pytest.approx(cramers_v(table), abs=1e-12)
    assert found.cramers_v["a", "c"] < 0.03
    study = Study(SCHEMA, epsilon=8.0, design=found.design)
    assert [block.names for block in study.design.blocks] == [("a", "b"), ("c", "d")]
    assert repr(found) == "<ProposedClusters a + b; c + d: epsilon 8, public answers>"


def test_from_a_pilot_and_what_it_cost() -> None:
    """The noise of the pilot is no association: what is independent stays near 0."""
    pilot = Study(SCHEMA, epsilon=6.0).randomize(_answers(), seed=3)
    found = castell.propose_clusters(SCHEMA, 8.0, pilot)
    assert found.clusters == (("a", "b"), ("c", "d"))
    assert found.pilot_epsilon == pytest.approx(6.0, abs=1e-6)
    assert found.total_for_both == pytest.approx(14.0, abs=1e-6)
    public = castell.propose_clusters(SCHEMA, 8.0, _answers())
    for pair, v in public.cramers_v.items():
        # Five standard errors and more: V of n reports at this noise errs by about .01.
        assert found.cramers_v[pair] == pytest.approx(v, abs=0.08)


def test_no_more_combinations_than_the_budget_tells_apart() -> None:
    # Two of four attributes at epsilon 2 in all have e^1 = 2.7: not even 2 x 2 cells.
    found = castell.propose_clusters(SCHEMA, 2.0, _answers())
    assert found.clusters == ()
    assert found.design == "independent"
    # e^1.5 = 4.5 tells 2 x 2 apart, not 2 x 3.
    assert castell.propose_clusters(SCHEMA, 3.0, _answers()).clusters == (("c", "d"),)
    assert castell.propose_clusters(SCHEMA, 8.0, _answers(), least=0.5).clusters == (("a", "b"),)


def test_randomising_together_keeps_what_goes_together_better() -> None:
    """The point of it: at one budget a cluster's table errs less than that of single reports."""
    answers = _answers()
    truth = np.zeros((2, 3))
    np.add.at(truth, tuple([int(v[1]) for v in answers[n]] for n in "ab"), 1 / len(answers["a"]))
    proposed = castell.propose_clusters(SCHEMA, 8.0, answers)
    errors: dict[str, list[float]] = {"independent": [], "clusters": []}
    for seed in range(8):
        for how, design in (("independent", "independent"), ("clusters", proposed.design)):
            study = Study(SCHEMA, epsilon=8.0, design=design)
            table = castell.estimate(study.randomize(answers, seed=seed), ("a", "b"), "castell")
            errors[how].append(float(((table.probabilities - truth) ** 2).sum()))
    assert np.mean(errors["clusters"]) < 0.7 * np.mean(errors["independent"])


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((0.0, {"a": ["a0"]}), {}),
        (("much", {"a": ["a0"]}), {}),
        ((8.0, None), {}),
        ((8.0, {"a": ["a0"]}), {"least": 2.0}),
    ],
)
def test_what_is_no_proposal_is_refused(arguments: Any, options: Any) -> None:
    with pytest.raises(CastellError):
        castell.propose_clusters(SCHEMA, *arguments, **options)


def test_a_pilot_of_other_questions_is_refused() -> None:
    other = Schema([Attribute("x", ["1", "2"]), Attribute("y", ["1", "2"])])
    pilot = Study(other, epsilon=2.0).randomize({"x": ["1"], "y": ["2"]}, seed=1)
    with pytest.raises(CastellError, match="the pilot asked other attributes"):
        castell.propose_clusters(SCHEMA, 8.0, pilot)


def test_one_attribute_has_nothing_to_go_with() -> None:
    alone = Schema([Attribute("x", ["1", "2"])])
    assert castell.propose_clusters(alone, 1.0, {"x": ["1", "2"]}).design == "independent"
