"""What is solved for is simulated there, and corrected by what simulation says."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from math import exp, log
from typing import Any

import numpy as np
import pytest

from castell import Attribute, Schema, Study, plan
from castell.planning import solution
from castell.planning.close_simulation import FEWEST, Collections, mean_with_control
from castell.planning.design_comparison import Task
from castell.planning.population import People, Uniform
from castell.planning.simulation import collections, simulate
from castell.planning.solution_check import MOST_ALLOWED, PREDICTION_ERROR, SolutionCheck
from castell.planning.targets import TableTarget, targets_of

YES = Schema([Attribute("cheats", ["no", "yes"]), Attribute("sex", ["Female", "Male"])])
STUDY = Study(YES, 2.0)
RARE = {"where": {"cheats": "yes", "sex": "Male"}}


def rare_people() -> People:
    """Two of a hundred cheat: intervals of single collections scatter."""
    cheats = np.arange(1000) % 50 == 0
    return People(YES, {"cheats": cheats.astype(np.intp), "sex": np.arange(1000) // 500})


def check(half_width: float, standard_error: float) -> SolutionCheck:
    return SolutionCheck("pairs", 1000, 2.0, 8, half_width, standard_error, 0.04)


def test_prediction_and_simulation_are_weighted_by_their_precision() -> None:
    assert check(0.05, 0.0).times == pytest.approx(1.25)
    assert check(0.05, PREDICTION_ERROR * 0.05).times == pytest.approx(1.25**0.5)
    assert check(0.05, 5.0).times == pytest.approx(1.0, abs=1e-3)


def test_what_is_not_known_is_allowed_for_but_nine_tenths_still_do_not_do() -> None:
    """Of two errors that are alike, a tenth each, a tenth over root two is left; a half-width with
    nine tenths of the people is longer by the root of 1 / .9."""
    known = check(0.05, 0.0)
    assert known.cautious == known.times
    vague = check(0.05, PREDICTION_ERROR * 0.05)
    assert vague.cautious / vague.times == pytest.approx(exp(MOST_ALLOWED))
    assert exp(MOST_ALLOWED) ** 2 == pytest.approx((1 / 0.9) ** 0.5)
    fair = check(0.05, 0.0005)
    left = (1 / (1 / 0.01**2 + 1 / PREDICTION_ERROR**2)) ** 0.5
    assert log(fair.cautious / fair.times) == pytest.approx(left)


def test_unbiased_intervals_tell_what_a_few_fits_do_not() -> None:
    """Lengths that scatter by a half, and a model's that are a tenth shorter, but for some per
    cent: of eight fits the plain mean is off by a fifth."""
    generator = np.random.default_rng(0)
    many, sd = 240, 0.5
    scores, plain = [], []
    for _ in range(400):
        unbiased = np.exp(generator.normal(-(sd**2) / 2, sd, many))
        told = 0.9 * unbiased[:FEWEST] * (1.0 + generator.normal(0.0, 0.03, FEWEST))
        mean, error = mean_with_control(told, unbiased)
        scores.append(((mean - 0.9) / 0.9, error))
        plain.append(told.mean() / 0.9 - 1.0)
    off, errors = np.array(scores).T
    assert np.mean(off**2) < 0.1 * np.mean(np.square(plain))
    assert abs(off.mean()) < 5 * off.std() / 20
    # What it says of itself is true, on average over collections.
    assert np.mean(errors**2) == pytest.approx(np.mean(off**2), rel=0.5)


def test_without_unbiased_intervals_it_is_the_plain_mean() -> None:
    told = np.array([1.0, 2.0, 3.0, 4.0])
    for unbiased in (np.full(9, np.inf), np.ones(9)):
        mean, error = mean_with_control(told, unbiased)
        assert mean == 2.5
        assert error == pytest.approx(np.std(told, ddof=1) / 2)
    assert mean_with_control(np.array([np.inf] * 4), np.ones(9)) == (np.inf, 0.0)


def test_one_collection_after_the_other_is_corrected_alike() -> None:
    """The first collections are the same with a fit and without."""
    study, people = Study(YES, 2.0, "joint"), rare_people()
    (target,) = targets_of(YES, None, RARE["where"], None, None)
    found = Collections(study, people, 400, {"rare": [target]}, "auto").simulate(16, 0.0, 3)
    told = simulate(study, people, 400, (target,), 480, "castell", 3, widths=())[target.label]
    assert found.collections == 16
    assert found.half_width == pytest.approx(told, rel=0.06)


def test_collections_end_where_half_widths_are_known() -> None:
    (target,) = targets_of(YES, ["cheats"], None, None, None)
    told: list[float] = []
    drawn = Collections(STUDY, Uniform(YES), 5000, {"cheats": [target]}, "auto")
    found = drawn.simulate(40, 0.05, 0, told.append)
    assert found.collections == FEWEST
    assert told == [k / 40 for k in range(1, FEWEST + 1)]
    assert found.standard_error < 0.05 * found.half_width


def test_what_gives_no_interval_has_none() -> None:
    apart = Study(YES, 2.0, "singles")
    drawn = Collections(apart, Uniform(YES), 1, {"both": [TableTarget(("cheats", "sex"))]}, "auto")
    assert drawn.simulate(FEWEST, 0.01, 0).half_width == float("inf")


def off_by(monkeypatch: pytest.MonkeyPatch, times: float) -> None:
    """Let collections have intervals so many times longer than they have."""

    def longer(*given: Any) -> Any:
        for told in collections(*given):
            yield {label: times * width for label, width in told.items()}

    monkeypatch.setattr("castell.planning.close_simulation.collections", longer)


@pytest.mark.parametrize("times", [0.8, 1.3])
def test_a_wrong_prediction_is_corrected(monkeypatch: pytest.MonkeyPatch, times: float) -> None:
    plain = plan(STUDY, error=0.05, epsilon=2.0, simulate=0)
    assert plain.check is None
    off_by(monkeypatch, times)
    found = plan(STUDY, error=0.05, epsilon=2.0)
    assert found.check is not None
    assert found.n == pytest.approx(plain.n * times**2, rel=0.04)
    assert found.error == pytest.approx(0.05, rel=0.02)
    assert found.error <= 0.05
    # It moved far, so it was simulated anew where it moved to.
    assert found.check.n == pytest.approx(found.n, rel=solution.NEAR)
    least = plan(STUDY, 3000, error=0.05)
    assert least.epsilon > plan(STUDY, 3000, error=0.05, simulate=0).epsilon * (times > 1)
    assert least.error <= 0.05


def test_the_trade_off_and_the_picture_go_through_what_was_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    off_by(monkeypatch, 1.3)
    found = plan(STUDY, error=0.05)
    assert found.tradeoff is not None
    assert (2.0, found.n) in found.tradeoff.points
    people = [n for _, n in found.tradeoff.points if n]
    assert people == sorted(people, reverse=True)
    (own,) = [p for p in found.points if (p["n"], p["epsilon"]) == (found.n, found.epsilon)]
    assert own["half_width"] == pytest.approx(found.error)


def test_it_is_said() -> None:
    found = plan(STUDY, error=0.05, epsilon=2.0)
    assert found.check is not None
    assert f"Checked: {found.check.collections} simulated collections of" in found.summary()
    assert "no collections were simulated" not in found.summary()
    assert found.to_dict()["check"]["half_width"] == found.check.half_width
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.check.n = 1  # type: ignore[misc]


def test_what_cannot_be_simulated_in_seconds_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred million people are not drawn; a wide study is, if it is asked for."""
    many = plan(STUDY, error=0.0003, epsilon=2.0)
    assert many.check is None
    assert "This is as predicted; no collections were simulated." in many.summary()
    monkeypatch.setattr(solution, "MOST_TABLES", 0)
    assert plan(STUDY, error=0.05, epsilon=2.0).check is None
    asked = plan(STUDY, error=0.05, epsilon=2.0, simulate=2)
    assert asked.check is not None
    assert asked.check.collections == FEWEST


def test_progress_only_grows() -> None:
    told: list[float] = []
    plan(STUDY, error=0.05, epsilon=2.0, simulate=2, progress=told.append)
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)


def test_a_task_names_what_it_compares() -> None:
    task = Task(STUDY, Uniform(YES), (), "castell", 0.0, 1.0)
    (several,) = task.questions.values()
    assert [target.names for target in several] == [("cheats", "sex")]
    assert task.epsilon_for(0.05, 3000, 1.2) > task.epsilon_for(0.05, 3000) > Decimal(0)
